"""timeline: a service may ask for new statistics of tables that have grown fast"""

from alembic import op

from shared.database.schema import function, grants

revision = "0061_analyze_grown"
down_revision = "0060_commit_with_less"
branch_labels = None
depends_on = None

ANALYZE = "timeline.analyze_grown()"


def upgrade() -> None:
    op.execute(function("timeline.analyze_grown_v1"))
    op.execute(f"revoke all on function {ANALYZE} from public")
    for statement in grants("context", f"grant execute on function {ANALYZE} to {{role}}"):
        op.execute(statement)


def downgrade() -> None:
    op.execute(f"drop function {ANALYZE}")

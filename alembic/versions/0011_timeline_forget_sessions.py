"""timeline: purges forget sessions of assemblies, and what waits for a purge knows that it came late"""

from alembic import op

from shared.database.schema import function

revision = "0011_forget_sessions"
down_revision = "0010_isolate_tenants"
branch_labels = None
depends_on = None

FUNCTIONS = ("timeline.was_erased", "timeline.forget_sessions")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for name in FUNCTIONS:
        op.execute(function(f"{name}_v2"))


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for name in FUNCTIONS:
        op.execute(function(f"{name}_v1"))

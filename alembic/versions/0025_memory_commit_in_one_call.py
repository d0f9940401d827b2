"""memory: functions that find what commits repeat, and that write memories and their words"""

from alembic import op

from shared.database.schema import function, grants

revision = "0025_commit_in_one_call"
down_revision = "0024_files"
branch_labels = None
depends_on = None

# They take the tenant as an argument. Under the policies, each of their statements would check the tenant again.
FUNCTIONS = ("put_chunks", "put_memories", "find_repeats", "commit_new")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for name in FUNCTIONS:
        op.execute(function(f"memory.{name}_v1"))
        op.execute(f"revoke execute on function memory.{name} from public")
        for statement in grants("agent_memory", f"grant execute on function memory.{name} to {{role}}"):
            op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for name in reversed(FUNCTIONS):
        op.execute(f"drop function memory.{name}")

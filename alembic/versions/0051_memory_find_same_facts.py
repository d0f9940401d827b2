"""memory: what a commit may repeat is found by what it states, not among all vectors of its agent"""

from alembic import op

from shared.database.schema import function, grants

revision = "0051_same_facts"
down_revision = "0050_commits_by_keys"
branch_labels = None
depends_on = None

# As in 0025. The release before goes on calling those that they replace.
FUNCTIONS = ("find_same_facts", "commit_new_facts")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("alter table memory.agent_memory add column if not exists stated_hash bigint")
    with op.get_context().autocommit_block():
        op.execute("drop index concurrently if exists memory.agent_memory_stated")
        op.execute(
            "create index concurrently if not exists agent_memory_stated on memory.agent_memory"
            " (tenant, agent_name, stated_hash) where chunks = 1"
        )
    op.execute(function("memory.put_memories_v2"))
    for name in FUNCTIONS:
        op.execute(function(f"memory.{name}_v1"))
        op.execute(f"revoke execute on function memory.{name} from public")
        for statement in grants("agent_memory", f"grant execute on function memory.{name} to {{role}}"):
            op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for name in reversed(FUNCTIONS):
        op.execute(f"drop function memory.{name}")
    op.execute(function("memory.put_memories_v1"))
    # squawk-ignore ban-drop-column
    op.execute("alter table memory.agent_memory drop column stated_hash")

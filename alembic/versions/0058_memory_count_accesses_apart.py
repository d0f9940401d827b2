"""memory: how often memories were read is counted in a table of its own"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0058_accesses_apart"
down_revision = "0057_bound_words"
branch_labels = None
depends_on = None

CREATE = """
create table if not exists memory.accesses (
    tenant text not null,
    memory_id bigint not null,
    agent_name text not null,
    access_count bigint not null,
    constraint accesses_pkey primary key (tenant, memory_id),
    constraint accesses_tenant_memory_id_fkey foreign key (tenant, memory_id)
        references memory.agent_memory (tenant, id) on delete cascade
);
create index if not exists accesses_most on memory.accesses (tenant, agent_name, access_count);
"""
# What was counted before, or is imported, stays in the memory's row. Those that nobody has read are not indexed.
BEFORE = (
    "create index concurrently if not exists agent_memory_accessed_before on memory.agent_memory"
    " (tenant, agent_name, access_count) where access_count > 0"
)
ALL = (
    "create index concurrently if not exists agent_memory_accessed on memory.agent_memory"
    " (tenant, agent_name, access_count)"
)


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(CREATE):
        op.execute(statement)
    op.execute(isolate("memory.accesses"))
    op.execute(CLOSE_IF_NEW)
    for statement in grants(
        "agent_memory", "grant select, insert, update, delete on memory.accesses to {role}"
    ):
        op.execute(statement)
    _replace_index("agent_memory_accessed_before", BEFORE, "agent_memory_accessed")


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    _replace_index("agent_memory_accessed", ALL, "agent_memory_accessed_before")
    op.execute(
        "update memory.agent_memory m set access_count = a.access_count from memory.accesses a"
        " where m.tenant = a.tenant and m.id = a.memory_id"
    )
    op.execute("drop table memory.accesses")


def _replace_index(name: str, create: str, by: str) -> None:
    with op.get_context().autocommit_block():
        # One that a killed run left is invalid.
        op.execute(f"drop index concurrently if exists memory.{name}")
        op.execute(create)
        op.execute(f"drop index concurrently if exists memory.{by}")

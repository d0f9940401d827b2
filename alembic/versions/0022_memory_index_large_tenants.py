"""memory: the HNSW index holds the vectors of large tenants only"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0022_large_tenants"
down_revision = "0021_stamp_chunks"
branch_labels = None
depends_on = None

TABLES = """
alter table memory.agent_memory_vec add column if not exists large boolean not null default false;
create table if not exists memory.large_tenants (
    tenant text not null,
    since timestamptz default clock_timestamp() not null,
    complete boolean default false not null,
    constraint large_tenants_pkey primary key (tenant)
);
"""
ON = "on memory.agent_memory_vec using hnsw (embedding halfvec_cosine_ops)"


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    op.execute(isolate("memory.large_tenants"))
    op.execute(CLOSE_IF_NEW)
    for statement in grants(
        "agent_memory", "grant select, insert, update, delete on memory.large_tenants to {role}"
    ):
        op.execute(statement)
    # No row is large yet. Until the service has indexed a large tenant, it searches that tenant exactly.
    with op.get_context().autocommit_block():
        _replace("memory.agent_memory_vec_large", f"{ON} where large")
        op.execute("drop index concurrently if exists memory.agent_memory_vec_nearest")


def downgrade() -> None:
    with op.get_context().autocommit_block():
        _replace("memory.agent_memory_vec_nearest", ON)
        op.execute("drop index concurrently if exists memory.agent_memory_vec_large")
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop table memory.large_tenants")
    op.execute("alter table memory.agent_memory_vec drop column large")


def _replace(name: str, definition: str) -> None:
    # An interrupted run leaves an invalid index behind.
    op.execute(f"drop index concurrently if exists {name}")
    op.execute(f"create index concurrently if not exists {name.split('.')[1]} {definition}")

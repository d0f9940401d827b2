"""all: row-level security by tenant, views for text search, and writes that run with the owner's rights"""

from alembic import op

from shared.database.schema import grants
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0010_isolate_tenants"
down_revision = "0009_source_claim"
branch_labels = None
depends_on = None

TABLES = (
    "timeline.events",
    "timeline.costs",
    "timeline.audit",
    "cache.embedding_cache",
    "cache.idempotency",
    "cache.missions",
    "cache.psychic_cache",
    "cache.psychic_chunks",
    "cache.psychic_vec",
    "cache.index_queue",
    "cache.agent_dispatch",
    "memory.embedding_cache",
    "memory.idempotency",
    "memory.agent_memory",
    "memory.agent_memory_chunks",
    "memory.agent_memory_vec",
    "memory.confirmations",
    "memory.index_queue",
    "context.embedding_cache",
    "context.idempotency",
    "context.tenant_purges",
    "context.secret_policies",
    "context.api_keys",
    "context.api_key_usage",
    "context.caller_budget_config",
    "context.context_assembly_log",
    "context.source_weights",
    "context.source_weight_history",
)
# `@@` is not leakproof, so under a policy it could not use the GIN index. A view's owner is exempt from the policy, and
# the view's own predicate takes its place.
VIEWS = {
    "cache": "create view cache.searchable_chunks as select * from cache.psychic_chunks"
    " where tenant = current_setting('scrubjay.tenant', true)",
    "agent_memory": "create view memory.searchable_chunks as select * from memory.agent_memory_chunks"
    " where tenant = current_setting('scrubjay.tenant', true)",
}
SCHEMAS = {"cache": "cache", "agent_memory": "memory"}
# The grants of the first migrations reached the partitions of that day, which have no policy of their own.
PARTITIONS = """
do $partitions$ declare found record; begin
    for found in select oid::regclass::text as name from pg_class
        where relispartition and relkind = 'r' and relnamespace::regnamespace::text in ('timeline', 'context')
    loop
        execute format('revoke all on %s from {role}', found.name);
    end loop;
end $partitions$"""
# It takes the tenant as an argument. Under the policies, each of its statements would check the tenant again.
PUT = "cache.put_entries(text, text, jsonb, int[], text, text, int, int, float8)"


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for service, view in VIEWS.items():
        op.execute(view)
        for statement in grants(service, f"grant select on {SCHEMAS[service]}.searchable_chunks to {{role}}"):
            op.execute(statement)
    op.execute(f"revoke execute on function {PUT} from public")
    for statement in grants("cache", f"grant execute on function {PUT} to {{role}}"):
        op.execute(statement)
    op.execute(f"alter function {PUT} security definer")
    for service in ("cache", "agent_memory", "context"):
        for statement in grants(service, PARTITIONS):
            op.execute(statement)
    # A transaction that held the locks of several tables could deadlock with those of the services.
    with op.get_context().autocommit_block():
        op.execute("set lock_timeout = '2s'")
        op.execute("set statement_timeout = '10s'")
        for table in TABLES:
            op.execute(isolate(table))
        op.execute(CLOSE_IF_NEW)
        op.execute("reset statement_timeout")
        op.execute("reset lock_timeout")


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for table in TABLES:
        op.execute(f"alter table {table} disable row level security")
        op.execute(f"drop policy of_tenant on {table}")
    op.execute(f"alter function {PUT} security invoker")
    op.execute(f"grant execute on function {PUT} to public")
    for schema in SCHEMAS.values():
        op.execute(f"drop view {schema}.searchable_chunks")

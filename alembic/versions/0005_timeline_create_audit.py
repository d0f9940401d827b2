"""timeline: the audit of what admins do, and what makes purges complete"""

from alembic import op

from shared.database.schema import function, grants, statements

revision = "0005_audit"
down_revision = "0004_context"
branch_labels = None
depends_on = None

TABLES = """
create table timeline.audit (
    tenant text not null,
    id bigint generated always as identity,
    actor text not null,
    agent_name text,
    request_id text,
    action text not null,
    target text not null,
    subjects text[] default '{}' not null,
    before jsonb,
    after jsonb,
    at timestamptz default clock_timestamp() not null,
    constraint audit_pkey primary key (tenant, id)
);

create table timeline.erased (
    digest bytea not null,
    at timestamptz default clock_timestamp() not null,
    constraint erased_pkey primary key (digest)
);

create table context.tenant_purges (
    tenant text not null,
    actor text not null,
    request_id text,
    erased jsonb default '{}' not null,
    begun_at timestamptz default clock_timestamp() not null,
    worked_at timestamptz default clock_timestamp() not null,
    constraint tenant_purges_pkey primary key (tenant)
);

alter table cache.idempotency add column subjects text[] default '{}' not null;
alter table memory.idempotency add column subjects text[] default '{}' not null;
alter table context.idempotency add column subjects text[] default '{}' not null;
"""

FUNCTIONS = (
    "timeline.record_audit_v1",
    "timeline.forget_audit_v1",
    "timeline.forget_sessions_v1",
    "timeline.mark_erased_v1",
    "timeline.was_erased_v1",
    "timeline.erase_rows_v1",
    "cache.erase_tenant_v1",
    "memory.erase_tenant_v1",
    "context.erase_tenant_v1",
)
_RECORD = "timeline.record_audit(text, text, text, text, text, text, text[], jsonb, jsonb)"
_OF_ALL = (_RECORD, "timeline.forget_sessions(text, text[])", "timeline.was_erased(text, text[], float8)")
_OF_ONE = {
    "cache": ("cache.erase_tenant(text, int)",),
    "agent_memory": ("memory.erase_tenant(text, int)",),
    "context": (
        "context.erase_tenant(text, int)",
        "timeline.forget_audit(text, text)",
        "timeline.mark_erased(text, text[])",
    ),
}
_OF_OWNER = "timeline.erase_rows(text, text, int, text[])"


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("set local statement_timeout = '60s'")
    for statement in statements(TABLES):
        op.execute(statement)
    for name in FUNCTIONS:
        op.execute(function(name))
    for signature in (*_OF_ALL, *(name for names in _OF_ONE.values() for name in names), _OF_OWNER):
        op.execute(f"revoke all on function {signature} from public")
    for service, own in _OF_ONE.items():
        for statement in grants(
            service, *(f"grant execute on function {name} to {{role}}" for name in (*_OF_ALL, *own))
        ):
            op.execute(statement)
    for statement in grants(
        "context",
        "grant select on timeline.audit to {role}",
        "grant select, insert, update, delete on context.tenant_purges to {role}",
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for schema in ("cache", "memory", "context"):
        op.execute(f"drop function {schema}.erase_tenant(text, int)")
        op.execute(f"alter table {schema}.idempotency drop column subjects")
    for signature in (*_OF_ALL, *_OF_ONE["context"][1:], _OF_OWNER):
        op.execute(f"drop function {signature}")
    op.execute("drop table context.tenant_purges, timeline.audit, timeline.erased")

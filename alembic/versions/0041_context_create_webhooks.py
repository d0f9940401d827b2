"""context: webhooks, what waits to be sent, and what became of it"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0041_webhooks"
down_revision = "0040_synthesis"
branch_labels = None
depends_on = None

TABLES = """
create table context.webhooks (
    tenant text not null,
    id bigint generated always as identity,
    url text not null,
    description text,
    kinds text[],
    missions text[],
    agents text[],
    held_by text not null,
    agent_bound text,
    mission_bound text[],
    user_bound text[],
    secret bytea not null,
    old_secret bytea,
    old_secret_until timestamptz,
    status text default 'active' not null,
    paused_because text,
    position bigint not null,
    failing_since timestamptz,
    created_at timestamptz default clock_timestamp() not null,
    constraint webhooks_pkey primary key (tenant, id),
    constraint webhooks_status check (status in ('active', 'paused'))
);

create table context.webhook_lanes (
    tenant text not null,
    webhook_id bigint not null,
    scope text not null,
    due_at timestamptz default clock_timestamp() not null,
    lease uuid,
    constraint webhook_lanes_pkey primary key (tenant, webhook_id, scope),
    constraint webhook_lanes_tenant_webhook_id_fkey foreign key(tenant, webhook_id) references context.webhooks (tenant, id) on delete cascade
);
create index webhook_lanes_due on context.webhook_lanes (tenant, webhook_id, due_at);

create table context.webhook_deliveries (
    tenant text not null,
    webhook_id bigint not null,
    seq bigint not null,
    scope text not null,
    kind text not null,
    event_at timestamptz not null,
    status text default 'waiting' not null,
    attempts integer default 0 not null,
    http_status smallint,
    error text,
    attempted_at timestamptz,
    settled_at timestamptz,
    constraint webhook_deliveries_pkey primary key (tenant, webhook_id, seq),
    constraint webhook_deliveries_tenant_webhook_id_fkey foreign key(tenant, webhook_id) references context.webhooks (tenant, id) on delete cascade,
    constraint webhook_deliveries_status check (status in ('waiting', 'delivered', 'dead', 'erased'))
);
create index webhook_deliveries_waiting on context.webhook_deliveries (tenant, webhook_id, scope, seq) where status = 'waiting';
create index webhook_deliveries_status on context.webhook_deliveries (tenant, webhook_id, status, seq);
create index webhook_deliveries_settled_at on context.webhook_deliveries (settled_at) where settled_at is not null;
create index webhook_deliveries_scope on context.webhook_deliveries (tenant, scope);
alter table context.webhook_lanes set (autovacuum_vacuum_scale_factor = 0.02);
"""
NAMES = ("webhooks", "webhook_lanes", "webhook_deliveries")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    for name in NAMES:
        op.execute(isolate(f"context.{name}"))
    op.execute(CLOSE_IF_NEW)
    for statement in grants(
        "context",
        *(f"grant select, insert, update, delete on context.{name} to {{role}}" for name in NAMES),
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for name in reversed(NAMES):
        op.execute(f"drop table context.{name}")

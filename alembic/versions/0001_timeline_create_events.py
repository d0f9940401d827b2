"""timeline: events, costs, the sequencer, and partitions by week"""

from alembic import op

from shared.database.schema import function, grants, statements

revision = "0001_timeline"
down_revision = None
branch_labels = None
depends_on = None

TABLES = """
create extension if not exists vector;
create schema timeline;

create sequence timeline.events_id_seq;
create table timeline.events (
    id bigint not null default nextval('timeline.events_id_seq'),
    seq bigint,
    tenant text not null,
    scope text not null,
    kind text not null,
    mission_id text,
    agent_name text,
    session_id text,
    dispatch_id bigint,
    payload jsonb not null default '{}',
    created_at timestamptz not null default clock_timestamp(),
    constraint events_pkey primary key (id, created_at)
) partition by range (created_at);
alter sequence timeline.events_id_seq owned by timeline.events.id;
create index events_unnumbered on timeline.events (id) where seq is null;
create index events_tenant_seq on timeline.events (tenant, seq);
create index events_tenant_scope on timeline.events (tenant, scope);
create table timeline.events_default partition of timeline.events default;

create sequence timeline.costs_id_seq;
create table timeline.costs (
    id bigint not null default nextval('timeline.costs_id_seq'),
    tenant text not null,
    scope text not null,
    service text not null,
    kind text not null,
    model text not null,
    agent_name text,
    mission_id text,
    session_id text,
    input_tokens bigint not null default 0,
    output_tokens bigint not null default 0,
    cache_read_tokens bigint not null default 0,
    cache_write_tokens bigint not null default 0,
    cost_usd real not null default 0,
    created_at timestamptz not null default clock_timestamp(),
    constraint costs_pkey primary key (id, created_at)
) partition by range (created_at);
alter sequence timeline.costs_id_seq owned by timeline.costs.id;
create index costs_tenant_created_at on timeline.costs (tenant, created_at);
create table timeline.costs_default partition of timeline.costs default;

create table timeline.sequencer (
    id smallint not null default 1 constraint sequencer_one_row check (id = 1),
    last bigint not null default 0,
    constraint sequencer_pkey primary key (id)
);
insert into timeline.sequencer default values;
"""

FUNCTIONS = (
    "timeline.number_events_v1",
    "timeline.maintain_partitions_v1",
)


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    for name in FUNCTIONS:
        op.execute(function(name))
    op.execute("revoke all on function timeline.maintain_partitions(text, interval) from public")
    op.execute("select timeline.maintain_partitions('timeline.events', '90 days')")
    op.execute("select timeline.maintain_partitions('timeline.costs', '400 days')")
    for service in ("cache", "agent_memory", "context"):
        for statement in grants(
            service,
            "grant select on public.alembic_version to {role}",
            "grant usage on schema timeline to {role}",
            "grant insert on timeline.events, timeline.costs to {role}",
            "grant usage on all sequences in schema timeline to {role}",
        ):
            op.execute(statement)
    for statement in grants(
        "context",
        "grant select, update, delete on timeline.events to {role}",
        "grant select, delete on timeline.costs to {role}",
        "grant select, update on timeline.sequencer to {role}",
        "grant execute on function timeline.maintain_partitions(text, interval) to {role}",
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop schema timeline cascade")

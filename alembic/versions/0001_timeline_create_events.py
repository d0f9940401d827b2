"""timeline: events, costs, the sequencer, and partitions by week"""

from alembic import op

from shared.database.schema import grants, statements

revision = "0001"
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

# Commit order is not id order: a row is numbered after its commit, by one transaction at a time, so whoever
# reads by number skips nothing. The counter is a row, so it survives dump and restore.
NUMBER_EVENTS = """
create function timeline.number_events(p_limit int) returns int
language plpgsql set search_path = pg_catalog, timeline as $$
declare
    v_last bigint;
    v_count int;
begin
    select last into v_last from timeline.sequencer for update skip locked;
    if not found then
        return 0;
    end if;
    with batch as (
        select id, created_at, row_number() over (order by id) as place
        from (select id, created_at from timeline.events where seq is null order by id limit p_limit) unnumbered
    )
    update timeline.events e set seq = v_last + batch.place
    from batch where e.id = batch.id and e.created_at = batch.created_at;
    get diagnostics v_count = row_count;
    if v_count > 0 then
        update timeline.sequencer set last = v_last + v_count;
    end if;
    return v_count;
end $$;
"""

# DDL at run time belongs to the owner: services may only ask for it, for these tables.
MAINTAIN = (
    """
create function timeline.maintain_partitions(p_parent text, p_keep interval) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
    v_schema text := split_part(p_parent, '.', 1);
    v_table text := split_part(p_parent, '.', 2);
    v_week date;
    v_name text;
    v_dropped int := 0;
begin
    if p_parent not in ('timeline.events', 'timeline.costs', 'context.context_assembly_log') then
        raise exception 'not a partitioned table of ours: %', p_parent using errcode = '22023';
    end if;
    if p_keep < interval '1 day' then
        raise exception 'retention below one day: %', p_keep using errcode = '22023';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('maintain ' || p_parent, 0));
    for v_week in
        select (date_trunc('week', now() at time zone 'utc') + n * interval '1 week')::date
        from generate_series(0, 3) n
    loop
        v_name := v_table || '_p' || to_char(v_week, 'YYYYMMDD');
        if to_regclass(format('%I.%I', v_schema, v_name)) is null then
            begin
                execute format('create table %I.%I partition of %I.%I for values from (%L) to (%L)',
                    v_schema, v_name, v_schema, v_table,
                    v_week::timestamp at time zone 'utc', (v_week + 7)::timestamp at time zone 'utc');
            exception when check_violation then
                null;  -- rows of that week stand in the default partition already: they stay there
            end;
        end if;
    end loop;
    for v_name in
        select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = format('%I.%I', v_schema, v_table)::regclass
          and c.relname ~ '_p[0-9]{8}$'
          and (to_date(right(c.relname, 8), 'YYYYMMDD') + 7)::timestamp at time zone 'utc' < now() - p_keep
    loop
        execute format('drop table %I.%I', v_schema, v_name);
        v_dropped := v_dropped + 1;
    end loop;
    execute format('delete from %I.%I where created_at < now() - %L::interval', v_schema, v_table || '_default', p_keep);
    return v_dropped;
end $$
""",
    "revoke all on function timeline.maintain_partitions(text, interval) from public",
)


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    op.execute(NUMBER_EVENTS)
    for statement in MAINTAIN:
        op.execute(statement)
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

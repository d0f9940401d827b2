"""timeline: a counter for each tenant"""

from alembic import op
from sqlalchemy import text

from shared.database.schema import function, grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0020_number_by_tenant"
down_revision = "0019_mission_languages"
branch_labels = None
depends_on = None

TABLES = """
create table if not exists timeline.counters (
    tenant text not null,
    last bigint not null,
    constraint counters_pkey primary key (tenant)
);
create table if not exists timeline.counter_start (
    id boolean not null default true constraint counter_start_one_row check (id),
    last bigint not null default 0,
    constraint counter_start_pkey primary key (id)
);
"""
# A call of the old function that has begun finds a view that cannot be locked, and numbers nothing. The release before
# reads from the view that a number changed.
REPLACE_SEQUENCER = """
do $replace$ begin
    if (select relkind from pg_class where oid = 'timeline.sequencer'::regclass) = 'v' then
        return;
    end if;
    lock table timeline.sequencer in access exclusive mode;
    insert into timeline.counter_start (last) select last from timeline.sequencer;
    drop table timeline.sequencer;
    create view timeline.sequencer as select coalesce(sum(last), 0)::bigint as last from timeline.counters;
end $replace$"""
RESTORE_SEQUENCER = """
do $restore$ begin
    lock table timeline.counters in access exclusive mode;
    drop view timeline.sequencer;
    create table timeline.sequencer (
        id smallint not null default 1 constraint sequencer_one_row check (id = 1),
        last bigint not null default 0,
        constraint sequencer_pkey primary key (id)
    );
    insert into timeline.sequencer (last) select greatest(
        (select last from timeline.counter_start), (select max(last) from timeline.counters));
end $restore$"""
# Whoever waits for an exclusive lock makes others wait. It gives up soon, and tries again.
PATIENTLY = """
do $patiently$ begin
    for attempt in 1..100 loop
        begin
            set local lock_timeout = '300ms';
            {statement};
            return;
        exception when lock_not_available then
            perform pg_sleep(0.2);
        end;
    end loop;
    raise exception 'the events are locked' using errcode = 'lock_not_available';
end $patiently$"""
# The index of the parent alone has no rows to read. It is valid once each partition has one.
INDEX = "create index if not exists events_waiting on only timeline.events (tenant, id) where seq is null"
# A partitioned index cannot be dropped concurrently.
DROP_OLD_INDEX = "drop index if exists timeline.events_unnumbered"
WITHOUT_INDEX = """
select i.inhrelid::regclass::text as name from pg_inherits i
where i.inhparent = 'timeline.events'::regclass and not exists (
    select from pg_index x join pg_inherits a on a.inhrelid = x.indexrelid
    where x.indrelid = i.inhrelid and a.inhparent = 'timeline.events_waiting'::regclass)
"""


def upgrade() -> None:
    with op.get_context().autocommit_block():
        op.execute(PATIENTLY.format(statement=INDEX))
        for partition in _without_index():
            # An interrupted run leaves an invalid index behind.
            op.execute(f"drop index concurrently if exists {partition}_waiting")
            name = f"{partition.split('.')[1]}_waiting"
            op.execute(f"create index concurrently {name} on {partition} (tenant, id) where seq is null")
            op.execute(f"alter index timeline.events_waiting attach partition {partition}_waiting")
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    op.execute(isolate("timeline.counters"))
    op.execute(CLOSE_IF_NEW)
    for name in ("timeline.number_tenant_v1", "timeline.tenants_waiting_v1", "context.erase_tenant_v2"):
        op.execute(function(name))
    op.execute("revoke execute on function timeline.number_tenant(text, int) from public")
    op.execute(REPLACE_SEQUENCER)
    op.execute(function("timeline.number_events_v2"))
    for statement in grants(
        "context",
        "grant select on timeline.counters, timeline.sequencer to {role}",
        "grant execute on function timeline.number_tenant(text, int) to {role}",
    ):
        op.execute(statement)
    with op.get_context().autocommit_block():
        op.execute(PATIENTLY.format(statement=DROP_OLD_INDEX))


def _without_index() -> list[str]:
    """Partitions of the events. A script of SQL cannot name them."""
    if op.get_context().as_sql:
        return []
    return list(op.get_bind().execute(text(WITHOUT_INDEX)).scalars())


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(RESTORE_SEQUENCER)
    op.execute("create index events_unnumbered on timeline.events (id) where seq is null")
    op.execute(function("timeline.number_events_v1"))
    op.execute(function("context.erase_tenant_v1"))
    op.execute("drop function timeline.tenants_waiting()")
    op.execute("drop function timeline.number_tenant(text, int)")
    op.execute("drop index timeline.events_waiting")
    op.execute("drop table timeline.counters, timeline.counter_start")
    for statement in grants("context", "grant select, update on timeline.sequencer to {role}"):
        op.execute(statement)

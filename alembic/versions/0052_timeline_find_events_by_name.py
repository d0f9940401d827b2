"""timeline: events of a mission, agent, dispatch or session are found without reading the tenant's"""

from alembic import op
from sqlalchemy import text

from shared.database.schema import function

revision = "0052_events_by_name"
down_revision = "0051_same_facts"
branch_labels = None
depends_on = None

# By their names: a table, and what follows "create index name on table". An event gets its number after its commit;
# before that, it has no place in these.
INDEXES = {
    "timeline.events_of_mission": "(tenant, mission_id, seq) where mission_id is not null and seq is not null",
    "timeline.events_of_agent": "(tenant, agent_name, seq) where agent_name is not null and seq is not null",
    "timeline.events_of_dispatch": "(tenant, dispatch_id, seq) where dispatch_id is not null and seq is not null",
    "timeline.events_of_session": "(tenant, session_id) where session_id is not null and seq is not null",
    "context.context_assembly_log_session": "(tenant, session_id, created_at) where session_id is not null",
}
TABLES = {"timeline": "timeline.events", "context": "context.context_assembly_log"}
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
    raise exception 'the table is locked' using errcode = 'lock_not_available';
end $patiently$"""
WITHOUT_INDEX = """
select i.inhrelid::regclass::text as name from pg_inherits i
where i.inhparent = '{table}'::regclass and not exists (
    select from pg_index x join pg_inherits a on a.inhrelid = x.indexrelid
    where x.indrelid = i.inhrelid and a.inhparent = '{index}'::regclass)
"""


def upgrade() -> None:
    with op.get_context().autocommit_block():
        for index, columns in INDEXES.items():
            schema, name = index.split(".")
            table = TABLES[schema]
            # The index of the parent alone has no rows to read. It is valid once each partition has one.
            statement = f"create index if not exists {name} on only {table} {columns}"
            op.execute(PATIENTLY.format(statement=statement))
            for partition in _without(table, index):
                own = f"{partition.split('.')[1]}{name.removeprefix(table.split('.')[1])}"
                # An interrupted run leaves an invalid index behind.
                op.execute(f"drop index concurrently if exists {schema}.{own}")
                op.execute(f"create index concurrently if not exists {own} on {partition} {columns}")
                op.execute(f"alter index {index} attach partition {schema}.{own}")
    op.execute(function("timeline.forget_sessions_v3"))


def _without(table: str, index: str) -> list[str]:
    """Partitions of the table. A script of SQL cannot name them."""
    if op.get_context().as_sql:
        return []
    return list(op.get_bind().execute(text(WITHOUT_INDEX.format(table=table, index=index))).scalars())


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(function("timeline.forget_sessions_v2"))
    for index in INDEXES:
        op.execute(f"drop index {index}")

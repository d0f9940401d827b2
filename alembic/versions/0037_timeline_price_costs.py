"""timeline: what calls cost, who pays for them, and ceilings"""

from alembic import op
from sqlalchemy import text

from shared.database.schema import function, grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0037_price_costs"
down_revision = "0036_search_persistent"
branch_labels = None
depends_on = None

# The column was 0 in every row, and no code names it.
COLUMNS = """
-- squawk-ignore ban-drop-column
alter table timeline.costs drop column cost_usd, add column cost_usd numeric, add column estimated_usd numeric,
    add column outcome text not null default 'ok', add column key text
"""
TABLES = """
create table timeline.ceilings (
    tenant text not null,
    subject text not null,
    period text not null,
    limit_usd numeric not null,
    set_by text not null,
    updated_at timestamptz not null default clock_timestamp(),
    constraint ceilings_pkey primary key (tenant, subject, period)
);
create table timeline.spending (
    tenant text not null,
    subject text not null,
    day date not null,
    calls bigint not null,
    unpriced bigint not null,
    usd numeric not null,
    constraint spending_pkey primary key (tenant, subject, day)
);
"""
NAMES = ("ceilings", "spending")
# By their columns.
INDEXES = {
    "costs_of_agent": "agent_name",
    "costs_of_mission": "mission_id",
    "costs_of_session": "session_id",
}
FUNCTIONS = {
    "timeline.payers_v1": "timeline.payers(text, text, text)",
    "timeline.record_costs_v1": "timeline.record_costs(text, jsonb, double precision)",
    "timeline.ceilings_of_v1": "timeline.ceilings_of(text, text, text)",
}
WITHOUT_INDEX = """
select i.inhrelid::regclass::text as name from pg_inherits i
where i.inhparent = 'timeline.costs'::regclass and not exists (
    select from pg_index x join pg_inherits a on a.inhrelid = x.indexrelid
    where x.indrelid = i.inhrelid and a.inhparent = 'timeline.{index}'::regclass)
"""


def upgrade() -> None:
    with op.get_context().autocommit_block():
        op.execute("set lock_timeout = '2s'")
        for index, column in INDEXES.items():
            # The index of the parent alone has no rows to read. It is valid once each partition has one.
            op.execute(
                "-- squawk-ignore require-concurrent-index-creation\n"
                f"create index if not exists {index} on only timeline.costs (tenant, {column}, created_at)"
            )
            for partition in _without(index):
                _index(partition, index, column)
    op.execute("set local lock_timeout = '2s'")
    op.execute(COLUMNS)
    for statement in statements(TABLES):
        op.execute(statement)
    for name in NAMES:
        op.execute(isolate(f"timeline.{name}"))
    op.execute(CLOSE_IF_NEW)
    for version, signature in FUNCTIONS.items():
        op.execute(function(version))
        op.execute(f"revoke execute on function {signature} from public")
    for service in ("cache", "agent_memory", "context"):
        for signature in [*FUNCTIONS.values()][1:]:
            for statement in grants(service, f"grant execute on function {signature} to {{role}}"):
                op.execute(statement)
    for statement in grants(
        "context",
        "grant select, insert, update, delete on timeline.ceilings to {role}",
        "grant select, delete on timeline.spending to {role}",
    ):
        op.execute(statement)


def _index(partition: str, index: str, column: str) -> None:
    name = f"{partition.split('.')[1]}_{index.removeprefix('costs_')}"
    # An interrupted run leaves an invalid index behind.
    op.execute(f"drop index concurrently if exists timeline.{name}")
    op.execute(f"create index concurrently {name} on {partition} (tenant, {column}, created_at)")
    op.execute(f"alter index timeline.{index} attach partition timeline.{name}")


def _without(index: str) -> list[str]:
    """Partitions of the costs. A script of SQL cannot name them."""
    if op.get_context().as_sql:
        return []
    return list(op.get_bind().execute(text(WITHOUT_INDEX.format(index=index))).scalars())


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for signature in reversed(FUNCTIONS.values()):
        op.execute(f"drop function {signature}")
    for name in reversed(NAMES):
        op.execute(f"drop table timeline.{name}")
    op.execute(
        "alter table timeline.costs drop column key, drop column outcome, drop column estimated_usd,"
        " drop column cost_usd, add column cost_usd real not null default 0"
    )
    for index in INDEXES:
        op.execute(f"drop index timeline.{index}")

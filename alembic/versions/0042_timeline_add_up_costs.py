"""timeline: what calls cost, added up by day"""

from alembic import op

from shared.database.schema import function, grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0042_added_up"
down_revision = "0041_webhooks"
branch_labels = None
depends_on = None

TABLES = """
create table timeline.costs_by_day (
    tenant text not null,
    day date not null,
    digest bytea not null,
    scope text not null,
    service text not null,
    kind text not null,
    model text not null,
    agent_name text,
    mission_id text,
    session_id text,
    key text,
    calls bigint not null,
    input_tokens numeric not null,
    output_tokens numeric not null,
    cache_read_tokens numeric not null,
    cache_write_tokens numeric not null,
    cost_usd numeric not null,
    estimated_usd numeric not null,
    unpriced_calls bigint not null,
    unpriced_answers bigint not null,
    constraint costs_by_day_pkey primary key (tenant, day, digest)
);
create index costs_by_day_agent on timeline.costs_by_day (tenant, agent_name, day);
create index costs_by_day_mission on timeline.costs_by_day (tenant, mission_id, day);
create index costs_by_day_session on timeline.costs_by_day (tenant, session_id, day);
create index costs_by_day_day on timeline.costs_by_day (day)
"""
FUNCTIONS = ("record_costs", "forget_sessions", "maintain_partitions")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    op.execute(isolate("timeline.costs_by_day"))
    op.execute(CLOSE_IF_NEW)
    for name in FUNCTIONS:
        op.execute(function(f"timeline.{name}_v2"))
    for statement in grants("context", "grant select, delete on timeline.costs_by_day to {role}"):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for name in FUNCTIONS:
        op.execute(function(f"timeline.{name}_v1"))
    op.execute("drop table timeline.costs_by_day")

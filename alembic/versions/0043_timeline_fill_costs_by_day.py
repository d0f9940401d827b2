"""timeline: add up the calls so far"""

from alembic import op

revision = "0043_add_up_so_far"
down_revision = "0042_added_up"
branch_labels = None
depends_on = None

# Waits for calls that are being written, and they wait for it: those of before the last migration are in no sum.
ALONE = "select pg_advisory_xact_lock(7202615, 1)"
CLEAR = "delete from timeline.costs_by_day"
FILL = """
insert into timeline.costs_by_day
select tenant, (created_at at time zone 'utc')::date, sha256(convert_to(jsonb_build_array(scope, service, kind, model,
           agent_name, mission_id, session_id, key)::text, 'UTF8')),
       scope, service, kind, model, agent_name, mission_id, session_id, key, count(*), sum(input_tokens),
       sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens), coalesce(sum(cost_usd), 0),
       coalesce(sum(estimated_usd), 0), count(*) filter (where cost_usd is null),
       count(*) filter (where cost_usd is null and outcome = 'ok')
from timeline.costs group by 1, 2, 4, 5, 6, 7, 8, 9, 10, 11
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in (ALONE, CLEAR, FILL):
        op.execute(statement)


def downgrade() -> None:
    pass

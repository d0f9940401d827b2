"""cache: evicted entries are deleted by their primary key"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# An index of the mission leads to every row that was evicted since the last vacuum, before those that live.
BEFORE = "where e.tenant = p_tenant and e.mission_id = p_mission and e.id = any (v_victims);"
AFTER = "where e.tenant = p_tenant and e.id = any (v_victims);"

# One statement of a function of two hundred lines: the rest stays as it was made.
REPLACE = """
do $do$
declare
    v_definition text := pg_get_functiondef('cache.put_entries'::regproc);
begin
    if position('{old}' in v_definition) = 0 then
        raise exception 'cache.put_entries is not as an earlier migration left it';
    end if;
    execute replace(v_definition, '{old}', '{new}');
end $do$
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("set local statement_timeout = '60s'")
    op.execute(REPLACE.format(old=BEFORE, new=AFTER))


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(REPLACE.format(old=AFTER, new=BEFORE))

"""cache: the turn before an entry, whose last words its chunk holds, is of the same user"""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

BEFORE = "and c.seq < e.seq\n"
AFTER = "and c.seq < e.seq and c.user_id is not distinct from e.user_id\n"

# One statement of cache.put_entries: the rest stays as it was made.
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

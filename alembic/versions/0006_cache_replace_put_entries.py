"""cache: evicted entries are deleted by their primary key"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

BEFORE = """
        delete from cache.psychic_cache e
        where e.tenant = p_tenant and e.mission_id = p_mission and e.id = any (v_victims);
"""
# An index of the mission leads to every row that was evicted since the last vacuum, before those that live.
AFTER = """
        delete from cache.psychic_cache e where e.tenant = p_tenant and e.id = any (v_victims);
"""


def _replace(old: str, new: str) -> None:
    """One statement of a function of two hundred lines: the rest stays as it was made."""
    op.execute("set local lock_timeout = '2s'")
    definition = (
        op.get_bind().exec_driver_sql("select pg_get_functiondef('cache.put_entries'::regproc)").scalar_one()
    )
    if definition.count(old) != 1:
        raise RuntimeError("cache.put_entries is not as an earlier migration left it")
    op.get_bind().exec_driver_sql(definition.replace(old, new))


def upgrade() -> None:
    _replace(BEFORE, AFTER)


def downgrade() -> None:
    _replace(AFTER, BEFORE)

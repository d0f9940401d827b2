"""memory, cache: the paths, symbols and kind of step of an item"""

from alembic import op

from shared.database.schema import function

revision = "0017_paths_and_symbols"
down_revision = "0016_profiles"
branch_labels = None
depends_on = None

TABLES = ("cache.psychic_cache", "memory.agent_memory")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for table in TABLES:
        op.execute(
            f"alter table {table} add column paths text[] not null default '{{}}',"
            " add column symbols text[] not null default '{}', add column step text"
        )
    op.execute(function("cache.put_entries_v4"))


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(function("cache.put_entries_v3"))
    for table in TABLES:
        op.execute(f"alter table {table} drop column paths, drop column symbols, drop column step")

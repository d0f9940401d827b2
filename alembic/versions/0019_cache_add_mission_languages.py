"""cache: the language of a mission"""

from alembic import op

revision = "0019_mission_languages"
down_revision = "0018_languages"
branch_labels = None
depends_on = None

# Few missions have one. The index tells at once that none of a tenant's has.
INDEX = "missions_language on cache.missions (tenant, mission_id) where language is not null"


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("alter table cache.missions add column if not exists language text")
    with op.get_context().autocommit_block():
        op.execute("set lock_timeout = '2s'")
        op.execute("drop index concurrently if exists cache.missions_language")
        op.execute(f"create index concurrently if not exists {INDEX}")


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop index cache.missions_language")
    op.execute("alter table cache.missions drop column language")

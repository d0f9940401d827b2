"""timeline, cache: number events by their keys, and lock dispatches in a statement of its own"""

from alembic import op

from shared.database.schema import function

revision = "0023_by_key"
down_revision = "0022_large_tenants"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(function("timeline.number_tenant_v2"))
    op.execute(function("cache.tick_dispatches_v2"))


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(function("timeline.number_tenant_v1"))
    op.execute(function("cache.tick_dispatches_v1"))

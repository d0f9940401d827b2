"""cache: a budget that shrinks keeps the newest checkpoint of each agent"""

from alembic import op

from shared.database.schema import function

revision = "0007_checkpoints"
down_revision = "0006_separate_tenants"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(function("cache.shrink_mission_v2"))


def downgrade() -> None:
    op.execute(function("cache.shrink_mission_v1"))

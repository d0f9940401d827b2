"""cache: checkpoints are kept by agent, and the entries of a bound key tick only its own dispatches"""

from alembic import op

from shared.database.schema import function

revision = "0007_checkpoints"
down_revision = "0006_separate_tenants"
branch_labels = None
depends_on = None

FUNCTIONS = ("cache.put_entries", "cache.shrink_mission")


def upgrade() -> None:
    for name in FUNCTIONS:
        op.execute(function(f"{name}_v2"))


def downgrade() -> None:
    for name in FUNCTIONS:
        op.execute(function(f"{name}_v1"))

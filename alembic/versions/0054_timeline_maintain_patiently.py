"""timeline: maintaining partitions keeps no writer waiting behind whoever reads the table for long"""

from alembic import op

from shared.database.schema import function

revision = "0054_maintain_patiently"
down_revision = "0053_list_by_name"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(function("timeline.maintain_partitions_v3"))


def downgrade() -> None:
    op.execute(function("timeline.maintain_partitions_v2"))

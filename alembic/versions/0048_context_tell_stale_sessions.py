"""context: tell sessions that what they were given has changed"""

from alembic import op

from shared.database.schema import function

revision = "0048_stale_sessions"
down_revision = "0047_reviews"
branch_labels = None
depends_on = None

CHANGED_ITEMS = "timeline.changed_items(text, jsonb)"


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(
        "alter table context.session_given add column if not exists stale boolean default false not null"
    )
    with op.get_context().autocommit_block():
        op.execute("drop index concurrently if exists context.session_given_item")
        op.execute(
            "create index concurrently if not exists session_given_item on context.session_given"
            " (tenant, split_part(handle, '#', 1)) where not stale"
        )
    op.execute(function("timeline.changed_items_v1"))
    op.execute(f"revoke all on function {CHANGED_ITEMS} from public")
    op.execute(function("timeline.number_tenant_v3"))


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(function("timeline.number_tenant_v2"))
    op.execute(f"drop function {CHANGED_ITEMS}")
    # squawk-ignore ban-drop-column
    op.execute("alter table context.session_given drop column stale")

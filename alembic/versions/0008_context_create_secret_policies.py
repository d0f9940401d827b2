"""context: what becomes of secrets in what a tenant's callers send"""

from alembic import op

from shared.database.schema import grants, statements

revision = "0008_secret_policies"
down_revision = "0007_checkpoints"
branch_labels = None
depends_on = None

TABLES = """
create table context.secret_policies (
    tenant text not null,
    policy text not null,
    set_by text not null,
    updated_at timestamptz default clock_timestamp() not null,
    constraint secret_policies_pkey primary key (tenant),
    constraint secret_policies_policy_check check (policy in ('mask', 'refuse', 'allow'))
);
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    for statement in grants(
        "context", "grant select, insert, update, delete on context.secret_policies to {role}"
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop table context.secret_policies")

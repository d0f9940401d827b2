"""context: the language of each tenant"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0018_languages"
down_revision = "0017_paths_and_symbols"
branch_labels = None
depends_on = None

TABLES = """
create table context.languages (
    tenant text not null,
    language text not null,
    set_by text not null,
    updated_at timestamptz default clock_timestamp() not null,
    constraint languages_pkey primary key (tenant)
);
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    op.execute(isolate("context.languages"))
    op.execute(CLOSE_IF_NEW)
    for statement in grants("context", "grant select, insert, update, delete on context.languages to {role}"):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop table context.languages")

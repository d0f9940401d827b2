"""context: keys are rotated, limited, and counted"""

from alembic import op

from shared.database.schema import grants, statements

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

UP = """
alter table context.api_keys
    add column created_by text,
    add column old_token_hash bytea,
    add column old_expires_at timestamptz,
    add column requests_per_second double precision,
    add column burst integer,
    add column requests_per_day bigint,
    add column tokens_per_day bigint;

create table context.api_key_usage (
    tenant text not null,
    key_id bigint not null,
    day date not null,
    requests bigint not null,
    tokens bigint not null,
    last_used_at timestamptz default clock_timestamp() not null,
    constraint api_key_usage_pkey primary key (tenant, key_id, day)
);
"""
DOWN = """
drop table context.api_key_usage;
alter table context.api_keys
    drop column created_by,
    drop column old_token_hash,
    drop column old_expires_at,
    drop column requests_per_second,
    drop column burst,
    drop column requests_per_day,
    drop column tokens_per_day;
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("set local statement_timeout = '60s'")
    for statement in statements(UP):
        op.execute(statement)
    for statement in grants(
        "context", "grant select, insert, update, delete on context.api_key_usage to {role}"
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(DOWN):
        op.execute(statement)

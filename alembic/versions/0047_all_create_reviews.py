"""all: whose writes wait for a reviewer, what waits, and what reviewers decided"""

from alembic import op

from shared.database.schema import function, grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0047_reviews"
down_revision = "0046_session_given"
branch_labels = None
depends_on = None

RULES = """
create table timeline.review_rules (
    tenant text not null,
    scope text not null,
    set_by text not null,
    set_at timestamptz default clock_timestamp() not null,
    constraint review_rules_pkey primary key (tenant, scope)
);
"""
REVIEWS = """
create table {schema}.reviews (
    tenant text not null,
    id bigint generated always as identity,
    store text not null,
    state text not null,
    item_id bigint,
    marked bigint,
    scope text not null,
    mission_id text,
    agent_name text,
    user_id text,
    subjects text[] not null,
    rules text[] default '{{}}' not null,
    content text,
    body jsonb,
    writer jsonb,
    written_by text,
    source_kind text,
    source_claim text,
    decided_by text,
    decided_at timestamptz,
    created_at timestamptz default clock_timestamp() not null,
    constraint reviews_pkey primary key (tenant, id),
    constraint reviews_marked unique (tenant, store, marked),
    constraint reviews_state check (state in ('waiting', 'approved', 'merged', 'edited', 'forgotten'))
);
create index reviews_waiting on {schema}.reviews (tenant, id) where state = 'waiting';
create index reviews_item on {schema}.reviews (tenant, store, item_id);
"""
OWNERS = {"cache": "cache", "memory": "agent_memory"}
UNDER_REVIEW = "timeline.under_review(text, text[])"


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(RULES):
        op.execute(statement)
    op.execute(isolate("timeline.review_rules"))
    for schema, service in OWNERS.items():
        for statement in statements(REVIEWS.format(schema=schema)):
            op.execute(statement)
        op.execute(isolate(f"{schema}.reviews"))
        grant = f"grant select, insert, update, delete on {schema}.reviews to {{role}}"
        for statement in grants(service, grant):
            op.execute(statement)
    op.execute(CLOSE_IF_NEW)
    op.execute(function("timeline.under_review_v1"))
    op.execute(f"revoke all on function {UNDER_REVIEW} from public")
    for service in (*OWNERS.values(), "context"):
        for statement in grants(service, f"grant execute on function {UNDER_REVIEW} to {{role}}"):
            op.execute(statement)
    for statement in grants("context", "grant select, insert, delete on timeline.review_rules to {role}"):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(f"drop function {UNDER_REVIEW}")
    for schema in OWNERS:
        op.execute(f"drop table {schema}.reviews")
    op.execute("drop table timeline.review_rules")

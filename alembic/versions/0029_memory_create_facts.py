"""memory: facts with both times, and the names of their entities"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0029_facts"
down_revision = "0028_words_by_index"
branch_labels = None
depends_on = None

TABLES = """
create table memory.facts (
    tenant text not null,
    id bigint generated always as identity,
    scope text not null,
    user_id text,
    agent_name text,
    subject text not null,
    predicate text not null,
    object text not null,
    subject_key text not null,
    predicate_key text not null,
    object_key text not null,
    confidence real default 1 not null,
    valid_from timestamptz not null,
    valid_to timestamptz,
    recorded_at timestamptz not null,
    superseded_at timestamptz,
    single boolean default false not null,
    revision_of bigint,
    closed_by text,
    source text,
    written_by text not null,
    source_kind text not null,
    source_claim text,
    recalled_from bigint,
    dispatch_id bigint,
    constraint facts_pkey primary key (tenant, id),
    constraint facts_valid check (valid_to > valid_from)
);
create unique index facts_open on memory.facts (tenant, scope, user_id, source, subject_key, predicate_key, object_key) nulls not distinct where superseded_at is null and valid_to is null;
create index facts_subject on memory.facts (tenant, subject_key, predicate_key);
create index facts_object on memory.facts (tenant, object_key);
create index facts_predicate on memory.facts (tenant, predicate_key, id);
create index facts_scope on memory.facts (tenant, scope, id);
create index facts_user on memory.facts (tenant, user_id) where user_id is not null;
create index facts_agent on memory.facts (tenant, agent_name) where agent_name is not null;
create index facts_source on memory.facts (tenant, scope, source) where source is not null;
create index facts_revision on memory.facts (tenant, revision_of) where revision_of is not null;

create table memory.entity_aliases (
    tenant text not null,
    scope text not null,
    alias_key text not null,
    alias text not null,
    entity text not null,
    entity_key text not null,
    agent_name text,
    written_by text not null,
    source_kind text not null,
    source_claim text,
    created_at timestamptz default clock_timestamp() not null,
    constraint entity_aliases_pkey primary key (tenant, scope, alias_key),
    constraint entity_aliases_other check (alias_key <> entity_key)
);
create index entity_aliases_alias on memory.entity_aliases (tenant, alias_key);
create index entity_aliases_entity on memory.entity_aliases (tenant, scope, entity_key);
"""
NAMES = ("memory.facts", "memory.entity_aliases")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    for name in NAMES:
        for statement in grants(
            "agent_memory", f"grant select, insert, update, delete on {name} to {{role}}"
        ):
            op.execute(statement)
        op.execute(isolate(name))
    op.execute(CLOSE_IF_NEW)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for name in reversed(NAMES):
        op.execute(f"drop table {name}")

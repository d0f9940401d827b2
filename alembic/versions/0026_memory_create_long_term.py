"""memory: what is known beyond missions and agents: documents, episodes and commitments"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0026_long_term"
down_revision = "0025_commit_in_one_call"
branch_labels = None
depends_on = None

TABLES = """
create table memory.long_term (
    tenant text not null,
    id bigint generated always as identity,
    scope text not null,
    kind text not null,
    content text not null,
    content_hash bytea not null,
    agent_name text,
    user_id text,
    topics text[] default '{}' not null,
    tone text,
    ended_at timestamptz,
    owed_by text,
    owed_to text,
    due_at timestamptz,
    status text,
    token_count integer not null,
    chunks integer not null,
    occurred_at timestamptz,
    session_id text,
    seq bigint,
    speaker text,
    written_by text not null,
    source_kind text not null,
    source_claim text,
    recalled_from bigint,
    superseded_by bigint,
    paths text[] default '{}' not null,
    symbols text[] default '{}' not null,
    step text,
    language text,
    created_at timestamptz default clock_timestamp() not null,
    updated_at timestamptz default clock_timestamp() not null,
    constraint long_term_pkey primary key (tenant, id),
    constraint long_term_tenant_scope_kind_content_hash_key unique (tenant, scope, kind, content_hash)
);
create index long_term_scope on memory.long_term (tenant, scope, id);
create index long_term_session_seq on memory.long_term (tenant, scope, session_id, seq) where seq is not null;
create index long_term_user on memory.long_term (tenant, user_id) where user_id is not null;
create index long_term_agent on memory.long_term (tenant, agent_name) where agent_name is not null;
create index long_term_due on memory.long_term (tenant, due_at) where status = 'open';

create table memory.long_term_chunks (
    tenant text not null,
    scope text not null,
    item_id bigint not null,
    chunk smallint not null,
    chunks smallint not null,
    start integer not null,
    stop integer not null,
    words integer not null,
    expires_at timestamptz default 'infinity' not null,
    tsv tsvector not null,
    scoped tsvector not null,
    changed bigint default pg_current_xact_id()::text::bigint,
    constraint long_term_chunks_pkey primary key (tenant, item_id, chunk),
    constraint long_term_chunks_tenant_item_id_fkey foreign key(tenant, item_id) references memory.long_term (tenant, id) on delete cascade
);
create index long_term_chunks_changed on memory.long_term_chunks (tenant, scope, changed);
create index long_term_chunks_scoped on memory.long_term_chunks using gin (scoped);

create table memory.long_term_vec (
    tenant text not null,
    scope text not null,
    item_id bigint not null,
    chunk smallint not null,
    model text not null,
    expires_at timestamptz default 'infinity' not null,
    embedding halfvec(512) not null,
    constraint long_term_vec_pkey primary key (tenant, item_id, chunk, model),
    constraint long_term_vec_tenant_item_id_fkey foreign key(tenant, item_id) references memory.long_term (tenant, id) on delete cascade
);
create index long_term_vec_scope on memory.long_term_vec (tenant, scope, model) include (item_id, chunk, expires_at, embedding);

alter table memory.long_term_chunks set (toast_tuple_target = 8160, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table memory.long_term_vec set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);
create view memory.searchable_long_term as select * from memory.long_term_chunks where tenant = current_setting('scrubjay.tenant', true);
"""
NAMES = ("long_term", "long_term_chunks", "long_term_vec")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    for name in NAMES:
        op.execute(isolate(f"memory.{name}"))
    op.execute(CLOSE_IF_NEW)
    for statement in grants(
        "agent_memory",
        *(f"grant select, insert, update, delete on memory.{name} to {{role}}" for name in NAMES),
        "grant select on memory.searchable_long_term to {role}",
        "grant usage, select, update on sequence memory.long_term_id_seq to {role}",
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop view memory.searchable_long_term")
    for name in reversed(NAMES):
        op.execute(f"drop table memory.{name}")

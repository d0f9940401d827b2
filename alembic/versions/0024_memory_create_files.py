"""memory: the files of the vault, their chunks and vectors, and the runs over the tenants' folders"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0024_files"
down_revision = "0023_by_key"
branch_labels = None
depends_on = None

TABLES = """
create table memory.files (
    tenant text not null,
    id bigint generated always as identity,
    path text not null,
    part integer not null,
    piece smallint not null,
    pieces smallint not null,
    origin text not null,
    hash bytea not null,
    scope text not null,
    user_id text,
    format text not null,
    title text not null,
    characters integer not null,
    first_line integer not null,
    last_line integer not null,
    next_line integer not null,
    chunks integer not null,
    agent_name text,
    written_by text not null,
    source_kind text not null,
    occurred_at timestamptz,
    created_at timestamptz default clock_timestamp() not null,
    constraint files_pkey primary key (tenant, id),
    constraint files_tenant_path_part_key unique (tenant, path, part)
);
create index files_scope on memory.files (tenant, scope);
create index files_user on memory.files (tenant, user_id) where user_id is not null;
create index files_folder on memory.files (tenant, path) where part = 0 and origin = 'folder';

create table memory.file_chunks (
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
    body text not null,
    first_line integer not null,
    last_line integer not null,
    changed bigint default pg_current_xact_id()::text::bigint,
    constraint file_chunks_pkey primary key (tenant, item_id, chunk),
    constraint file_chunks_tenant_item_id_fkey foreign key(tenant, item_id) references memory.files (tenant, id) on delete cascade
);
create index file_chunks_changed on memory.file_chunks (tenant, scope, changed);
create index file_chunks_scoped on memory.file_chunks using gin (scoped);

create table memory.file_vec (
    tenant text not null,
    scope text not null,
    item_id bigint not null,
    chunk smallint not null,
    model text not null,
    expires_at timestamptz default 'infinity' not null,
    embedding halfvec(512) not null,
    constraint file_vec_pkey primary key (tenant, item_id, chunk, model),
    constraint file_vec_tenant_item_id_fkey foreign key(tenant, item_id) references memory.files (tenant, id) on delete cascade
);
create index file_vec_scope on memory.file_vec (tenant, scope, model) include (item_id, chunk, expires_at, embedding);

create table memory.vault_runs (
    tenant text not null,
    run text not null,
    started_at timestamptz default clock_timestamp() not null,
    seen_at timestamptz default clock_timestamp() not null,
    finished_at timestamptz,
    files integer default 0 not null,
    unchanged integer default 0 not null,
    changed integer default 0 not null,
    removed integer default 0 not null,
    refused jsonb default '[]' not null,
    refusals integer default 0 not null,
    constraint vault_runs_pkey primary key (tenant)
);

alter table memory.file_chunks set (toast_tuple_target = 8160, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table memory.file_vec set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);
"""
NAMES = ("files", "file_chunks", "file_vec", "vault_runs")
# As `memory.searchable_chunks`: under a policy, the search could not use the index of words.
VIEW = (
    "create view memory.searchable_file_chunks as select * from memory.file_chunks"
    " where tenant = current_setting('scrubjay.tenant', true)"
)


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    op.execute(VIEW)
    for name in NAMES:
        for statement in grants(
            "agent_memory", f"grant select, insert, update, delete on memory.{name} to {{role}}"
        ):
            op.execute(statement)
        op.execute(isolate(f"memory.{name}"))
    for statement in grants(
        "agent_memory",
        "grant select on memory.searchable_file_chunks to {role}",
        "grant usage, select, update on sequence memory.files_id_seq to {role}",
    ):
        op.execute(statement)
    op.execute(CLOSE_IF_NEW)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop view memory.searchable_file_chunks")
    for name in reversed(NAMES):
        op.execute(f"drop table memory.{name}")
    op.execute("delete from memory.index_queue where store = 'vault_index'")

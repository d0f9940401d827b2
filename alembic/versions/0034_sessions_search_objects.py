"""sessions: the words and the vectors of objects, for search"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0034_search_objects"
down_revision = "0033_sessions"
branch_labels = None
depends_on = None

# Items are known by their `number` here.
TABLES = """
create table sessions.object_chunks (
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
    constraint object_chunks_pkey primary key (tenant, item_id, chunk),
    constraint object_chunks_tenant_item_id_fkey foreign key(tenant, item_id) references sessions.semantic_objects (tenant, number) on delete cascade
);
create index object_chunks_words on sessions.object_chunks using gin (cache.scoped_words(tenant, scope, tsv));
alter index sessions.object_chunks_words alter column 1 set statistics 0;
create index object_chunks_scope on sessions.object_chunks (tenant, scope);

create table sessions.object_vec (
    tenant text not null,
    scope text not null,
    item_id bigint not null,
    chunk smallint not null,
    model text not null,
    expires_at timestamptz default 'infinity' not null,
    embedding halfvec(512) not null,
    constraint object_vec_pkey primary key (tenant, item_id, chunk, model),
    constraint object_vec_tenant_item_id_fkey foreign key(tenant, item_id) references sessions.semantic_objects (tenant, number) on delete cascade
);
create index object_vec_of_scope on sessions.object_vec (tenant, scope, model);

alter table sessions.object_chunks set (toast_tuple_target = 8160, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table sessions.object_vec set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);
create view sessions.searchable_objects as
    select tenant, scope, item_id, chunk, chunks, start, stop, words, expires_at, tsv,
           cache.scoped_words(tenant, scope, tsv) as scoped
    from sessions.object_chunks where tenant is not distinct from (select current_setting('scrubjay.tenant', true));
"""
NAMES = ("object_chunks", "object_vec")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    for name in NAMES:
        op.execute(isolate(f"sessions.{name}"))
    op.execute(CLOSE_IF_NEW)
    for statement in grants(
        "cache",
        *(f"grant select, insert, update, delete on sessions.{name} to {{role}}" for name in NAMES),
        "grant select on sessions.searchable_objects to {role}",
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop view sessions.searchable_objects")
    for name in reversed(NAMES):
        op.execute(f"drop table sessions.{name}")

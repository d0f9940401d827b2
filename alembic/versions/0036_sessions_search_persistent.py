"""sessions: the words and the vectors of what is kept for users"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0036_search_persistent"
down_revision = "0035_persistent"
branch_labels = None
depends_on = None

# Items are known by their `number` here.
TABLES = """
create table sessions.persistent_chunks (
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
    constraint persistent_chunks_pkey primary key (tenant, item_id, chunk),
    constraint persistent_chunks_tenant_item_id_fkey foreign key(tenant, item_id) references sessions.persistent_objects (tenant, number) on delete cascade
);
create index persistent_chunks_words on sessions.persistent_chunks using gin (cache.scoped_words(tenant, scope, tsv));
alter index sessions.persistent_chunks_words alter column 1 set statistics 0;
create index persistent_chunks_scope on sessions.persistent_chunks (tenant, scope);

create table sessions.persistent_vec (
    tenant text not null,
    scope text not null,
    item_id bigint not null,
    chunk smallint not null,
    model text not null,
    expires_at timestamptz default 'infinity' not null,
    embedding halfvec(512) not null,
    constraint persistent_vec_pkey primary key (tenant, item_id, chunk, model),
    constraint persistent_vec_tenant_item_id_fkey foreign key(tenant, item_id) references sessions.persistent_objects (tenant, number) on delete cascade
);
create index persistent_vec_of_scope on sessions.persistent_vec (tenant, scope, model);

alter table sessions.persistent_chunks set (toast_tuple_target = 8160, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table sessions.persistent_vec set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);
create view sessions.searchable_persistent as
    select tenant, scope, item_id, chunk, chunks, start, stop, words, expires_at, tsv,
           cache.scoped_words(tenant, scope, tsv) as scoped
    from sessions.persistent_chunks where tenant is not distinct from (select current_setting('scrubjay.tenant', true));
"""
NAMES = ("persistent_chunks", "persistent_vec")


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
        "grant select on sessions.searchable_persistent to {role}",
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop view sessions.searchable_persistent")
    for name in reversed(NAMES):
        op.execute(f"drop table sessions.{name}")

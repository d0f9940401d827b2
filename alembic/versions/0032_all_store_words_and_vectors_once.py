"""cache, memory: words of scopes are in their index only, vectors in their table only"""

from alembic import op

from shared.database.schema import function

revision = "0032_store_once"
down_revision = "0031_lines_of_facts"
branch_labels = None
depends_on = None

# By the table of chunks: the view of their words, and what the index of words holds.
WORDS = {
    "cache.psychic_chunks": ("cache.searchable_words", "cache.scoped_words(tenant, scope, tsv)"),
    "memory.agent_memory_chunks": (
        "memory.searchable_words",
        "memory.scoped_words(tenant, scope, private, tsv)",
    ),
    "memory.file_chunks": ("memory.searchable_file_words", "memory.scoped_words(tenant, scope, false, tsv)"),
    "memory.long_term_chunks": (
        "memory.searchable_long_term_words",
        "memory.scoped_words(tenant, scope, true, tsv)",
    ),
}
# What the index of a scope's vectors included, by their table.
VECTORS = {
    "cache.psychic_vec": "item_id, chunk, expires_at, embedding",
    "memory.agent_memory_vec": "item_id, chunk, expires_at, private, embedding",
    "memory.file_vec": "item_id, chunk, expires_at, embedding",
    "memory.long_term_vec": "item_id, chunk, expires_at, embedding",
}
VIEW = """
do $view$ begin
    execute 'create or replace view {view} as select ' || (
        select string_agg(case attname when 'scoped' then $words${words} as scoped$words$ else attname::text end, ', ' order by attnum)
        from pg_attribute where attrelid = '{table}'::regclass and attnum > 0 and not attisdropped)
        || $where$ from {table} where tenant is not distinct from (select current_setting('scrubjay.tenant', true))$where$;
end $view$
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for schema in ("cache", "memory"):
        op.execute(function(f"{schema}.scoped_words_v1"))
    with op.get_context().autocommit_block():
        op.execute("set lock_timeout = '2s'")
        for table, (_, words) in WORDS.items():
            _index(f"{table}_words", f"{table} using gin ({words})")
            # Nobody asks for statistics of it, and each row would be computed for them.
            op.execute(f"alter index {table}_words alter column 1 set statistics 0")
        for table in VECTORS:
            _index(f"{table}_of_scope", f"{table} (tenant, scope, model)")
    op.execute("set local lock_timeout = '2s'")
    for table, (view, words) in WORDS.items():
        _view(view, table, words)
        op.execute(f"alter table {table} alter column scoped drop not null")
    for schema in ("cache", "memory"):
        op.execute(function(f"{schema}.chunk_words_v5"))
    with op.get_context().autocommit_block():
        op.execute("set lock_timeout = '2s'")
        for name in (*(f"{table}_scoped" for table in WORDS), *(f"{table}_scope" for table in VECTORS)):
            op.execute(f"drop index concurrently if exists {name}")


def _view(view: str, table: str, words: str) -> None:
    """The view, with `words` as its column `scoped`."""
    op.execute(VIEW.format(view=view, table=table, words=words))


def _index(name: str, columns: str) -> None:
    # An interrupted run leaves an invalid index behind.
    op.execute(f"drop index concurrently if exists {name}")
    op.execute(f"create index concurrently if not exists {name.split('.')[1]} on {columns}")


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for schema in ("cache", "memory"):
        op.execute(function(f"{schema}.chunk_words_v4"))
    for table, (_, words) in WORDS.items():
        op.execute(f"update {table} set scoped = {words} where scoped is null")
        op.execute(f"alter table {table} alter column scoped set not null")
    with op.get_context().autocommit_block():
        for table in WORDS:
            _index(f"{table}_scoped", f"{table} using gin (scoped)")
        for table, included in VECTORS.items():
            _index(f"{table}_scope", f"{table} (tenant, scope, model) include ({included})")
    op.execute("set local lock_timeout = '2s'")
    for table, (view, _) in WORDS.items():
        _view(view, table, "scoped")
    with op.get_context().autocommit_block():
        for name in (*(f"{table}_words" for table in WORDS), *(f"{table}_of_scope" for table in VECTORS)):
            op.execute(f"drop index concurrently if exists {name}")
    op.execute("set local lock_timeout = '2s'")
    for schema in ("cache", "memory"):
        op.execute(f"drop function {schema}.scoped_words")

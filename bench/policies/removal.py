"""A database without row-level security: a control, and what its cost is measured against."""

import asyncpg

from shared.database.tenancy import POLICY

# Undoes what migrations add to a statement's work: policies, predicates of views, a function's owner's rights.
WITHOUT_POLICIES = f"""
do $without$ declare found record; begin
    for found in select polrelid::regclass::text as name from pg_policy where polname = '{POLICY}' loop
        execute format('alter table %s disable row level security', found.name);
    end loop;
end $without$;
do $views$ declare found record; begin
    for found in
        select oid::regclass::text as name, pg_get_viewdef(oid) as query from pg_class
        where relkind = 'v' and relname like 'searchable%'
    loop
        execute format('create or replace view %s as %s', found.name, split_part(found.query, 'WHERE', 1));
    end loop;
end $views$;
do $invoker$ begin
    execute format('alter function %s security invoker', 'cache.put_entries'::regproc::oid::regprocedure);
end $invoker$
"""


async def remove_policies(owner: str) -> None:
    connection = await asyncpg.connect(owner)
    try:
        await connection.execute(WITHOUT_POLICIES)
    finally:
        await connection.close()

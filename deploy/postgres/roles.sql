-- Creates the roles and the extension that the first migration expects, in the database that psql is connected to.
-- Run it as an administrator, again after changing a password. It reads the passwords from the environment:
--   SCRUBJAY_OWNER_PASSWORD, SCRUBJAY_CACHE_PASSWORD, SCRUBJAY_AGENT_MEMORY_PASSWORD, SCRUBJAY_CONTEXT_PASSWORD
\set ON_ERROR_STOP on
\getenv owner_password SCRUBJAY_OWNER_PASSWORD
\getenv cache_password SCRUBJAY_CACHE_PASSWORD
\getenv agent_memory_password SCRUBJAY_AGENT_MEMORY_PASSWORD
\getenv context_password SCRUBJAY_CONTEXT_PASSWORD

select format('create role %I login', name)
from unnest(array['scrubjay_owner', 'scrubjay_cache', 'scrubjay_agent_memory', 'scrubjay_context']) name
where not exists (select from pg_roles where rolname = name) \gexec

alter role scrubjay_owner password :'owner_password';
alter role scrubjay_cache password :'cache_password';
alter role scrubjay_agent_memory password :'agent_memory_password';
alter role scrubjay_context password :'context_password';

-- Only a superuser may create pgvector, which is not a trusted extension.
create extension if not exists vector;
-- Until the library is loaded, Postgres accepts any hnsw.* setting, even a misspelt one.
select '[1]'::vector is not null as vector_is_loaded;

-- Set on the roles, so that they also apply behind a pooler that refuses start-up parameters.
select format('alter role %I set %s = %L', role, setting, value)
from unnest(array['scrubjay_cache', 'scrubjay_agent_memory', 'scrubjay_context']) role
cross join (values
    ('statement_timeout', '10s'),
    ('hnsw.iterative_scan', 'relaxed_order'),
    ('hnsw.ef_search', '200')
) settings (setting, value) \gexec

-- An administrator without superuser rights must be a member of the role to give it the database.
select format('grant scrubjay_owner to %I', current_user)
where not (select rolsuper from pg_roles where rolname = current_user) \gexec
select format('alter database %I owner to scrubjay_owner', current_database()) \gexec

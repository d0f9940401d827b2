-- Prepares a database for tables that are distributed by tenant, before its first migration. Run it as an administrator
-- on the coordinator, in that database, once every node has been added and roles.sql has run:
--   psql "$ADMIN_URL" -f deploy/postgres/citus.sql
-- Safe to repeat.
\set ON_ERROR_STOP on

create extension if not exists citus;
create extension if not exists vector;

-- Row-level security compares with settings of the transaction. The nodes have to know them.
select format('alter database %I set citus.propagate_set_commands = %L', current_database(), 'local') \gexec
-- The catalog shows the shards, too, which makes the first search of a connection six times faster.
select format('alter database %I set citus.override_table_visibility = off', current_database()) \gexec

-- Hides the rows of every tenant from transactions that name none, in a database that was in use before it had
-- row-level security. Run it when no replica of an older release is left:
--   psql "$OWNER_URL" -f deploy/postgres/close_policies.sql
-- Safe to repeat. Each policy changes on its own, so that no transaction holds the locks of two tables.
\set ON_ERROR_STOP on
set lock_timeout = '2s';

select format('alter policy of_tenant on %s using (%s)', polrelid::regclass, $policy$tenant = (select current_setting('scrubjay.tenant', true)) or (select current_setting('scrubjay.every_tenant', true)) = 'on'$policy$)
from pg_policy where polname = 'of_tenant' \gexec

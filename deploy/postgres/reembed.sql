-- Queues everything that lacks a vector of a model, for services that will start with that model:
--   psql "$OWNER_URL" -v model=voyage:voyage-4 -f deploy/postgres/reembed.sql
-- Vectors of other models stay, so you can go back by changing the setting. Safe to repeat, and while services write.
\set ON_ERROR_STOP on

insert into cache.index_queue (tenant, store, item_id, scope, model)
select e.tenant, 'psychic_cache', e.id, e.scope, :'model'
from cache.psychic_cache e
where e.expires_at > clock_timestamp()
  and exists (
    select from cache.psychic_chunks c
    where c.tenant = e.tenant and c.item_id = e.id and not exists (
        select from cache.psychic_vec v
        where v.tenant = c.tenant and v.item_id = c.item_id and v.chunk = c.chunk and v.model = :'model'))
on conflict do nothing;

insert into memory.index_queue (tenant, store, item_id, scope, model)
select m.tenant, 'agent_memory', m.id, m.scope, :'model'
from memory.agent_memory m
where exists (
    select from memory.agent_memory_chunks c
    where c.tenant = m.tenant and c.item_id = m.id and not exists (
        select from memory.agent_memory_vec v
        where v.tenant = c.tenant and v.item_id = c.item_id and v.chunk = c.chunk and v.model = :'model'))
on conflict do nothing;

insert into memory.index_queue (tenant, store, item_id, scope, model)
select distinct c.tenant, 'memory', c.item_id, c.scope, :'model'
from memory.long_term_chunks c
where c.expires_at > clock_timestamp() and not exists (
    select from memory.long_term_vec v
    where v.tenant = c.tenant and v.item_id = c.item_id and v.chunk = c.chunk and v.model = :'model')
on conflict do nothing;

insert into memory.index_queue (tenant, store, item_id, scope, model)
select distinct c.tenant, 'vault_index', c.item_id, c.scope, :'model'
from memory.file_chunks c
where c.expires_at > clock_timestamp() and not exists (
    select from memory.file_vec v
    where v.tenant = c.tenant and v.item_id = c.item_id and v.chunk = c.chunk and v.model = :'model')
on conflict do nothing;

insert into cache.index_queue (tenant, store, item_id, scope, model)
select distinct c.tenant, 'session_objects', c.item_id, c.scope, :'model'
from sessions.object_chunks c
where c.expires_at > clock_timestamp() and not exists (
    select from sessions.object_vec v
    where v.tenant = c.tenant and v.item_id = c.item_id and v.chunk = c.chunk and v.model = :'model')
on conflict do nothing;

insert into cache.index_queue (tenant, store, item_id, scope, model)
select distinct c.tenant, 'persistent_objects', c.item_id, c.scope, :'model'
from sessions.persistent_chunks c
where c.expires_at > clock_timestamp() and not exists (
    select from sessions.persistent_vec v
    where v.tenant = c.tenant and v.item_id = c.item_id and v.chunk = c.chunk and v.model = :'model')
on conflict do nothing;

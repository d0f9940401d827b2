-- A chunk's words, each prefixed with the key of its scope, as the index holds them. What is not private has the words
-- with the key of `*`, too, which stands for all of a tenant's scopes. The keys are those of `scope_key`.
create or replace function memory.scoped_words(p_tenant text, p_scope text, p_private boolean, p_words tsvector)
returns tsvector
language plpgsql immutable parallel safe set search_path = pg_catalog as $$
begin
    return array_to_tsvector(array(
        select k.key || ':' || word
        from (
            select left(encode(sha256(convert_to(p_tenant || chr(31) || scope, 'UTF8')), 'hex'), 8) as key
            from unnest(case when p_private then array[p_scope] else array[p_scope, '*'] end) scope
        ) k, unnest(tsvector_to_array(p_words)) word));
end $$

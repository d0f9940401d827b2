-- A chunk's words, each prefixed with the key of its scope, as the index holds them. The key is that of `scope_key`.
create or replace function cache.scoped_words(p_tenant text, p_scope text, p_words tsvector) returns tsvector
language plpgsql immutable parallel safe set search_path = pg_catalog as $$
begin
    return array_to_tsvector(array(
        select k.key || ':' || word
        from (select left(encode(sha256(convert_to(p_tenant || chr(31) || p_scope, 'UTF8')), 'hex'), 8) as key) k,
             unnest(tsvector_to_array(p_words)) word));
end $$

-- A chunk's words, each prefixed with the key of its scope, as the index holds them. What is not private has the words
-- with the key of `*`, too, which stands for all of a tenant's scopes. The keys are those of `scope_key`. Joined and split
-- again, the words take a fifth of the time that each for itself takes. A word that holds the mark between them would be
-- torn.
create or replace function memory.scoped_words(p_tenant text, p_scope text, p_private boolean, p_words tsvector)
returns tsvector
language plpgsql immutable parallel safe set search_path = pg_catalog as $$
declare
    words constant text[] := tsvector_to_array(p_words);
    torn constant boolean := strpos(array_to_string(words, ''), chr(31)) > 0;
    scopes constant text[] := case when p_private then array[p_scope] else array[p_scope, '*'] end;
    scope text;
    prefix text;
    scoped text[] := '{}';
begin
    foreach scope in array scopes loop
        prefix := left(encode(sha256(convert_to(p_tenant || chr(31) || scope, 'UTF8')), 'hex'), 8) || ':';
        if torn then
            scoped := scoped || array(select prefix || word from unnest(words) word);
        else
            scoped := scoped || coalesce(string_to_array(
                prefix || nullif(array_to_string(words, chr(31) || prefix), ''), chr(31)), '{}');
        end if;
    end loop;
    return array_to_tsvector(scoped);
end $$

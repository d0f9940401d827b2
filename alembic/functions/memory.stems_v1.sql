-- A text's words with their places, in the stems of a language. Each begins with the name of its text search
-- configuration: the stems of two languages are different words. A tsvector's word may have 2,046 bytes.
create or replace function memory.stems(p_config text, p_text text)
returns tsvector
language sql stable set search_path = pg_catalog as $$
    select coalesce(string_agg(
        '''' || replace(replace(p_config || ' ' || w.lexeme, '\', '\\'), '''', '''''') || ''':'
        || array_to_string(w.positions, ','), ' '), '')::tsvector
    from unnest(to_tsvector(p_config::regconfig, p_text)) w
    where octet_length(w.lexeme) <= 2000
$$

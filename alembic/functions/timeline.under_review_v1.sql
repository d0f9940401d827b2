-- Which of these scopes, missions and agents, have a rule that their writes wait for a reviewer.
create or replace function timeline.under_review(p_tenant text, p_scopes text[]) returns text[]
language sql stable security definer set search_path = pg_catalog as $$
    select coalesce(array_agg(r.scope order by r.scope), '{}')
    from timeline.review_rules r where r.tenant = p_tenant and r.scope = any (p_scopes)
$$

"""Row-level security by tenant: the statements that migrations run, and queries that name their tenant themselves.

`Database` names the tenant of each transaction. A policy on every table with a column `tenant` hides the other tenants'
rows, so a statement that forgets its tenant finds nothing of theirs.
"""

from __future__ import annotations

import msgspec

POLICY = "of_tenant"

# As sub-selects, each setting is read once per statement and not once per row.
_TENANT = "(select current_setting('scrubjay.tenant', true))"
_EVERY = "(select current_setting('scrubjay.every_tenant', true))"
STRICT = f"tenant = {_TENANT} or {_EVERY} = 'on'"
# For code that sets nothing: that of the release before, during an upgrade.
OPEN = f"{STRICT} or (coalesce({_TENANT}, '') = '' and coalesce({_EVERY}, '') = '')"


_ALONE = """
select found.* from (select set_config('scrubjay.tenant', $1, true) as tenant offset 0) named
cross join lateral (select asked.* from (
{query}
) asked where named.tenant is not null offset 0) found
"""


_OF_EVERY = """
select given.* from (select set_config('scrubjay.every_tenant', 'on', true) as every offset 0) named
cross join lateral (select g.* from {given}) given where named.every is not null
"""


def of_every_tenant(given: str) -> str:
    """What a statement that is a transaction of its own writes, of several tenants: `given` are its rows, as `g`.

    As in `alone`, a row comes only after the setting that the policies compare with. Where that failed, the policies
    would refuse each row.
    """
    return _OF_EVERY.format(given=given.strip())


def alone(query: str) -> str:
    """A query of the tenant $1 that is a transaction of its own: it sets what the policies compare with.

    It needs no BEGIN and no COMMIT, so one round trip instead of three. The query depends on the row that the setting
    makes, and `offset 0` keeps the planner from merging the two, so the setting is always first. Where that failed, the
    policies would hide every row.
    """
    return _ALONE.format(query=query.strip().removesuffix(";"))


class Look(msgspec.Struct, frozen=True):
    """A statement for a transaction that has named its tenant, which is $1, or every tenant; and alone."""

    within: str
    alone: str


def look(query: str) -> Look:
    return Look(query, alone(query))


def isolate(table: str) -> str:
    """Puts a table under the open policy. One statement, which may run again."""
    return f"""
do $isolate$ begin
    if not exists (select from pg_policy where polrelid = '{table}'::regclass and polname = '{POLICY}') then
        create policy {POLICY} on {table} using ({OPEN});
    end if;
    alter table {table} enable row level security;
end $isolate$"""


# Closes the policies at once where no service has run yet.
CLOSE_IF_NEW = f"""
do $close$ declare found record; begin
    if exists (select from timeline.events) or exists (select from context.api_keys) then
        return;
    end if;
    for found in select polrelid::regclass::text as name from pg_policy where polname = '{POLICY}' loop
        execute format('alter policy {POLICY} on %s using (%s)', found.name, $policy${STRICT}$policy$);
    end loop;
end $close$"""

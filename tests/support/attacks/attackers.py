"""The keys that attack, the attacks of each, and what must hold afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shared.auth import Access
from shared.database.postgres import Connection
from tests.support.attacks.sending import OPERATIONS, REACH, TOOLS, Attempt, Reply, attempts
from tests.support.attacks.victim import CANARIES, Canary, Victim


@dataclass(frozen=True)
class Attacker:
    """A key, and which of the victim's things its bounds let it see and change. All else is a leak or an effect."""

    name: str
    access: Access = "admin"
    bounds: Mapping[str, Any] = field(default_factory=dict)
    """As the body that makes a key names them: agent, missions, users."""
    stranger: bool = False
    """It is a key of another tenant."""
    sees: frozenset[Canary] = frozenset()
    changes: frozenset[Canary] = frozenset()
    uncounted: frozenset[str] = frozenset()
    """Tables that hold counts of the victim's mission, which this key may write into."""

    def attempts(self, victim: Victim) -> Iterator[Attempt]:
        """Every operation, tool and resource. A key without bounds that may write is asked for what it may not do."""
        for attempt in attempts(victim):
            if self.access != "write" or attempt.access == "admin":
                yield attempt

    def refused(self, attempt: Attempt) -> bool:
        """Whether its access alone forbids the attempt: 403 for REST, an error for a tool."""
        return attempt.access not in REACH[self.access]


# Whoever works in a mission adds to what it holds and spends.
_COUNTS = frozenset({"cache.missions", "timeline.spending", "timeline.costs_by_day"})
# A profile shows to whoever may ask as its agent, or for its user.
# What an agent or a user keeps in long-term memory, too. What is shared shows to everybody.
_OF_MISSIONS: frozenset[Canary] = frozenset(
    {"loose", "agent_profile", "user_profile", "preference", "promise", "knowledge", "user_fact", "kept"}
)
# A key of users reads sessions of nobody, and changes only those that it began.
_OF_USERS: frozenset[Canary] = frozenset(
    {"dispatch", "agent_profile", "promise", "knowledge", "alias", "nobodys_session"}
)
_OF_OTHERS: frozenset[Canary] = frozenset(
    {
        "entry",
        "checkpoint",
        "session",
        "shared",
        "loose",
        "dispatch",
        "user_profile",
        "preference",
        "episode",
        "knowledge",
        "fact",
        "user_fact",
        "kept",
    }
)

_OF_ADMINS: frozenset[Canary] = frozenset({"key", "webhook"})

ATTACKERS = (
    Attacker("tenant", stranger=True),
    Attacker("tenant, of the same names", stranger=True, bounds={"agent": "mallory"}),
    # Another agent reads the mission and what is not private. It changes nothing.
    Attacker("agent", bounds={"agent": "mallory"}, sees=_OF_OTHERS, uncounted=_COUNTS),
    # What was learned outside of any mission, and is not private, is everybody's to read.
    Attacker("mission", bounds={"missions": ["moria"]}, sees=_OF_MISSIONS),
    Attacker("missions", bounds={"missions": ["moria", "lorien"]}, sees=_OF_MISSIONS),
    Attacker("no mission", bounds={"missions": []}, sees=_OF_MISSIONS),
    # A dispatch is about no user.
    Attacker(
        "user",
        bounds={"users": ["bob"]},
        sees=_OF_USERS,
        changes=frozenset({"dispatch"}),
        uncounted=_COUNTS,
    ),
    Attacker(
        "agent for a user",
        bounds={"agent": "mallory", "users": ["bob"]},
        sees=frozenset({"dispatch", "knowledge"}),
        uncounted=_COUNTS,
    ),
    Attacker(
        "agent in a mission",
        bounds={"agent": "mallory", "missions": ["moria"]},
        sees=frozenset({"loose", "user_profile", "preference", "knowledge", "user_fact", "kept"}),
    ),
    Attacker(
        "all",
        bounds={"agent": "mallory", "missions": ["moria"], "users": ["bob"]},
        sees=frozenset({"knowledge"}),
    ),
    Attacker(
        "user in a mission",
        bounds={"missions": ["moria"], "users": ["bob"]},
        sees=frozenset({"agent_profile", "promise", "knowledge"}),
    ),
    Attacker("read for a user", access="read", bounds={"users": ["bob"]}, sees=_OF_USERS),
    # Reading a source counts as a weak signal for its assembly.
    Attacker("read", access="read", sees=CANARIES - _OF_ADMINS, changes=frozenset({"assembly"})),
    Attacker("write", access="write", sees=CANARIES - _OF_ADMINS, uncounted=_COUNTS),
)
CONTROL = Attacker("control")
"""An admin key without bounds: everything that must not happen happens to it."""


def leaks(attacker: Attacker, victim: Victim, attempt: Attempt, reply: Reply) -> list[Canary]:
    """What a reply shows that the attacker must not see. A refusal may repeat what the attempt itself named."""
    shown, named = reply.text.lower(), str(attempt.arguments) if reply.refused else ""
    return sorted(
        name
        for name in CANARIES - attacker.sees
        if victim.canary(name) in shown and victim.canary(name) not in named
    )


class Row(NamedTuple):
    table: str
    text: str


TABLES = """
select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^(pg_|information_schema)'
  and c.relname not in ('index_queue', 'alembic_version') and n.nspname <> 'public'
order by 1
"""
# Reading may count, and an event gets its number later.
_UNCOMPARED = "'{access_count, seq, last_used_at}'::text[]"


async def rows_of(sql: Connection, victim: Victim) -> set[Row]:
    """Every row that names the victim, as a superuser sees it."""
    found: set[Row] = set()
    for table in [row["name"] for row in await sql.fetch(TABLES)]:
        statement = f"""
            select (to_jsonb(t) - {_UNCOMPARED})::text as text from {table} t where to_jsonb(t)::text like $1
        """
        found |= {Row(table, row["text"]) for row in await sql.fetch(statement, f"%{victim.word}%")}
    return found


_AWAITED = """
select exists (select from cache.index_queue where scope like $1)
    or exists (select from memory.index_queue where scope like $1)
"""


async def is_awaited(sql: Connection, victim: Victim) -> bool:
    """Whether a vector is still to come, with which a row may change."""
    return bool(await sql.fetchval(_AWAITED, f"%{victim.word}%"))


def effects(attacker: Attacker, victim: Victim, before: set[Row], after: set[Row]) -> list[Row]:
    """The victim's rows that are gone or changed, though the attacker must not change them."""
    may = [victim.canary(name) for name in attacker.changes]
    return sorted(
        row
        for row in before - after
        if row.table not in attacker.uncounted and not any(canary in row.text for canary in may)
    )


_NAMED = {
    **{f"{name}_id": 1 for name in ("entry", "checkpoint", "dispatch", "assembly", "key", "webhook")},
    "memory_ids": [1],
    "file_ids": [1],
    "long_term_ids": [1],
    "fact_ids": [1],
    "agent_session": "4f0c7a52-7f3c-4a52-9b58-2f1f7a0c1d11",
    "object_id": "4f0c7a52-7f3c-4a52-9b58-2f1f7a0c1d12",
    "nobodys_object_id": "4f0c7a52-7f3c-4a52-9b58-2f1f7a0c1d14",
    "object_number": 1,
    "persistent_id": "4f0c7a52-7f3c-4a52-9b58-2f1f7a0c1d15",
    "persistent_number": 1,
    "run_id": 1,
    "waiting_id": -1,
    "other_object_id": "4f0c7a52-7f3c-4a52-9b58-2f1f7a0c1d13",
    "relationship_id": "4f0c7a52-7f3c-4a52-9b58-2f1f7a0c1d14",
    "taken": [],
}


def unattacked() -> set[str]:
    """The operations of the API's document, and the tools, that no attack reaches."""
    known = [attempt for attempt in attempts(Victim("w", _NAMED)) if attempt.operation in OPERATIONS]
    operations = OPERATIONS.keys() - {attempt.operation for attempt in known if attempt.tool is None}
    return operations | (TOOLS.keys() - {attempt.tool for attempt in known})

"""The registry of stores: each one's name, owner and scopes, and the weights of its items.

Everything that depends on a store derives from its record: weights, recency, handles, metrics, the API's choices,
forwarded routes. A new store needs one record here, a folder at its owner, and a migration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from shared.packing import DEFAULT_TOKEN_SHARE
from shared.search.evidence import GRAPH

OwnerName = Literal["cache", "agent_memory"]
ScopeRule = Callable[[Sequence[str]], list[str] | None]
"""Maps the scopes of a request to those to search in a store. None means not to search it."""

_NUMBER = r"[1-9][0-9]{0,17}(?:#[0-9]{1,4})?"
_MONTH_HOURS = 30 * 24.0


def named(*kinds: str) -> ScopeRule:
    """Searches the scopes of these kinds that the request names, if any."""

    def rule(scopes: Sequence[str]) -> list[str] | None:
        return [scope for scope in scopes if scope.partition(":")[0] in kinds] or None

    return rule


def always(scopes: Sequence[str]) -> list[str]:
    """Always searched: the owner adds the scopes of the caller and the user, and what is shared."""
    return list(scopes)


def by_caller(_: Sequence[str]) -> list[str]:
    """Always searched: the owner goes by who calls."""
    return []


def in_folders(scopes: Sequence[str]) -> list[str]:
    """Always searched: the owner adds what is nobody's, and what is of who calls."""
    return list(scopes)


def all_but_caller(scopes: Sequence[str]) -> list[str]:
    """Always searched: the owner looks at everyone but who calls, and counts the items of agents that are named."""
    return [scope for scope in scopes if scope.startswith("agent:")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source of a block's items."""

    name: str
    """Its name in the API, the assembly log and metric labels."""
    prefix: str
    """The prefix of its handles, `prefix:id`."""
    token_share: float = DEFAULT_TOKEN_SHARE
    """Its share of the budget, until an operator or learning changes it for a caller."""
    ids: str = _NUMBER
    """A pattern for what follows the prefix."""

    def handle(self, item: int | str, chunk: int | None = None) -> str:
        return f"{self.prefix}:{item}" if chunk is None else f"{self.prefix}:{item}#{chunk}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned(Source):
    """A source that another service holds."""

    owner: OwnerName
    item_path: str = ""
    """The owner's public route for one item, with `{id}`; empty where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store(Owned):
    """A source that can be searched."""

    scopes: ScopeRule
    path: str
    """The prefix of the owner's public routes."""
    counts_accesses: bool = False
    """Its owner counts how often an item is read."""
    weight: float = 1.0
    """The start value, before learning."""
    half_life_hours: float | None = None
    """None means that its items do not age."""
    ageless: frozenset[str] = frozenset()
    """The kinds of items that do not age, although others do."""
    priorities: Mapping[str, float] = field(default_factory=dict)
    """Priorities by kind of item; 1 for other kinds."""


CACHE = Store(
    name="psychic_cache",
    prefix="cache",
    owner="cache",
    scopes=named("mission"),
    path="/api/psychic-cache",
    item_path="/api/psychic-cache/all/entries/{id}",
    half_life_hours=6.0,
    priorities={
        "decision": 1.1,
        "directive": 1.15,
        "escalation": 1.1,
        "thread_checkpoint": 0.9,
        "shadow_clone": 0.95,
    },
)
OWN = Store(
    name="agent_memory_own",
    prefix="own",
    owner="agent_memory",
    scopes=by_caller,
    path="/api/agent-memory",
    item_path="/api/agent-memory/{id}",
    weight=1.1,
    counts_accesses=True,
    half_life_hours=_MONTH_HOURS,
)
PEERS = Store(
    name="agent_memory_peer",
    prefix="peer",
    owner="agent_memory",
    scopes=all_but_caller,
    path="/api/agent-memory",
    item_path="/api/agent-memory/{id}",
    weight=0.8,
    half_life_hours=_MONTH_HOURS,
)
LONG_TERM = Store(
    name="memory",
    prefix="memory",
    owner="agent_memory",
    scopes=always,
    path="/api/memory",
    item_path="/api/memory/{id}",
    half_life_hours=_MONTH_HOURS,
    ageless=frozenset({"preference", "knowledge", "commitment"}),
)
VAULT = Store(
    name="vault_index",
    prefix="vault",
    owner="agent_memory",
    scopes=in_folders,
    path="/api/vault",
    item_path="/api/vault/files/{id}",
)
SESSION_OBJECTS = Store(
    name="session_objects",
    prefix="object",
    owner="cache",
    scopes=named("session"),
    path="/api/sessions",
    item_path="/api/sessions/all/objects/{id}",
    half_life_hours=6.0,
    priorities={"design_decision": 1.1},
)
"""What the context of the request's session no longer shows whole. No scope names the session."""
PERSISTENT = Store(
    name="persistent_objects",
    prefix="persistent",
    owner="cache",
    scopes=named("user"),
    path="/api/persistent-objects",
    item_path="/api/persistent-objects/{id}",
    priorities={"design_decision": 1.1},
)
"""What is kept of sessions for the users that a request names. Its confidence takes the place of its age."""
LINKS = Owned(name="explicit_link", prefix="link", owner="agent_memory", token_share=0.3, ids=r"[^\s\]]+")
"""Files of the vault that a request names. They are read, not searched."""
FACTS = Owned(
    name=GRAPH,
    prefix="kg",
    owner="agent_memory",
    token_share=0.075,
    item_path="/api/kg/{id}",
    ids="[1-9][0-9]{0,17}",
)
"""Facts of the entities that a question names."""
PROFILES = Source(name="profile", prefix="profile", token_share=0.15, ids=r"(?:agent|user):[^\s\]]+")
"""What stands first in every block for an agent or a user. Their names are percent-encoded."""

STORES = (CACHE, OWN, PEERS, LONG_TERM, VAULT, SESSION_OBJECTS, PERSISTENT)
ON_REQUEST = (SESSION_OBJECTS, PERSISTENT)
"""Searched only if the request names a session or a user."""
SOURCES: tuple[Source, ...] = (*STORES, LINKS, PROFILES, FACTS)
BY_NAME: Mapping[str, Store] = {store.name: store for store in STORES}
BY_PREFIX: Mapping[str, Source] = {source.prefix: source for source in SOURCES}

WEIGHTS: Mapping[str, float] = {store.name: store.weight for store in STORES}
TOKEN_SHARES: Mapping[str, float] = {store.name: store.token_share for store in STORES}
PATHS: Mapping[str, OwnerName] = {store.path: store.owner for store in STORES}
HANDLE = re.compile("|".join(rf"\b{source.prefix}:{source.ids}" for source in SOURCES))


def source_of(handle: str) -> Source | None:
    return BY_PREFIX.get(handle.partition(":")[0])


def name_of(handle: str) -> str:
    """The name of a handle's source, or the handle's prefix if a log still names a store that no longer exists."""
    source = source_of(handle)
    return handle.partition(":")[0] if source is None else source.name


def handles_of(handle: str) -> list[str]:
    """Every handle by which blocks name the item, without its chunk; none for what is no handle."""
    if not HANDLE.fullmatch(handle):
        return []
    source, name = source_of(handle), handle.partition(":")[2]
    if isinstance(source, Store):
        name = name.partition("#")[0]
    if source in (OWN, PEERS):
        return [OWN.handle(name), PEERS.handle(name)]
    return [f"{handle.partition(':')[0]}:{name}"]

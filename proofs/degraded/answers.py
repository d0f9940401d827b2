"""What each call answers without a dependency, as the documentation says, and whether an answer is that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from services.context import stores
from shared.search.evidence import GRAPH
from tests.support.calls import PROBLEM, Json, lesson, note, question

Dependency = Literal["postgres", "redis", "cache", "agent_memory", "embedder"]
DEPENDENCIES: tuple[Dependency, ...] = ("postgres", "redis", "cache", "agent_memory", "embedder")
MISSION, AGENT = "degraded", "scout"
_OWNERS = ("cache", "agent_memory")
_DONE = (200, 201)


class Call(NamedTuple):
    name: str
    method: str
    path: str
    owner: str | None
    """The service that alone can answer it."""

    def body(self, mark: str) -> Json | None:
        """Each text is a new one: the vectors of what was embedded before are remembered."""
        bodies: dict[str, Json] = {
            "assemble": question(MISSION, f"the orders replica {mark}"),
            "write": note(MISSION, f"finding {mark} of the orders replica"),
            "query": {"mission_id": MISSION, "query": f"orders replica {mark}"},
            "commit": lesson(AGENT, f"Lesson {mark}: look at the lag of {mark} first."),
            "recall": {"agent_name": AGENT, "query": f"lag of the replica {mark}"},
        }
        return bodies.get(self.name)


CALLS = (
    Call("assemble", "POST", "/api/context/assemble", None),
    Call("write", "POST", "/api/psychic-cache/write", "cache"),
    Call("query", "POST", "/api/psychic-cache/query", "cache"),
    Call("commit", "POST", "/api/agent-memory/commit", "agent_memory"),
    Call("recall", "POST", "/api/agent-memory/query", "agent_memory"),
    Call("timeline", "GET", f"/api/timeline?mission={MISSION}", None),
)


class Given(NamedTuple):
    status: int
    body: Any
    headers: Mapping[str, str]


def missing(dependency: Dependency) -> frozenset[str]:
    """The sources that an assembly names without it."""
    if dependency == "embedder":
        return frozenset({"embedder"})
    names = {one.name for one in stores.STORES if one.owner == dependency and one not in stores.ON_REQUEST}
    return frozenset(names | ({GRAPH} if dependency == "agent_memory" else set()))


def wrong(call: Call, dependency: Dependency | None, given: Given) -> str | None:
    """What is not as documented; `dependency` is the one that is away."""
    if dependency == "postgres":
        return _unavailable(given, ("postgres", *_OWNERS))
    if dependency is not None and call.owner == dependency:
        return _unavailable(given, (dependency,))
    if given.status not in _DONE:
        return f"answers {given.status}: {given.body}"
    if call.name == "timeline":
        return None
    if dependency == "embedder" and call.name in ("write", "commit"):
        return _unindexed(call, given.body)
    if call.name in ("write", "commit"):
        return None
    return _named(call, dependency, given.body)


def _unavailable(given: Given, names: tuple[str, ...]) -> str | None:
    """A problem that says what is away, and when to come again."""
    if given.status != 503 or given.headers.get("content-type") != PROBLEM:
        return f"answers {given.status}: {given.body}"
    if given.body.get("dependency") not in names:
        return f"names {given.body.get('dependency')}"
    return None if int(given.headers.get("retry-after", 0)) >= 1 else "does not say when to come again"


def _unindexed(call: Call, body: Json) -> str | None:
    said = body["data"]["indexed"] if call.name == "write" else body["status"]
    return None if said in (False, "pending") else f"says that it is indexed: {said}"


def _named(call: Call, dependency: Dependency | None, body: Json) -> str | None:
    degraded = (body["data"] if call.name == "query" else body)["degraded"]
    if call.name == "assemble":
        named = {one["source"] for one in degraded}
        expected = missing(dependency) if dependency not in (None, "redis") else frozenset()
        return None if named == expected else f"names {degraded} instead of {sorted(expected)}"
    expects = dependency == "embedder"
    if bool(degraded) != expects or (expects and not degraded[0].startswith("embedder")):
        return f"says of what is missing: {degraded}"
    return None

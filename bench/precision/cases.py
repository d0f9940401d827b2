"""Cases of fleets of agents, written by hand: what they hold (items.jsonl) and what they are asked (questions.jsonl).

An item goes to its fleet's mission, to an agent, to a user (in the memory of the fleet's first agent) or to another
mission. A question without gold has no answer in what its caller may search.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

HERE = Path(__file__).parent
Category = Literal["alias", "scope", "wrong person", "plain", "nothing wanted"]
Write = tuple[str, dict[str, Any], str]
"""The path, body and idempotency key of a write."""


class Item(msgspec.Struct, frozen=True):
    fleet: str
    id: str
    to: str
    """`mission`, `mission:NAME`, `agent:NAME` or `user:NAME`."""
    text: str
    kind: str = "intel"


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    fleet: str
    caller: str
    text: str
    gold: list[str]
    category: Category
    user: str | None = None
    mission: str | None = ""
    """Empty: the fleet's; null: none."""
    scopes: list[str] = []

    def body(self, run: str) -> dict[str, Any]:
        """The request, without its budget."""
        mission = None if self.mission is None else f"{run}-{self.fleet}"
        return {
            "query": self.text,
            "caller": f"{run}-{self.fleet}-{self.caller}",
            "mission_namespace": mission,
            "user_id": None if self.user is None else f"{run}-{self.user}",
            "scopes": [f"mission:{run}-{scope.partition(':')[2]}" for scope in self.scopes],
        }


def load() -> tuple[list[Item], list[Question]]:
    items = (HERE / "items.jsonl").read_bytes().splitlines()
    questions = (HERE / "questions.jsonl").read_bytes().splitlines()
    return (
        [msgspec.json.decode(line, type=Item) for line in items],
        [msgspec.json.decode(line, type=Question) for line in questions],
    )


def missions(run: str, items: list[Item]) -> list[str]:
    return sorted({_mission(run, item) for item in items if item.to.startswith("mission")})


def scopes(run: str, items: list[Item]) -> list[str]:
    """Whatever the items were written to."""
    agents = {f"agent:{body['agent_name']}" for _, body, _ in writes(run, items) if "agent_name" in body}
    return [*(f"mission:{mission}" for mission in missions(run, items)), *sorted(agents)]


def writes(run: str, items: list[Item]) -> list[Write]:
    """In the order of the items."""
    agents = {
        item.fleet: item.to.partition(":")[2] for item in reversed(items) if item.to.startswith("agent:")
    }
    return [_write(run, item, agents[item.fleet]) for item in items]


def _write(run: str, item: Item, first_agent: str) -> Write:
    kind, _, name = item.to.partition(":")
    key = f"{run}:{item.fleet}:{item.id}"
    if kind == "mission":
        return "/api/psychic-cache/write", _entry(_mission(run, item), item), key
    agent = name if kind == "agent" else first_agent
    body: dict[str, Any] = {
        "agent_name": f"{run}-{item.fleet}-{agent}",
        "memory_type": "domain_pattern",
        "content": item.text,
    }
    if kind == "user":
        body["user_id"] = f"{run}-{name}"
    return "/api/agent-memory/commit", body, key


def _mission(run: str, item: Item) -> str:
    return f"{run}-{item.to.partition(':')[2] or item.fleet}"


def _entry(mission: str, item: Item) -> dict[str, Any]:
    more = {
        "intel": {"intel_source": "fleet"},
        "directive": {"directive_target": "everybody"},
        "decision": {"decision_rationale": "agreed by the fleet"},
    }[item.kind]
    return {"context_type": item.kind, "mission_id": mission, "content": item.text, **more}

"""Plays a session, and asks at each step twice: for a whole block, and for what is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bench.client import Client
from bench.demo.agent import Agent, Write
from bench.demo.transcript import Event, normal
from shared.render import parse_block

AGENT = "delta-coder"


class Step(NamedTuple):
    """What an agent writes before it asks, and what the answer should hold; "" asks nothing."""

    writes: Sequence[Write]
    question: str
    expected: str


@dataclass
class Host:
    """What one host has injected into its prompts."""

    tokens: int = 0
    found: int = 0
    context: list[str] = field(default_factory=list)
    corrections: int = 0
    repeated: int = 0
    _shown: set[tuple[str, str]] = field(default_factory=set)
    _whole: set[str] = field(default_factory=set)

    def add(self, answer: dict[str, Any]) -> None:
        self.tokens += answer["total_tokens"]
        self.context.append(normal(answer["context_block"]))
        items = parse_block(answer["context_block"])
        self.repeated += sum(item in self._shown or item[0] in self._whole for item in items)
        self._shown |= set(items)
        self._whole |= {source["handle"] for source in answer["sources"] if not source["cut"]}
        self.corrections += len(answer.get("delta", {}).get("corrections", ()))


@dataclass
class Played:
    name: str
    questions: int
    whole: Host
    delta: Host


async def play(client: Client, name: str, mission: str, steps: Iterable[Step], budget: int) -> Played:
    """A host of whole blocks replaces the block at each step; one of deltas appends it."""
    whole, delta, asked, written = Host(), Host(), 0, 0
    for step in steps:
        keyed = []
        for write in step.writes:
            keyed.append((write.path, write.body, f"{mission}:{written}"))
            await client.post(write.path, write.body, key=keyed[-1][2])
            written += 1
        await client.indexed(keyed)
        if not step.question:
            continue
        body = {
            "query": step.question,
            "caller": AGENT,
            "mission_namespace": mission,
            "token_budget": budget,
            "session_id": mission,
        }
        whole.add(await client.post("/api/context/assemble", body))
        delta.add(await client.post("/api/context/assemble", {**body, "delta": True}))
        expected = normal(step.expected)
        asked += 1
        whole.found += expected in whole.context[-1]
        delta.found += any(expected in block for block in delta.context)
    return Played(name, asked, whole, delta)


def steps_of(
    past: Sequence[Event], future: Sequence[Event], questions: Iterable[Any], mission: str
) -> Iterator[Step]:
    """The transcript up to each question's turn, as its agent would write it down."""
    agent = Agent(AGENT, mission=mission, session=mission)
    yield Step([write for event in past for write in agent.observe(event)], "", "")
    rest = list(future)
    for question in sorted(questions, key=lambda one: one.turn):
        writes = []
        while rest and rest[0].seq < question.turn:
            writes += agent.observe(rest.pop(0))
        yield Step(writes, question.text, question.expected)

"""Writes the steps of each session into a mission of its own and those of all into one, and asks for them."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from statistics import fmean
from typing import Any, NamedTuple

from bench.client import Client
from bench.cluster import Address
from bench.quality.asking import (
    CALLER,
    CONNECTIONS,
    STORE,
    as_written,
    ask_until_whole,
    at_once,
    wait_until_indexed,
    write_rows,
)
from bench.quality.dataset import Row
from bench.quality.metrics import ndcg, share
from bench.steps.probes import Probe, probes
from bench.steps.sessions import Session, Step, gold
from shared.text import MAX_QUERY

PROJECT = "project"
BUDGET = 2_000
PROBES = 200
_FIGURES = ("r10", "ndcg10")

Figures = dict[str, float]


class Ranking(NamedTuple):
    """`copies` are steps by the step whose lines they repeat."""

    steps: list[str]
    copies: Mapping[str, set[str]]

    def figures(self, wanted: Collection[str]) -> Figures:
        """A wanted step is found where it stands or where a wanted step that shows its lines does."""
        copies = {step: self.copies.get(step, set()) if step in wanted else set() for step in self.steps}
        found = [name for step in self.steps[:10] for name in (step, *copies[step])]
        shown = set(wanted) - (set().union(*copies.values()) - set(self.steps))
        return {"r10": share(found, wanted), "ndcg10": ndcg(self.steps, shown)}


class Asker(NamedTuple):
    client: Client
    missions: Mapping[str, str]
    ids: Mapping[tuple[str, int], str]

    async def ranked(self, group: str, query: str) -> Ranking:
        """Each step once, by its best chunk that repeats none of another step."""
        request = {"query": query[:MAX_QUERY], "caller": CALLER, "mission_namespace": self.missions[group]}
        answer = await ask_until_whole(self.client, {**request, "token_budget": BUDGET})
        found = [each for each in answer["candidates"] if each["store"] == STORE]
        found.sort(key=lambda each: -each["score"])
        ids = {each["handle"]: self.ids[group, each["id"]] for each in found}
        kept = dict.fromkeys(ids[each["handle"]] for each in found if each["outcome"] != "repeat")
        copies: defaultdict[str, set[str]] = defaultdict(set)
        for each in found:
            if each["outcome"] == "repeat":
                copies[ids[each["same_as"]]].add(ids[each["handle"]])
        return Ranking(list(kept), copies)


async def measure(address: Address, sessions: Sequence[Session], seed: int) -> dict[str, Any]:
    """Leaves nothing behind on a cluster that others use."""
    steps = [step for session in sessions for step in session.steps]
    run = f"steps-{secrets.token_hex(4)}"
    missions = {group: f"{run}-{group}" for group in (PROJECT, *(session.name for session in sessions))}
    rows = [_row(group, step) for step in steps for group in (PROJECT, step.session)]
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(address.url, address.token, connections=CONNECTIONS))
        try:
            ids = await write_rows(client, run, missions, rows)
            await wait_until_indexed(client, run, missions, as_written(rows, ids))
            asker = Asker(client, missions, ids)
            alone = await _tasks(asker, sessions, {session.name: session.steps for session in sessions})
            together = await _tasks(asker, sessions, {PROJECT: steps})
            verbatim = await _verbatim(asker, steps, probes(steps, PROBES, seed))
        finally:
            if not address.throw_away:
                for mission in missions.values():
                    await client.post("/api/context/purge", {"scope": f"mission:{mission}"})
    return _report(alone, together, verbatim, seed)


def _row(group: str, step: Step) -> Row:
    body = {
        "context_type": "intel",
        "intel_source": step.tool,
        "content": step.content,
        "session_id": step.session,
        "seq": step.seq,
        "agent_name": CALLER,
    }
    return Row(step.id, group, body)


async def _tasks(
    asker: Asker, sessions: Iterable[Session], groups: Mapping[str, Sequence[Step]]
) -> dict[str, Figures]:
    """The figures of each session whose patch changes lines that steps show."""
    figures = {}
    for session in sessions:
        group = session.name if session.name in groups else PROJECT
        if wanted := gold(session, groups[group]):
            ranked = await asker.ranked(group, session.task)
            figures[session.name] = {
                "steps": len(groups[group]),
                "gold": len(wanted),
                **ranked.figures(wanted),
            }
    return figures


async def _verbatim(asker: Asker, steps: Iterable[Step], asked: Iterable[Probe]) -> dict[str, list[bool]]:
    """Whether the first step holds the probe, by the probe's kind."""
    content = {step.id: step.content for step in steps}
    hits: defaultdict[str, list[bool]] = defaultdict(list)

    async def ask(probe: Probe) -> None:
        first = (await asker.ranked(PROJECT, probe.text)).steps[:1]
        hits[probe.kind].append(any(probe.text in content[name] for name in first))

    await at_once(ask(probe) for probe in asked)
    return dict(sorted(hits.items()))


def _report(
    alone: Mapping[str, Figures],
    together: Mapping[str, Figures],
    verbatim: Mapping[str, Sequence[bool]],
    seed: int,
) -> dict[str, Any]:
    every = [hit for hits in verbatim.values() for hit in hits]
    return {
        **_mean(alone),
        "verbatim_hit1": round(fmean(every), 4),
        "project": _mean(together),
        "by_session": alone,
        "by_session_in_project": together,
        "by_probe": {kind: round(fmean(hits), 4) for kind, hits in verbatim.items()},
        "probes": len(every),
        "seed": seed,
    }


def _mean(figures: Mapping[str, Figures]) -> Figures:
    return {name: round(fmean(each[name] for each in figures.values()), 4) for name in _FIGURES}

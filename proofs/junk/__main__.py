"""`make proof-junk`, P13: no credit for junk.

Fleets of agents are asked for what they know, and again when four stores are full of unrelated text beside it: nDCG@10
may fall by 3 points. They are also asked what nobody knows, and what only another fleet's mission knows: then, four of
five answers must be empty or say that they are of low relevance. The control divides each store's scores by the store's
best. Vectors are the local model's.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Mapping, Sequence, Set
from statistics import fmean
from typing import Any, NamedTuple

from bench.client import Client
from bench.precision import cases
from bench.precision.cases import Item
from bench.precision.cases import Question as Case
from bench.quality.metrics import ndcg
from proofs.ground import Ground, Proof, run
from proofs.junk.filling import Junk, fill, junk, paragraphs, until_embedded
from tests.support.cluster import Cluster

SEED = 13
SHORT_TEXTS = 200
_LEAST_QUIET = 0.8
_MOST_LOST = 3.0
_BUDGET = 2_000
_AT_ONCE = 4
_TRIES = 5


class Asked(NamedTuple):
    body: dict[str, Any]
    gold: frozenset[str]
    """None where nothing that may be searched answers it."""


class Answered(NamedTuple):
    ndcg10: float
    quiet: bool
    """It is empty, or says that nothing in it is relevant."""
    degraded: bool


class Round(NamedTuple):
    """The same questions to one service."""

    answerable: list[Answered]
    others: list[Answered]

    @property
    def ndcg10(self) -> float:
        return fmean(one.ndcg10 for one in self.answerable)

    @property
    def quiet(self) -> float:
        return fmean(one.quiet for one in self.others)

    @property
    def answered(self) -> list[Answered]:
        return [*self.answerable, *self.others]


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    items, questions = cases.load()
    texts = paragraphs()
    random.Random(seed).shuffle(texts)
    del texts[SHORT_TEXTS if short else len(texts) :]
    cluster = Cluster(ground.database, ground.valkey.url, ground.folder, replicas=2)
    kept, normalised = cluster.replicas["context"]
    normalised.module = "proofs.junk.normalised"
    async with cluster:
        urls = [service.url for service in (kept, normalised)]
        alone, beside = await _rounds(urls, cluster.tokens.admin, items, questions, junk(texts))
    (before, control_before), (after, control_after) = alone, beside
    return Proof(
        n=sum(len(one.answered) for one in (*alone, *beside)),
        faults=0,
        violations=_broken(before, after),
        control_violations=_broken(control_before, control_after),
        more={
            "junk": len(texts),
            **_figures("", before, after),
            **_figures("control_", control_before, control_after),
        },
    )


async def _rounds(
    urls: Sequence[str], token: str, items: list[Item], questions: list[Case], texts: Junk
) -> tuple[list[Round], list[Round]]:
    """What each service answers before there is junk, and beside it."""
    name = "junk"
    async with Client(urls[0], token) as client:
        names = await _write(client, name, items)
        of_mission = {f"{one.fleet}/{one.id}" for one in items if one.to.startswith("mission")}
        asked = [_question(name, one) for one in questions] + _misdirected(name, questions, of_mission)
        alone = [await _ask(url, token, names, asked) for url in urls]
        callers = sorted({f"{name}-{one.fleet}-{one.caller}" for one in questions})
        await fill(client, name, callers, texts)
        return alone, [await _ask(url, token, names, asked) for url in urls]


async def _write(client: Client, name: str, items: list[Item]) -> dict[tuple[str, int], str]:
    """The names of the items, by their owner's name and id."""
    names: dict[tuple[str, int], str] = {}
    for item, (path, body, key) in zip(items, cases.writes(name, items), strict=True):
        answer = await client.post(path, body, key=key)
        in_mission = "data" in answer
        place = ("psychic_cache", answer["data"]["id"]) if in_mission else ("memories", answer["memory_id"])
        names[place] = f"{item.fleet}/{item.id}"
    await until_embedded(client)
    return names


def _question(name: str, case: Case) -> Asked:
    return Asked(case.body(name), frozenset(f"{case.fleet}/{gold}" for gold in case.gold))


def _misdirected(name: str, questions: Sequence[Case], of_mission: Set[str]) -> list[Asked]:
    """Each question that a mission answers, to the next fleet, which does not see it. Memories are everybody's."""
    fleets = list(dict.fromkeys(one.fleet for one in questions))
    following = dict(zip(fleets, [*fleets[1:], fleets[0]], strict=True))
    callers = {one.fleet: one.caller for one in reversed(questions)}
    return [
        _question(name, Case(fleet, callers[fleet], one.text, [], "nothing wanted"))
        for one in questions
        if one.gold and of_mission >= {f"{one.fleet}/{gold}" for gold in one.gold}
        for fleet in [following[one.fleet]]
    ]


async def _ask(url: str, token: str, names: Mapping[tuple[str, int], str], asked: Sequence[Asked]) -> Round:
    places = asyncio.Semaphore(_AT_ONCE)

    async def ask(client: Client, one: Asked) -> Answered:
        async with places:
            return await _answered(client, names, one)

    async with Client(url, token) as client:
        answered = await asyncio.gather(*(ask(client, one) for one in asked))
    pairs = list(zip(asked, answered, strict=True))
    return Round([a for one, a in pairs if one.gold], [a for one, a in pairs if not one.gold])


async def _answered(client: Client, names: Mapping[tuple[str, int], str], asked: Asked) -> Answered:
    """An answer that lacks a store says how busy the machine is, so it is asked again."""
    body = {**asked.body, "token_budget": _BUDGET, "log": False, "debug": True}
    for _ in range(_TRIES):
        answer = await client.post("/api/context/assemble", body)
        if not answer["degraded"]:
            break
    quiet = answer["low_relevance"] or not answer["context_block"]
    ranked = list(_ranked(answer["candidates"], names))
    return Answered(ndcg(ranked, asked.gold) if asked.gold else 0.0, quiet, bool(answer["degraded"]))


def _ranked(candidates: Iterable[Mapping[str, Any]], names: Mapping[tuple[str, int], str]) -> Iterable[str]:
    """What holds no item of the fleets has its handle for a name."""
    order = sorted(candidates, key=lambda one: -one["score"])
    return dict.fromkeys(names.get((_owner(one["store"]), one["id"]), one["handle"]) for one in order)


def _owner(store: str) -> str:
    return "memories" if store.startswith("agent_memory") else store


def _broken(before: Round, after: Round) -> int:
    """Of what is promised. An answer that lacked a store at each try proves nothing."""
    lacking = sum(one.degraded for one in (*before.answered, *after.answered))
    return (_lost(before, after) > _MOST_LOST) + (after.quiet < _LEAST_QUIET) + lacking


def _lost(before: Round, after: Round) -> float:
    """In points of a hundred."""
    return 100 * (before.ndcg10 - after.ndcg10)


def _figures(prefix: str, before: Round, after: Round) -> dict[str, float]:
    return {
        f"{prefix}ndcg10": round(before.ndcg10, 3),
        f"{prefix}points_lost": round(_lost(before, after), 2),
        f"{prefix}quiet": round(after.quiet, 3),
        f"{prefix}quiet_alone": round(before.quiet, 3),
        f"{prefix}lacking": sum(one.degraded for one in (*before.answered, *after.answered)),
    }


if __name__ == "__main__":
    run("P13", SEED, prove)

"""Asks each question twice within each budget: for all that fits, as before the cut, and for what is near the best."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from bench.client import Client
from bench.cluster import Address
from bench.precision import cases, change
from bench.precision.cases import Item
from bench.precision.cases import Question as Case
from bench.precision.change import Pair
from bench.quality.asking import (
    CALLER,
    CONNECTIONS,
    STORE,
    Progress,
    as_written,
    ask_until_whole,
    at_once,
    raise_limits,
    wait_until_indexed,
    write_rows,
)
from bench.quality.dataset import Query, Row, main_categories

BUDGETS = (500, 2_000)
WAYS = ("before", "after")


Source = Mapping[str, Any]
Naming = Callable[[Source], str]


class Asked(NamedTuple):
    """A question, and the names of the items that answer it; none where nothing does."""

    body: dict[str, Any]
    gold: frozenset[str]
    category: str
    name: Naming
    """Names a source of the answer."""


class Block(NamedTuple):
    precision: float
    recall: float
    quiet: bool
    """It is empty, or flagged as of low relevance."""
    tokens: int


class Outcome(NamedTuple):
    category: str
    answerable: bool
    blocks: dict[str, dict[int, Block]]
    """By way and budget."""


async def measure_cases(address: Address, items: list[Item], questions: list[Case]) -> dict[str, Any]:
    run = f"precision-{secrets.token_hex(4)}"
    async with Client(address.url, address.token, connections=CONNECTIONS) as client:
        try:
            names = await _fill(client, run, items)

            def name(source: Source) -> str:
                return names.get((source["store"] == STORE, source["id"])) or str(source["handle"])

            return report(await _ask(client, [_of_case(run, question, name) for question in questions]))
        finally:
            if not address.throw_away:
                await _purge(client, cases.scopes(run, items))


def _of_case(run: str, question: Case, name: Naming) -> Asked:
    gold = frozenset(f"{question.fleet}/{gold}" for gold in question.gold)
    return Asked(question.body(run), gold, question.category, name)


async def _fill(client: Client, run: str, items: list[Item]) -> dict[tuple[bool, int], str]:
    """The names of the items, by whether a mission holds them and by their ids."""
    for mission in cases.missions(run, items):
        await raise_limits(client, mission)
    names: dict[tuple[bool, int], str] = {}
    progress = Progress("written", len(items))
    for item, (path, body, key) in zip(items, cases.writes(run, items), strict=True):
        answer = await client.post(path, body, key=key)
        in_mission = "data" in answer
        number = answer["data"]["id"] if in_mission else answer["memory_id"]
        names[in_mission, number] = f"{item.fleet}/{item.id}"
        progress.step()
    return names


async def measure_set(
    address: Address, rows: Sequence[Row], queries: Sequence[Query], sample: int
) -> dict[str, Any]:
    """Asks a sample of the questions in their own conversation, and half as many in the wrong one."""
    run = f"precision-{secrets.token_hex(4)}"
    missions = {row.group: f"{run}-{row.group}".replace("/", "-") for row in rows}
    chosen = main_categories({query.category for query in queries})
    answerable = [query for query in queries if query.category in chosen]
    answerable = answerable[:: max(1, len(answerable) // sample)]
    async with Client(address.url, address.token, connections=CONNECTIONS) as client:
        try:
            ids = await write_rows(client, run, missions, rows)
            await wait_until_indexed(client, run, missions, as_written(rows, ids))
            wrong = dict(zip(missions, [*list(missions)[1:], next(iter(missions))], strict=True))
            asked = [_of_query(query, missions[query.group], ids, query.gold) for query in answerable]
            if len(missions) > 1:
                asked += [
                    _of_query(query, missions[wrong[query.group]], ids, []) for query in answerable[::2]
                ]
            return report(await _ask(client, asked))
        finally:
            if not address.throw_away:
                await _purge(client, [f"mission:{mission}" for mission in missions.values()])


async def _purge(client: Client, scopes: Iterable[str]) -> None:
    for scope in scopes:
        await client.post("/api/context/purge", {"scope": scope})


def _of_query(query: Query, mission: str, ids: Mapping[tuple[str, int], str], gold: Iterable[str]) -> Asked:
    body = {"query": query.text, "caller": CALLER, "mission_namespace": mission}
    category = query.category if gold else "wrong conversation"
    return Asked(
        body, frozenset(gold), category, lambda source: ids.get((query.group, source["id"]), source["handle"])
    )


async def _ask(client: Client, asked: Sequence[Asked]) -> list[Outcome]:
    progress = Progress("asked", len(asked))
    outcomes: list[Outcome] = []

    async def ask(one: Asked) -> None:
        blocks = {
            way: {tokens: await _block(client, one, tokens, fill=way == "before") for tokens in BUDGETS}
            for way in WAYS
        }
        outcomes.append(Outcome(one.category, bool(one.gold), blocks))
        progress.step()

    await at_once(ask(one) for one in asked)
    return outcomes


async def _block(client: Client, asked: Asked, tokens: int, *, fill: bool) -> Block:
    answer = await ask_until_whole(client, {**asked.body, "token_budget": tokens, "fill": fill})
    found = {asked.name(source) for source in answer["sources"]}
    wanted = len(found & asked.gold)
    return Block(
        precision=wanted / len(found) if found else 0.0,
        recall=wanted / len(asked.gold) if asked.gold else 0.0,
        quiet=answer["low_relevance"] or not found,
        tokens=answer["total_tokens"],
    )


def report(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Means over the questions. An unanswerable question counts only in `silent_or_flagged`."""
    return {
        "questions": len(outcomes),
        **{way: _figures(outcomes, way) for way in WAYS},
        "change": _changes([one.blocks for one in outcomes if one.answerable]),
        "by_category": {
            category: {
                way: _figures([one for one in outcomes if one.category == category], way) for way in WAYS
            }
            for category in sorted({outcome.category for outcome in outcomes})
        },
    }


def _changes(blocks: Sequence[Mapping[str, Mapping[int, Block]]]) -> dict[str, Any]:
    """The factor of precision and the points of recall, each with its interval."""

    def pairs(name: str, tokens: int) -> list[Pair]:
        return [Pair(*(getattr(one[way][tokens], name) for way in WAYS)) for one in blocks]

    return {
        f"b{tokens}": {
            "precision": change.factor(pairs("precision", tokens)),
            "recall": change.points(pairs("recall", tokens)),
        }
        for tokens in BUDGETS
    }


def _figures(outcomes: Sequence[Outcome], way: str) -> dict[str, Any]:
    answerable = [outcome.blocks[way] for outcome in outcomes if outcome.answerable]
    others = [outcome.blocks[way] for outcome in outcomes if not outcome.answerable]
    figures: dict[str, Any] = {}
    if answerable:
        for name in ("precision", "recall", "tokens"):
            figures[name] = {
                f"b{tokens}": round(fmean(getattr(blocks[tokens], name) for blocks in answerable), 4)
                for tokens in BUDGETS
            }
        figures["answerable_flagged"] = round(fmean(blocks[BUDGETS[0]].quiet for blocks in answerable), 4)
    if others:
        figures["silent_or_flagged"] = round(fmean(blocks[BUDGETS[0]].quiet for blocks in others), 4)
    return figures

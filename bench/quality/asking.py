"""`make bench-quality DATA=folder`: how well assemble finds what answers a question.

A data set is a folder of corpus.jsonl (id, group, seq, session, timestamp, speaker, text) and queries.jsonl
(id, group, text, gold, category). Each group becomes a mission; a question is asked within its group. With DOCUMENTS=1,
each group becomes a user with documents instead.

With SCRUBJAY_RERANKER set, a throw-away cluster is asked each question with the reranker and without it, and what it
gains is printed. With GRAPH=1, each question is asked again when facts are in the graph.
"""

import asyncio
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import quote

from bench.client import Client
from bench.cluster import Address
from bench.quality import documents, graph
from bench.quality.dataset import Query, Row
from bench.quality.metrics import BUDGETS, Figures, figures, within
from bench.quality.summary import PLAIN, Result, summary

CALLER = "bench"
STORE = "psychic_cache"
_LIMITS = {"token_budget": 2**31 - 1, "entry_budget": 1_000_000, "ttl_hours": 24 * 365}
CONNECTIONS = 8
_TRIES = 5


Then = Callable[[Client, Mapping[str, str], Sequence[Row]], Awaitable[Any]]
"""Writes more beside the rows of each group's mission, and answers what it wrote."""
Answers = Mapping[int, Any]
"""By the budget in tokens."""


class Progress:
    """A count on stderr, a line a second at most."""

    def __init__(self, what: str, total: int) -> None:
        self.done = 0
        self.moved = time.monotonic()
        self._what, self._total = what, total
        self._said = 0.0
        self._begun = self.moved

    def step(self) -> None:
        self.done += 1
        self.moved = time.monotonic()
        if self.moved - self._said >= 1 or self.done == self._total:
            self._said = self.moved
            line = f"  {self._what} {self.done}/{self._total}, {self.moved - self._begun:.0f} s"
            tty = sys.stderr.isatty()
            print(line, end="\r" if tty and self.done < self._total else "\n", file=sys.stderr, flush=True)


async def measure(
    address: Address,
    rows: Sequence[Row],
    queries: Sequence[Query],
    *,
    as_documents: bool = False,
    then: Then | None = None,
) -> dict[str, Any]:
    """Load, wait for the vectors, ask, and again when `then` has written more beside it.

    On a cluster that others use, leave nothing behind.
    """
    started = time.monotonic()
    run = f"quality-{secrets.token_hex(4)}"
    missions = {row.group: f"{run}-{row.group}".replace("/", "-") for row in rows}
    async with AsyncExitStack() as stack:
        client, *plain = [
            await stack.enter_async_context(Client(url, address.token, connections=CONNECTIONS))
            for url in (address.url, *address.other_urls)
        ]
        try:
            if as_documents:
                ids = await documents.write(client, missions, rows)
                await documents.wait_until_embedded(client, missions, rows)
            else:
                ids = await write_rows(client, run, missions, rows)
                await wait_until_indexed(client, run, missions, as_written(rows, ids))
            loaded = time.monotonic()
            where = {
                group: {"user_id" if as_documents else "mission_namespace": name}
                for group, name in missions.items()
            }
            store = documents.STORE if as_documents else STORE
            results = await _ask(client, where, ids, queries, *plain, store=store)
            if then is not None:
                written = await then(client, missions, rows)
                results = graph.beside(results, await _ask(client, where, ids, queries, store=store))
        finally:
            if not address.throw_away:
                for mission in missions.values():
                    kind = "user" if as_documents else "mission"
                    await client.post("/api/context/purge", {"scope": f"{kind}:{mission}"})
    report = summary(results)
    if then is not None:
        report |= {"written": written, "with_facts_share": graph.share_with_facts(results)}
    report["seconds"] = round(time.monotonic() - started, 1)
    report["load_seconds"] = round(loaded - started, 1)
    return report


async def write_rows(
    client: Client, run: str, missions: Mapping[str, str], rows: Sequence[Row]
) -> dict[tuple[str, int], str]:
    """Groups side by side, the rows of one in order: a turn is indexed with words of the one before it."""
    progress = Progress("written", len(rows))
    ids: dict[tuple[str, int], str] = {}

    async def fill(group: str, mission: str) -> None:
        await raise_limits(client, mission)
        for row in rows:
            if row.group == group:
                path, body, key = _request(run, mission, row)
                answer = await client.post(path, body, key=key)
                ids[group, answer["data"]["id"]] = row.id
                progress.step()

    async with asyncio.TaskGroup() as tasks:
        for group, mission in missions.items():
            tasks.create_task(fill(group, mission))
    return ids


async def raise_limits(client: Client, mission: str) -> None:
    await client.put(f"/api/psychic-cache/{quote(mission)}/limits", _LIMITS)


def as_written(rows: Iterable[Row], ids: Mapping[tuple[str, int], str]) -> list[Row]:
    """In the order of the server's ids, which is about that of the vectors."""
    numbers = {(group, name): number for (group, number), name in ids.items()}
    return sorted(rows, key=lambda row: numbers[row.group, row.id])


async def wait_until_indexed(
    client: Client, run: str, missions: Mapping[str, str], rows: Sequence[Row]
) -> None:
    progress = Progress("indexed", len(rows))
    await client.indexed((_request(run, missions[row.group], row) for row in rows), done=progress.step)


def _request(run: str, mission: str, row: Row) -> tuple[str, dict[str, Any], str]:
    key = f"{run}:{quote(row.group)}:{quote(row.id)}"
    return "/api/psychic-cache/write", {"mission_id": mission, **row.body}, key


async def _ask(
    client: Client,
    where: Mapping[str, Mapping[str, str]],
    ids: Mapping[tuple[str, int], str],
    queries: Sequence[Query],
    *plain: Client,
    store: str = STORE,
) -> list[Result]:
    """`where` names the mission or the user of each group.

    `plain` is of a context service without the reranker; it is asked in turns with the other.
    """
    progress = Progress("asked", len(queries))
    results: list[Result | None] = [None] * len(queries)

    async def ask(place: int, query: Query) -> None:
        answers = [await _answers(one, query.text, where[query.group]) for one in (client, *plain)]
        results[place] = _result(query, lambda number: ids[query.group, number], *answers, store=store)
        progress.step()

    await at_once((ask(place, query) for place, query in enumerate(queries)))
    # What ran out of time beside the others is asked again alone: it would count as a miss of the ranking.
    late = [place for place, one in enumerate(results) if one is not None and one.degraded]
    progress = Progress("asked again, alone,", len(late))
    for place in late:
        await ask(place, queries[place])
    return [one for one in results if one is not None]


async def _answers(client: Client, text: str, where: Mapping[str, str]) -> Answers:
    """`fill`, because the figures are of what fits into a budget, not of what is near the best."""
    body = {"query": text, "caller": CALLER, "fill": True, **where}
    return {tokens: await ask_until_whole(client, {**body, "token_budget": tokens}) for tokens in BUDGETS}


async def ask_until_whole(client: Client, request: Mapping[str, Any]) -> Any:
    """A degraded answer says how busy the machine is, not how good the ranking: it is asked again."""
    for _ in range(_TRIES):
        answer = await client.post("/api/context/assemble", {**request, "log": False, "debug": True})
        if not answer["degraded"]:
            break
    return answer


def _result(
    query: Query, name: Callable[[int], str], answers: Answers, *plain: Answers, store: str = STORE
) -> Result:
    candidates = _candidates(answers, store)
    orders = {
        "text": sorted((c for c in candidates if c["text"] > 0), key=lambda c: -c["text"]),
        "vector": sorted((c for c in candidates if c["cosine"] is not None), key=lambda c: -c["cosine"]),
    }
    arms = {"fused": _fused(answers, name, query.gold, store)}
    for arm, order in orders.items():
        chunks = [(name(c["id"]), c["tokens"]) for c in order]
        packed = {tokens: within(chunks, tokens) for tokens in BUDGETS}
        arms[arm] = figures(list(dict.fromkeys(item for item, _ in chunks)), packed, query.gold)
    for others in plain:
        arms[PLAIN] = _fused(others, name, query.gold, store)
    return Result(
        category=query.category,
        arms=arms,
        text_empty=not orders["text"],
        degraded=any(answer["degraded"] for one in (answers, *plain) for answer in one.values()),
        milliseconds=answers[BUDGETS[0]]["retrieval_ms"],
        facts=len(answers[BUDGETS[-1]].get("graph", ())),
    )


def _fused(answers: Answers, name: Callable[[int], str], gold: Sequence[str], store: str) -> Figures:
    # What repeats another text comes last in the answer; by score it has its place.
    order = sorted(_candidates(answers, store), key=lambda c: -c["score"])
    packed = {
        tokens: {name(source["id"]) for source in _ours(answer["sources"], store)}
        for tokens, answer in answers.items()
    }
    return figures(list(dict.fromkeys(name(c["id"]) for c in order)), packed, gold)


def _candidates(answers: Answers, store: str) -> list[dict[str, Any]]:
    return _ours(next(iter(answers.values()))["candidates"], store)


def _ours(found: Iterable[dict[str, Any]], store: str) -> list[dict[str, Any]]:
    """Without what agents of a cluster that others use remember."""
    return [one for one in found if one["store"] == store]


async def at_once(work: Iterable[Awaitable[None]], workers: int = CONNECTIONS) -> None:
    waiting = iter(work)

    async def worker() -> None:
        for one in waiting:
            await one

    async with asyncio.TaskGroup() as tasks:
        for _ in range(workers):
            tasks.create_task(worker())

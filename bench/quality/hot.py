"""`make bench-hot DATA=folder`: the same candidates from copies in memory as from the search statement.

Three caches on one database are asked the same questions: one that copies what is asked often, one that copies nothing,
and one with room for a copy or two, in which they come and go. Questions that a busy machine did not let one of them
answer whole are left out.
"""

import argparse
import asyncio
import json
import secrets
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from bench.client import ApiError, Client, leaves
from bench.cluster import Address, cluster
from bench.quality.asking import (
    CALLER,
    CONNECTIONS,
    STORE,
    Progress,
    as_written,
    ask_until_whole,
    at_once,
    wait_until_indexed,
    write_rows,
)
from bench.quality.dataset import Query, Row, load, main_categories
from bench.quality.metrics import ndcg, recall, share
from local.process import LocalError

BUDGET = 2_000
_MEGABYTES = {"on": "64", "off": "0", "coming and going": "1"}
_SHOWN = 20

Candidates = Mapping[tuple[str, int], float]
"""Scores by row and chunk."""


class Answer(NamedTuple):
    query: Query
    whole: bool
    candidates: Candidates
    taken: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.quality.hot", description=__doc__)
    parser.add_argument("data", type=Path, help="the data set's folder")
    parser.add_argument("--limit", type=int, default=0, help="the first groups only")
    arguments = parser.parse_args()
    others = [{"cache": {"SCRUBJAY_HOT_SCOPES_MB": each}} for each in [*_MEGABYTES.values()][1:]]
    try:
        rows, queries = load(arguments.data, arguments.limit)
        with cluster({}, others) as address:
            report = asyncio.run(measure(address, rows, queries))
    except* (LocalError, ApiError, OSError) as group:
        for error in leaves(group):
            print(error, file=sys.stderr)
        sys.exit(1)
    print(json.dumps(report, indent=2))


async def measure(address: Address, rows: Sequence[Row], queries: Sequence[Query]) -> dict[str, Any]:
    run = f"hot-{secrets.token_hex(4)}"
    missions = {row.group: f"{run}-{row.group}".replace("/", "-") for row in rows}
    chosen = main_categories({query.category for query in queries})
    asked = [query for query in queries if query.category in chosen]
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(Client(url, address.token, connections=CONNECTIONS))
            for url in (address.url, *address.other_urls)
        ]
        ids = await write_rows(clients[0], run, missions, rows)
        await wait_until_indexed(clients[0], run, missions, as_written(rows, ids))
        answers = {
            name: await _ask(client, asked, missions, ids)
            for name, client in zip(_MEGABYTES, clients, strict=True)
        }
    whole = [place for place in range(len(asked)) if all(each[place].whole for each in answers.values())]
    answers = {name: [each[place] for place in whole] for name, each in answers.items()}
    return {
        "questions": len(whole),
        "left out": len(asked) - len(whole),
        "figures": {name: _figures(each) for name, each in answers.items()},
        "against off": {
            name: _differing(answers["off"], each) for name, each in answers.items() if name != "off"
        },
    }


async def _ask(
    client: Client, queries: Sequence[Query], missions: Mapping[str, str], ids: Mapping[tuple[str, int], str]
) -> list[Answer]:
    progress, answers = Progress("asked", len(queries)), dict[int, Answer]()

    async def ask(place: int, query: Query) -> None:
        request = {"query": query.text, "mission_namespace": missions[query.group], "token_budget": BUDGET}
        answer = await ask_until_whole(client, {**request, "caller": CALLER, "fill": True})
        candidates = {
            (ids[query.group, each["id"]], each["chunk"]): each["score"]
            for each in answer["candidates"]
            if each["store"] == STORE
        }
        taken = frozenset(
            ids[query.group, each["id"]] for each in answer["sources"] if each["store"] == STORE
        )
        answers[place] = Answer(query, not answer["degraded"], candidates, taken)
        progress.step()

    await at_once(ask(place, query) for place, query in enumerate(queries))
    return [answers[place] for place in range(len(queries))]


def _figures(answers: Sequence[Answer]) -> dict[str, float]:
    orders = [_order(answer.candidates) for answer in answers]
    golds = [answer.query.gold for answer in answers]
    pairs = [*zip(orders, golds, strict=True)]
    return {
        "r10": round(fmean(recall(order, gold, 10) for order, gold in pairs), 4),
        "ndcg10": round(fmean(ndcg(order, gold) for order, gold in pairs), 4),
        f"b{BUDGET}": round(fmean(share(each.taken, each.query.gold) for each in answers), 4),
    }


def _order(candidates: Candidates) -> list[str]:
    """The rows, each with its best chunk."""
    return list(dict.fromkeys(row for row, _ in sorted(candidates, key=lambda key: -candidates[key])))


def _differing(expected: Sequence[Answer], found: Sequence[Answer]) -> dict[str, Any]:
    """How many candidates only one of both has, and some of them."""
    differing = [
        {"question": first.query.id, "missing": sorted(missing), "more": sorted(more)}
        for first, second in zip(expected, found, strict=True)
        for missing in [first.candidates.keys() - second.candidates.keys()]
        for more in [second.candidates.keys() - first.candidates.keys()]
        if missing or more
    ]
    scores = [
        abs(score - second.candidates[key])
        for first, second in zip(expected, found, strict=True)
        for key, score in first.candidates.items()
        if key in second.candidates
    ]
    return {
        "candidates": sum(len(answer.candidates) for answer in expected),
        "missing": sum(len(each["missing"]) for each in differing),
        "more": sum(len(each["more"]) for each in differing),
        "largest difference of a score": round(max(scores, default=0.0), 6),
        "questions": differing[:_SHOWN],
    }


if __name__ == "__main__":
    main()

"""`make bench-junk DATA=folder JUNK=folder`: no credit for junk, and an honest "nothing here answers that".

Three times the same questions: of their own conversation alone; with the asker's own memories, its peers' and a
second mission full of text from another data set; and of the wrong conversation.
"""

import argparse
import asyncio
import json
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.client import ApiError, Client, leaves
from bench.cluster import Address, cluster
from bench.quality.asking import (
    CONNECTIONS,
    Progress,
    as_written,
    ask_until_whole,
    at_once,
    raise_limits,
    wait_until_indexed,
    write_rows,
)
from bench.quality.dataset import Query, Row, load, main_categories
from bench.quality.metrics import ndcg
from local.process import LocalError

BUDGET = 2_000
_ROWS_PER_STORE = 300
_LENGTH = 600


class Answer(NamedTuple):
    group: str
    ndcg10: float
    low: bool


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.quality.junk", description=__doc__)
    parser.add_argument("data", type=Path, help="the data set that is asked")
    parser.add_argument("junk", type=Path, help="the data set that fills the other stores")
    parser.add_argument("--limit", type=int, default=0, help="the first groups only")
    arguments = parser.parse_args()
    rows, queries = load(arguments.data, arguments.limit)
    junk = [row.body["content"][:_LENGTH] for row in load(arguments.junk)[0]]
    try:
        with cluster() as address:
            report = asyncio.run(measure(address, rows, queries, junk[:: max(1, len(junk) // 900)]))
    except* (LocalError, ApiError) as group:
        for error in leaves(group):
            print(error, file=sys.stderr)
        sys.exit(1)
    for name, value in report.items():
        print(f"{name:28} {value}")
    print(json.dumps(report))


async def measure(
    address: Address, rows: Sequence[Row], queries: Sequence[Query], junk: Sequence[str]
) -> dict[str, Any]:
    run = f"junk-{secrets.token_hex(4)}"
    chosen = main_categories({query.category for query in queries})
    asked = [query for query in queries if query.category in chosen]
    missions = {row.group: f"{run}-{row.group}".replace("/", "-") for row in rows}
    async with Client(address.url, address.token, connections=CONNECTIONS) as client:
        ids = await write_rows(client, run, missions, rows)
        await wait_until_indexed(client, run, missions, as_written(rows, ids))
        alone = await _ask(client, asked, missions, ids, f"{run}-newcomer", [])
        wrong = await _ask(client, asked, _next(missions), {}, f"{run}-newcomer", [])
        extra = await _fill(client, run, junk)
        beside = await _ask(client, asked, missions, ids, f"{run}-asker", [extra])
    return _report(alone, wrong, beside)


def _next(missions: Mapping[str, str]) -> dict[str, str]:
    """Each group's mission is another group's."""
    groups = list(missions)
    return {group: missions[groups[(i + 1) % len(groups)]] for i, group in enumerate(groups)}


async def _fill(client: Client, run: str, junk: Sequence[str]) -> str:
    """Own memories, two peers' and a mission; the mission's scope."""
    n = min(_ROWS_PER_STORE, len(junk) // 3)
    own, peers, mission = junk[:n], junk[n : 2 * n], junk[2 * n : 3 * n]
    scope = f"{run}-other"
    await raise_limits(client, scope)
    writes: list[tuple[str, dict[str, Any]]] = [
        *(("/api/agent-memory/commit", _memory(f"{run}-asker", text)) for text in own),
        *(("/api/agent-memory/commit", _memory(f"{run}-peer-{i % 2}", text)) for i, text in enumerate(peers)),
    ]
    progress = Progress("junk written", len(writes) + n)

    async def write(path: str, body: dict[str, Any], key: str) -> None:
        await client.post(path, body, key=key)
        progress.step()

    await at_once(write(path, body, f"{run}:{i}") for i, (path, body) in enumerate(writes))
    entries = [
        (
            "/api/psychic-cache/write",
            {"mission_id": scope, "context_type": "intel", "intel_source": "document", "content": text},
            f"{run}:entry:{i}",
        )
        for i, text in enumerate(mission)
    ]
    await at_once(write(path, body, key) for path, body, key in entries)
    await client.indexed(iter(entries))
    return f"mission:{scope}"


def _memory(agent: str, text: str) -> dict[str, Any]:
    return {"agent_name": agent, "memory_type": "domain_pattern", "content": text}


async def _ask(
    client: Client,
    queries: Sequence[Query],
    missions: Mapping[str, str],
    ids: Mapping[tuple[str, int], str],
    caller: str,
    scopes: list[str],
) -> list[Answer]:
    progress = Progress("asked", len(queries))
    answers: list[Answer] = []

    async def ask(query: Query) -> None:
        request = {"query": query.text, "mission_namespace": missions[query.group], "token_budget": BUDGET}
        answer = await ask_until_whole(client, {**request, "caller": caller, "scopes": scopes})
        # What stands for another store's item is in no gold.
        order = [
            ids.get((query.group, c["id"]), c["handle"]) if c["store"] == "psychic_cache" else c["handle"]
            for c in sorted(answer["candidates"], key=lambda c: -c["score"])
        ]
        ranked = list(dict.fromkeys(order))
        low = answer["low_relevance"] or not answer["context_block"]
        answers.append(Answer(query.group, ndcg(ranked, query.gold), low))
        progress.step()

    await at_once(ask(query) for query in queries)
    return answers


def _report(alone: list[Answer], wrong: list[Answer], beside: list[Answer]) -> dict[str, Any]:
    groups = sorted({answer.group for answer in alone})
    halves = {"even": set(groups[::2]), "odd": set(groups[1::2])}
    report: dict[str, Any] = {"questions": len(alone), **_figures(alone, wrong, beside)}
    for name, half in halves.items():
        parts = [[answer for answer in part if answer.group in half] for part in (alone, wrong, beside)]
        if parts[0]:
            report[name] = _figures(*parts)
    return report


def _figures(alone: list[Answer], wrong: list[Answer], beside: list[Answer]) -> dict[str, float]:
    ndcg = _mean([answer.ndcg10 for answer in alone])
    emptied = _mean([0.0 if answer.low else answer.ndcg10 for answer in alone])
    with_junk = _mean([answer.ndcg10 for answer in beside])
    return {
        "ndcg10": round(ndcg, 4),
        "ndcg10_with_junk": round(with_junk, 4),
        "points_lost_to_junk": round(100 * (ndcg - with_junk), 2),
        "unanswerable_flagged": round(_mean([float(answer.low) for answer in wrong]), 4),
        "answerable_flagged": round(_mean([float(answer.low) for answer in alone]), 4),
        "points_lost_if_emptied": round(100 * (ndcg - emptied), 2),
    }


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


if __name__ == "__main__":
    main()

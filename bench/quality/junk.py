"""`make bench-junk DATA=folder JUNK=folder`: no credit for junk, and an honest "nothing here answers that".

Three times the same questions: of their own conversation alone; of the wrong conversation; and of their own with all
stores full of text from another data set: the asker's own memories, its peers', a second mission, long-term memory of
the asker, its user and everybody, files, and facts about the names that the questions contain.
"""

import argparse
import asyncio
import json
import re
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.client import ApiError, Client, leaves
from bench.cluster import Address, cluster
from bench.quality import documents
from bench.quality.asking import (
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
from bench.quality.dataset import Query, Row, load, main_categories
from bench.quality.metrics import ndcg, share
from local.process import LocalError

BUDGET = 2_000
_STORES = 6
_ROWS_PER_STORE = 300
_LENGTH = 600
_OBJECT = 60
_BATCH = 100
_NAME = re.compile(r"(?<=\w )[A-Z][a-z]{2,}")


class Answer(NamedTuple):
    group: str
    ndcg10: float
    low: bool
    in_block: float
    """The share of the gold that stands in the block."""
    facts: int
    degraded: bool


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
            spread = junk[:: max(1, len(junk) // (_STORES * _ROWS_PER_STORE))]
            report = asyncio.run(measure(address, rows, queries, spread))
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
        extra = await _fill(client, run, junk, _names(asked))
        beside = await _ask(client, asked, missions, ids, f"{run}-asker", [extra], f"{run}-user")
    return _report(alone, wrong, beside)


def _next(missions: Mapping[str, str]) -> dict[str, str]:
    """Each group's mission is another group's."""
    groups = list(missions)
    return {group: missions[groups[(i + 1) % len(groups)]] for i, group in enumerate(groups)}


def _names(queries: Sequence[Query]) -> list[str]:
    """Capitalised words of the questions, but the first ones."""
    return sorted({name for query in queries for name in _NAME.findall(query.text)})


async def _fill(client: Client, run: str, junk: Sequence[str], names: Sequence[str]) -> str:
    """All stores; the scope of the second mission."""
    n = min(_ROWS_PER_STORE, len(junk) // _STORES)
    own, peers, mission, long_term, files, facts = (junk[i * n : (i + 1) * n] for i in range(_STORES))
    scope = f"{run}-other"
    await raise_limits(client, scope)
    writes: list[tuple[str, dict[str, Any]]] = [
        *(("/api/agent-memory/commit", _memory(f"{run}-asker", text)) for text in own),
        *(("/api/agent-memory/commit", _memory(f"{run}-peer-{i % 2}", text)) for i, text in enumerate(peers)),
        *(("/api/vault/files", _file(i, text)) for i, text in enumerate(files)),
    ]
    progress = Progress("junk written", len(writes) + n)

    async def write(path: str, body: dict[str, Any], key: str) -> None:
        await client.post(path, body, key=key)
        progress.step()

    await at_once(write(path, body, f"{run}:{i}") for i, (path, body) in enumerate(writes))
    await _fill_in_batches(client, run, long_term, [_fact(names, i, text) for i, text in enumerate(facts)])
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


async def _fill_in_batches(
    client: Client, run: str, texts: Sequence[str], facts: Sequence[dict[str, Any]]
) -> None:
    scopes = [f"user:{run}-user", f"agent:{run}-asker", "shared"]
    memories = [
        {"kind": "knowledge", "content": text, "scope": scopes[i % len(scopes)]}
        for i, text in enumerate(texts)
    ]
    for start in range(0, len(texts), _BATCH):
        await client.post("/api/memory/batch", {"memories": memories[start : start + _BATCH]})
        await client.post("/api/kg/batch", {"facts": facts[start : start + _BATCH]})
    rows = [Row("last", "junk", {"content": texts[-1]})] if texts else []
    await documents.wait_until_embedded(client, {"junk": f"{run}-user"}, rows)


def _file(number: int, text: str) -> dict[str, Any]:
    return {"path": f"shared/junk-{number}.md", "text": text}


def _fact(names: Sequence[str], number: int, text: str) -> dict[str, Any]:
    subject = names[number % len(names)]
    return {"subject": subject, "predicate": "is in", "object": text[:_OBJECT], "scope": "shared"}


def _memory(agent: str, text: str) -> dict[str, Any]:
    return {"agent_name": agent, "memory_type": "domain_pattern", "content": text}


async def _ask(
    client: Client,
    queries: Sequence[Query],
    missions: Mapping[str, str],
    ids: Mapping[tuple[str, int], str],
    caller: str,
    scopes: list[str],
    user: str | None = None,
) -> list[Answer]:
    progress = Progress("asked", len(queries))
    answers: dict[int, Answer] = {}

    async def ask(place: int, query: Query) -> None:
        request = {"query": query.text, "mission_namespace": missions[query.group], "token_budget": BUDGET}
        who = {"caller": caller} if user is None else {"caller": caller, "user_id": user}
        answer = await ask_until_whole(client, {**request, **who, "scopes": scopes})
        # What stands for another store's item is in no gold.
        order = [
            ids.get((query.group, c["id"]), c["handle"]) if c["store"] == STORE else c["handle"]
            for c in sorted(answer["candidates"], key=lambda c: -c["score"])
        ]
        ranked = list(dict.fromkeys(order))
        low = answer["low_relevance"] or not answer["context_block"]
        taken = {ids.get((query.group, each["id"])) for each in answer["sources"] if each["store"] == STORE}
        found = share({name for name in taken if name is not None}, query.gold)
        facts, degraded = len(answer["graph"] or []), bool(answer["degraded"])
        answers[place] = Answer(query.group, ndcg(ranked, query.gold), low, found, facts, degraded)
        progress.step()

    await at_once(ask(place, query) for place, query in enumerate(queries))
    # What ran out of time beside the others is asked again alone: it would count as lost to junk.
    late = [place for place, answer in answers.items() if answer.degraded]
    progress = Progress("asked again, alone,", len(late))
    for place in late:
        await ask(place, queries[place])
    return list(answers.values())


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
        f"b{BUDGET}": round(_mean([answer.in_block for answer in alone]), 4),
        f"b{BUDGET}_with_junk": round(_mean([answer.in_block for answer in beside]), 4),
        "facts_in_block": round(_mean([float(answer.facts) for answer in beside]), 2),
        "degraded": sum(answer.degraded for part in (alone, wrong, beside) for answer in part),
        "unanswerable_flagged": round(_mean([float(answer.low) for answer in wrong]), 4),
        "answerable_flagged": round(_mean([float(answer.low) for answer in alone]), 4),
        "points_lost_if_emptied": round(100 * (ndcg - emptied), 2),
    }


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


if __name__ == "__main__":
    main()

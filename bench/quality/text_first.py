"""`make bench-text-first DATA=folder`: what it costs to answer from words alone where they find enough.

Each group is a user with documents, as with DOCUMENTS=1. Each question goes through the search of long-term memory once
for each threshold: the share of the question's words that ENOUGH memories must hold for words alone to answer.
`without_call` is the share of the questions for which the embedder was not asked.
"""

import argparse
import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.assemble.cluster import Cluster
from bench.client import Client
from bench.quality import documents
from bench.quality.asking import CONNECTIONS, Progress, at_once
from bench.quality.dataset import Query, load, main_categories
from bench.quality.metrics import ndcg, recall
from local.servers import temporary_folder
from services.agent_memory.long_term.schemas import SearchMemoryInput
from services.agent_memory.long_term.search import MOST, LongTermSearch
from services.agent_memory.vacancy import Vacancies
from shared.auth import Principal
from shared.concurrency.tasks import background
from shared.database.embedding_table import open_cached
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.embeddings import EmbeddingSettings
from shared.search.hot.scopes import HotScopes

# 0: whatever words find is enough; 1: it never is.
_THRESHOLDS = (0.0, 1 / 3, 1 / 2, MOST, 3 / 4, 1.0)
_SECONDS = 60.0
_MEGABYTES = 64
Ids = Mapping[tuple[str, int], str]
Open = Callable[..., LongTermSearch]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.quality.text_first", description=__doc__)
    parser.add_argument("data", type=Path, help="the data set's folder")
    parser.add_argument("--limit", type=int, default=0, help="the first groups only")
    arguments = parser.parse_args()
    with ExitStack() as cleanup:
        cluster = Cluster(cleanup.enter_context(temporary_folder("scrubjay-text-first-")), cleanup)
        report = asyncio.run(_measure(cluster, cluster.start("whole"), arguments.data, arguments.limit))
    names = list(report["thresholds"][0])
    print("".join(f"{name:>12}" for name in names))
    for each in report["thresholds"]:
        print("".join(f"{each[name]:>12}" for name in names))
    print(json.dumps(report))


async def _measure(cluster: Cluster, url: str, data: Path, limit: int) -> dict[str, Any]:
    rows, queries = load(data, limit)
    chosen = main_categories({query.category for query in queries})
    asked = [query for query in queries if query.category in chosen]
    users = {row.group: f"text-first-{secrets.token_hex(4)}-{row.group}".replace("/", "-") for row in rows}
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(url, cluster.tokens.admin, connections=CONNECTIONS))
        ids = await documents.write(client, users, rows)
        await documents.wait_until_embedded(client, users, rows)
        search = await stack.enter_async_context(_searches(cluster.database.services["agent_memory"]))
        found = [await _figures(search(most=most), most, asked, users, ids) for most in _THRESHOLDS]
    return {"questions": len(asked), "default": round(MOST, 3), "thresholds": found}


@asynccontextmanager
async def _searches(dsn: str) -> AsyncIterator[Open]:
    """The service's search with any threshold."""
    database, copies = Database(dsn, connections=CONNECTIONS, application="bench"), HotScopes(_MEGABYTES)
    embedder, _ = await open_cached(EmbeddingSettings(), database, "memory")
    try:
        await database.open()
        async with background(copies.load_forever):
            yield partial(LongTermSearch, database, embedder, Vacancies(database), copies)
    finally:
        await database.close()
        await embedder.close()


async def _figures(
    search: LongTermSearch, most: float, queries: Sequence[Query], users: Mapping[str, str], ids: Ids
) -> dict[str, float]:
    progress = Progress(f"asked at {most:.2f}", len(queries))
    arms: list[str] = []
    orders: list[tuple[list[str], Sequence[str]]] = []

    async def ask(query: Query) -> None:
        request = SearchMemoryInput(query=query.text, user_id=users[query.group], limit=20)
        found = await search.find(_WHO, request, Deadline(_SECONDS))
        arms.append(found.arm)
        orders.append(([ids[query.group, each.id] for each in found.memories], query.gold))
        progress.step()

    await at_once(ask(query) for query in queries)
    return {
        "threshold": round(most, 3),
        "without_call": round(arms.count("text") / len(arms), 4),
        "r10": round(fmean(recall(order, gold, 10) for order, gold in orders), 4),
        "ndcg10": round(fmean(ndcg(order, gold) for order, gold in orders), 4),
    }


_WHO = Principal("default", "bench", frozenset(["read"]))


if __name__ == "__main__":
    main()

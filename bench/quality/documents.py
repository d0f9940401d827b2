"""The data set as documents: each group is a user, and its turns are knowledge in the scope of that user."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from bench.client import ApiError, Client
from bench.quality.dataset import Row

STORE = "memory"
_BATCH = 100
_STALLED_SECONDS = 1_800
_OF_ENTRIES = ("context_type", "intel_source")


async def write(client: Client, users: Mapping[str, str], rows: Sequence[Row]) -> dict[tuple[str, int], str]:
    """The rows of a group in order: a turn is indexed with words of the one before it."""
    ids: dict[tuple[str, int], str] = {}
    for group, user in users.items():
        own = [row for row in rows if row.group == group]
        for start in range(0, len(own), _BATCH):
            batch = own[start : start + _BATCH]
            memories = [_memory(user, row) for row in batch]
            answer = await client.post("/api/memory/batch", {"memories": memories})
            ids |= {(group, one["id"]): row.id for row, one in zip(batch, answer["results"], strict=True)}
    return ids


def _memory(user: str, row: Row) -> dict[str, Any]:
    said = {name: value for name, value in row.body.items() if name not in _OF_ENTRIES}
    return {**said, "kind": "knowledge", "scope": f"user:{user}"}


async def wait_until_embedded(client: Client, users: Mapping[str, str], rows: Sequence[Row]) -> None:
    """Vectors come in about the order of the writes, so the last rows have theirs last."""
    last = {row.group: row for row in rows}
    for group, user in users.items():
        began = time.monotonic()
        while not await _has_vector(client, user, last[group]):
            if time.monotonic() - began > _STALLED_SECONDS:
                raise ApiError(504, f"the vectors of {user} have not come for {_STALLED_SECONDS} s")
            await asyncio.sleep(1)


async def _has_vector(client: Client, user: str, row: Row) -> bool:
    question = {"query": row.body["content"][:4_000], "caller": "bench", "user_id": user}
    answer = await client.post("/api/context/assemble", {**question, "log": False, "debug": True})
    found = [one for one in answer["candidates"] if one["store"] == STORE]
    return bool(found) and all(one["cosine"] is not None for one in found)

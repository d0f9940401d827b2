"""Hindsight's REST API: a conversation is a bank, a turn is an item with its time, retained synchronously."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from bench.client import Client
from bench.race.material import Addresses, Turn
from bench.race.worker import serve

_CONNECTIONS = 64


class Hindsight:
    batch = 50

    def __init__(self, addresses: Addresses) -> None:
        self._client = Client(addresses["hindsight"], "none", connections=_CONNECTIONS)

    async def open(self) -> None:
        await self._client.__aenter__()

    async def close(self) -> None:
        await self._client.__aexit__()

    async def open_space(self, space: str) -> None: ...

    async def write(self, space: str, turn: Turn) -> None:
        await self.write_many(space, [turn])

    async def write_many(self, space: str, turns: Sequence[Turn]) -> None:
        items = [
            {"content": turn["text"], "document_id": turn["id"], "timestamp": turn["at"]} for turn in turns
        ]
        await self._client.post(_bank(space), {"items": items, "async": False})

    async def search(self, space: str, text: str) -> list[str]:
        body = {"query": text, "budget": "mid", "max_tokens": 4096}
        found = await self._client.post(f"{_bank(space)}/recall", body)
        return list(
            dict.fromkeys(item["document_id"] for item in found["results"] if item.get("document_id"))
        )


def _bank(space: str) -> str:
    return f"/v1/default/banks/{quote(space)}/memories"


if __name__ == "__main__":
    serve(Hindsight)

"""LangGraph's Postgres store, as a library in the worker's process: its asynchronous form over a pool."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from langchain_openai import OpenAIEmbeddings  # type: ignore[import-not-found]
from langgraph.store.base import PutOp
from langgraph.store.postgres import AsyncPostgresStore

from bench.race.material import DIMENSIONS, MODEL, Addresses, Turn
from bench.race.worker import serve


class LangGraph:
    batch = 100

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses

    async def open(self) -> None:
        embed = OpenAIEmbeddings(
            model=MODEL,
            base_url=self._addresses["stub"],
            api_key="none",
            check_embedding_ctx_length=False,
        )
        self._stack = AsyncExitStack()
        store = AsyncPostgresStore.from_conn_string(
            self._addresses["dsn"]["langgraph"],
            pool_config={"min_size": 2, "max_size": 10},
            index={"dims": DIMENSIONS, "embed": embed, "fields": ["text"]},
        )
        self._store: Any = await self._stack.enter_async_context(store)
        await self._store.setup()

    async def close(self) -> None:
        await self._stack.aclose()

    async def open_space(self, space: str) -> None: ...

    async def write(self, space: str, turn: Turn) -> None:
        await self._store.aput((space, "memories"), turn["id"], _value(turn))

    async def write_many(self, space: str, turns: Sequence[Turn]) -> None:
        await self._store.abatch([PutOp((space, "memories"), turn["id"], _value(turn)) for turn in turns])

    async def search(self, space: str, text: str) -> list[str]:
        return [item.key for item in await self._store.asearch((space, "memories"), query=text, limit=20)]


def _value(turn: Turn) -> dict[str, str]:
    return {"text": turn["text"], "at": turn["at"], "session": turn["session"]}


if __name__ == "__main__":
    serve(LangGraph)

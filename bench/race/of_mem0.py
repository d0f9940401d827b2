"""mem0 as a library in the worker's process: pgvector with HNSW, one thread for each caller, no language model."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from pathlib import Path

from bench.race.material import DIMENSIONS, MODEL, Addresses, Turn
from bench.race.worker import serve


class Mem0:
    batch = 100

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses

    async def open(self) -> None:
        folder = Path(self._addresses["folder"]) / "mem0"
        folder.mkdir()
        os.environ |= {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none", "MEM0_DIR": str(folder)}
        logging.disable(logging.CRITICAL)
        # mem0 reads these variables while it is imported.
        from mem0 import Memory  # type: ignore[import-not-found]

        self._memory = Memory.from_config(self._config(str(folder)))
        # The first use makes the table; of several at once all but one would fail.
        await self.search("nobody", "anything")

    def _config(self, folder: str) -> dict[str, object]:
        store = {
            "connection_string": self._addresses["dsn"]["mem0"],
            "collection_name": "race",
            "embedding_model_dims": DIMENSIONS,
            "hnsw": True,
        }
        embedder = {"model": MODEL, "openai_base_url": self._addresses["stub"], "api_key": "none"}
        return {
            "vector_store": {"provider": "pgvector", "config": store},
            "embedder": {"provider": "openai", "config": embedder},
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
            "history_db_path": f"{folder}/history.db",
        }

    async def close(self) -> None: ...

    async def open_space(self, space: str) -> None: ...

    async def write(self, space: str, turn: Turn) -> None:
        await self._add(space, [turn])

    async def write_many(self, space: str, turns: Sequence[Turn]) -> None:
        """mem0 keeps one set of metadata for a call, so turns that are to be recognized are added one by one."""
        for turn in turns:
            await self._add(space, [turn])

    async def _add(self, space: str, turns: Sequence[Turn]) -> None:
        messages = [{"role": "user", "content": turn["text"]} for turn in turns]
        about = {"turn": turns[0]["id"], "at": turns[0]["at"], "session": turns[0]["session"]}
        await asyncio.to_thread(self._memory.add, messages, user_id=space, metadata=about, infer=False)

    async def search(self, space: str, text: str) -> list[str]:
        found = await asyncio.to_thread(self._memory.search, text, filters={"user_id": space}, top_k=20)
        return [memory["metadata"]["turn"] for memory in found["results"]]


if __name__ == "__main__":
    serve(Mem0)

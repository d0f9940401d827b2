"""An OpenAI-compatible embeddings server on 127.0.0.1 for every system: `python -m bench.race.stub PORT`.

It embeds a text with the local model once. Texts that differ only in blanks and ".?!" at their end share a vector, so
that timed texts are new to every system's cache and cost the stub nothing.
"""

from __future__ import annotations

import asyncio
import base64
import re
import sys
from typing import Any, cast

import httptools
import msgspec
import uvloop

from bench.race.material import DIMENSIONS
from shared.embeddings.english import load_model
from shared.embeddings.local import LocalEmbedder

# Hindsight appends the date to a text before it embeds it.
_SIGNS = re.compile(r"[ .?!\n]+(?=(?: \(happened [^()]*\))?$)")
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"


class Vectors:
    def __init__(self) -> None:
        self._embedder = LocalEmbedder(load_model(), threads=2)
        self._known: dict[str, bytes] = {}

    async def answer(self, request: dict[str, Any]) -> bytes:
        given = request["input"]
        texts = [given] if isinstance(given, str) else given
        plain = request.get("encoding_format") != "base64"
        rows = [
            {"object": "embedding", "index": i, "embedding": await self._of(text, plain)}
            for i, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return msgspec.json.encode(
            {"object": "list", "model": request.get("model"), "data": rows, "usage": usage}
        )

    async def _of(self, text: str, plain: bool) -> msgspec.Raw:
        bare = _SIGNS.sub("", text)
        key = f"{plain}{bare}"
        if key not in self._known:
            row = (await self._embedder.embed([bare or text], "document"))[0, :DIMENSIONS].astype("<f4")
            value = row.tolist() if plain else base64.b64encode(row.tobytes()).decode()
            self._known[key] = msgspec.json.encode(value)
        return msgspec.Raw(self._known[key])


class _Connection(asyncio.Protocol):
    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._parser = httptools.HttpRequestParser(self)
        self._bodies: asyncio.Queue[bytes] = asyncio.Queue()
        self._body = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport is not of the class asyncio.Transport.
        self._transport = cast(asyncio.Transport, transport)
        self._task = asyncio.get_running_loop().create_task(self._serve())

    def connection_lost(self, _: Exception | None) -> None:
        self._task.cancel()

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_begin(self) -> None:
        self._body = b""

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        self._bodies.put_nowait(self._body)

    async def _serve(self) -> None:
        while True:
            body = await self._bodies.get()
            answer = await self._vectors.answer(msgspec.json.decode(body)) if body else b"{}"
            self._transport.write(_HEAD % len(answer) + answer)


async def main() -> None:
    vectors = Vectors()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(vectors), "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())

"""What the fake embedding APIs share: an HTTP server on loopback with faults on demand."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import struct
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self

import numpy as np

Json = dict[str, Any]
_HTML = (503, 529)


@dataclass(frozen=True, slots=True)
class Request:
    path: str
    headers: Mapping[str, str]
    body: Json


class Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def words_vector(text: str, dimensions: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Signed feature hashing of words: texts that share words are near each other."""
    vector = np.full(dimensions, 1e-3, np.float32)
    for word in text.casefold().split():
        digest = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
        vector[digest % dimensions] += 1.0 if digest >> 63 else -1.0
    return vector


class FakeApi(ABC):
    """Modes: ok, an HTTP status as text (429 with `retry_after`), hang (until stopped or released), reset, cut (half of
    the answer), and those of the API. `ledger` holds what each answer that was sent whole says that it took.

    `script` holds modes for the next requests, one each; then `mode` holds.
    """

    key: ClassVar[str]

    def __init__(self, port: int = 0) -> None:
        self.mode = "ok"
        self.script: deque[str] = deque()
        self.retry_after: str | None = "0.05"
        self.requests: list[Request] = []
        self.ledger: list[Json] = []
        self._released = threading.Event()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.api = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def port(self) -> int:
        return self._server.server_port

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        self._server.shutdown()
        self._server.server_close()
        for connection in self._server.live:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @property
    def connections(self) -> int:
        """How many were ever opened."""
        return len(self._server.live)

    def release(self) -> None:
        """Lets go of the requests that hang."""
        self._released.set()

    @abstractmethod
    def respond(self, request: Request, mode: str) -> tuple[int, bytes]: ...

    @abstractmethod
    def error(self, message: str) -> Json: ...

    def refusal(self, refused: Refused) -> tuple[int, bytes]:
        if refused.status in _HTML:
            return refused.status, b"<html>upstream</html>"
        return refused.status, json.dumps(self.error(str(refused))).encode()


class EmbeddingApi(FakeApi):
    """Further modes: wrong_dimension, wrong_count, nan, zero, empty, not_json.

    A text with the word `failing` gets 500.
    """

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.failing: str | None = None

    def texts(self) -> list[str]:
        return [text for request in self.requests for text in request.body["input"]]

    @abstractmethod
    def dimensions(self, body: Json) -> int:
        """Of the vectors asked for. Raises Refused, as the API would."""

    @abstractmethod
    def answer(self, body: Json, data: list[Json], tokens: int) -> Json: ...

    def respond(self, request: Request, mode: str) -> tuple[int, bytes]:
        try:
            if request.path != "/v1/embeddings":
                raise Refused(404, "no such path")
            if request.headers.get("Authorization") != f"Bearer {self.key}":
                raise Refused(401, "bad key")
            if mode.isdigit():
                raise Refused(int(mode), f"asked to answer {mode}")
            if self.failing and any(self.failing in text for text in request.body["input"]):
                raise Refused(500, "these texts fail")
            return 200, self._embeddings(request.body, mode)
        except Refused as refused:
            return self.refusal(refused)

    def _embeddings(self, body: Json, mode: str) -> bytes:
        if mode == "not_json":
            return b"<html>a proxy's page</html>"
        texts = body["input"]
        if not texts or any(not text.strip() for text in texts):
            raise Refused(400, "input must not be empty")
        dimensions = self.dimensions(body) + (7 if mode == "wrong_dimension" else 0)
        vectors = [words_vector(text, dimensions) for text in texts]
        if mode == "nan":
            vectors[0][0] = np.nan
        if mode == "zero":
            vectors[0][:] = 0
        if mode == "wrong_count":
            vectors = vectors[:-1] or vectors * 2
        if mode == "empty":
            vectors = []
        form = body.get("encoding_format")
        data = [
            {"object": "embedding", "index": i, "embedding": _encoded(vector, form)}
            for i, vector in enumerate(vectors)
        ]
        return json.dumps(self.answer(body, data, sum(len(text.split()) for text in texts))).encode()


def _encoded(vector: np.ndarray[Any, np.dtype[np.float32]], form: str | None) -> str | list[float]:
    if form == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return [float(x) for x in vector]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    api: FakeApi

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.live: list[socket.socket] = []

    def handle_error(self, *_: object) -> None:
        """Clients that hang up are part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None: ...

    def setup(self) -> None:
        super().setup()
        self.server.live.append(self.connection)

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, body: Json) -> None:
        api = self.server.api
        request = Request(self.path, dict(self.headers), body)
        api.requests.append(request)
        mode = api.script.popleft() if api.script else api.mode
        if mode == "hang":
            api._released.wait()
            mode = "reset"
        if mode == "reset":
            return self._reset()
        status, payload = api.respond(request, "ok" if mode == "cut" else mode)
        if mode == "cut":
            return self._cut(status, payload)
        if status == 200 and b'"usage"' in payload:
            api.ledger.append(json.loads(payload)["usage"])
        return self._send(status, payload)

    def _send(self, status: int, payload: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if payload.startswith(b"<") else "application/json")
        self.send_header("Content-Length", str(len(payload)))
        if status == 429 and self.server.api.retry_after is not None:
            self.send_header("Retry-After", self.server.api.retry_after)
        self.end_headers()
        self.wfile.write(payload)

    def _cut(self, status: int, payload: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload[: len(payload) // 2])
        self.wfile.flush()
        self._reset()

    def _reset(self) -> None:
        # Zero linger: closing sends RST.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

"""One request of a hook, with little time and without the client's libraries."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from scrubjay._version import __version__

_MOST = 2**20


class Asking:
    """`deadline` is on the clock of time.monotonic()."""

    def __init__(self, url: str, token: str, deadline: float) -> None:
        self._address = urlsplit(url)
        self._headers = {
            "authorization": f"Bearer {token}",
            "content-type": "application/json",
            "user-agent": f"scrubjay-hook/{__version__}",
        }
        self._deadline = deadline

    def assemble(self, question: Mapping[str, Any]) -> dict[str, Any] | None:
        return self._ask("POST", "/api/context/assemble", json.dumps(question).encode())

    def checkpoint(self, session: str, mission: str) -> str:
        """The words of the session's last checkpoint; empty if it has none."""
        path = f"/api/psychic-cache/checkpoint/{quote(session, safe='')}?mission_id={quote(mission, safe='')}"
        found = self._ask("GET", path, None)
        return "" if found is None else str(found["data"].get("working_state_prose") or "")

    def _ask(self, method: str, path: str, body: bytes | None) -> dict[str, Any] | None:
        """None for a refusal. Raises OSError when nothing answers in time."""
        with self._connected() as connection:
            connection.sendall(self._head(method, path, body) + (body or b""))
            # It takes as long to load as the service takes to answer, so it is loaded meanwhile.
            from http.client import INTERNAL_SERVER_ERROR, OK, HTTPResponse

            connection.settimeout(self._left())
            response = HTTPResponse(connection, method=method)
            response.begin()
            answer = response.read(_MOST)
        if response.status >= INTERNAL_SERVER_ERROR:
            raise ConnectionError(f"the service answered {response.status}")
        found = json.loads(answer) if response.status == OK else None
        return found if isinstance(found, dict) else None

    def _connected(self) -> socket.socket:
        secure, host = self._address.scheme == "https", self._address.hostname or ""
        port = self._address.port or (443 if secure else 80)
        connection = socket.create_connection((host, port), timeout=self._left())
        if not secure:
            return connection
        # Slow to load, so only where it is needed.
        import ssl

        return ssl.create_default_context().wrap_socket(connection, server_hostname=host)

    def _head(self, method: str, path: str, body: bytes | None) -> bytes:
        """Raises ValueError for what cannot stand in a line of it."""
        headers = {
            "host": self._address.netloc.rpartition("@")[2],
            **self._headers,
            "content-length": str(len(body or b"")),
            "connection": "close",
        }
        target = f"{self._address.path.rstrip('/')}{path}"
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        if not all(map(str.isprintable, lines)):
            raise ValueError("the address and the token must be printable")
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def _left(self) -> float:
        return max(self._deadline - time.monotonic(), 0.001)

"""One request of a hook, with little time and without the client's libraries."""

from __future__ import annotations

import http.client
import json
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
        secure = self._address.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(self._address.hostname or "", self._address.port, timeout=self._left())
        try:
            connection.request(method, f"{self._address.path.rstrip('/')}{path}", body, self._headers)
            response = connection.getresponse()
            answer = response.read(_MOST)
        finally:
            connection.close()
        if response.status >= http.client.INTERNAL_SERVER_ERROR:
            raise ConnectionError(f"the service answered {response.status}")
        found = json.loads(answer) if response.status == http.client.OK else None
        return found if isinstance(found, dict) else None

    def _left(self) -> float:
        return max(self._deadline - time.monotonic(), 0.001)

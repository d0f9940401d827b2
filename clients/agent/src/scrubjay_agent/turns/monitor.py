"""What the agent does at this moment, for `monitor`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from scrubjay_agent.tools.registry import Calling


class Monitor:
    def __init__(self) -> None:
        self._now: dict[str, dict[str, Any]] = {}
        self._started = time.time()
        self.answered = 0

    @property
    def uptime(self) -> float:
        return time.time() - self._started

    def thinking(self, calling: Calling, number: int) -> None:
        self._set(calling, "thinking", number, [])

    def tools(self, calling: Calling, number: int, names: Sequence[str]) -> None:
        self._set(calling, "tools", number, names)

    def idle(self, key: str) -> None:
        self._now.pop(key, None)

    def _set(self, calling: Calling, state: str, number: int, tools: Sequence[str]) -> None:
        self._now[calling.key] = {
            "session": calling.session,
            "user": calling.message.user,
            "state": state,
            "turn": number + 1,
            "tools": list(tools),
            "since": time.time(),
        }

    def now(self) -> list[dict[str, Any]]:
        """One for each turn that goes on. None: the agent is idle."""
        return list(self._now.values())

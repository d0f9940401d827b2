"""Calls of tools whose results have not been read yet."""

from __future__ import annotations

from collections import OrderedDict

from scrubjay.transcripts.calls import ToolCall

_MOST = 500


class Waiting:
    """Forgets the oldest call when too many wait: a session that was interrupted never tells their results."""

    def __init__(self) -> None:
        self._calls: OrderedDict[str, ToolCall] = OrderedDict()

    def add(self, call: ToolCall) -> None:
        self._calls[call.id] = call
        if len(self._calls) > _MOST:
            self._calls.popitem(last=False)

    def take(self, id_: str) -> ToolCall | None:
        return self._calls.pop(id_, None)

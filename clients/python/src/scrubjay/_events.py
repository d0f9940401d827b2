"""Server-sent events, as the HTML standard reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from scrubjay._data import decode
from scrubjay.models import Event

_RETRY_SECONDS = 1.0


class Reader:
    """Text in, events out. `last` is where a stream that breaks off goes on, `retry` when."""

    def __init__(self, after: int | None) -> None:
        self.last = after
        self.retry = _RETRY_SECONDS
        self._id = after
        self._data: list[str] = []
        self._rest = ""

    def feed(self, text: str) -> Iterator[Event]:
        """Lines end with \\n or \\r\\n: JSON may hold the other characters that end lines in Python."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            if (event := self._line(line.removesuffix("\r"))) is not None:
                yield event

    def broken(self) -> None:
        """What was begun does not count: it comes again."""
        self._id, self._data, self._rest = self.last, [], ""

    def _line(self, line: str) -> Event | None:
        if line:
            self._take(*line.partition(":")[::2])
            return None
        # An id counts once its event is whole.
        self.last = self._id
        data, self._data = self._data, []
        if not data:
            return None
        event: Event = decode(Event, json.loads("\n".join(data)))
        return event

    def _take(self, name: str, value: str) -> None:
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id" and value.isdigit():
            self._id = int(value)
        elif name == "retry" and value.isdigit():
            self.retry = int(value) / 1000

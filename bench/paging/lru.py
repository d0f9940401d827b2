"""The baseline: whole messages and tool results, of which the least recently used leave the context."""

from __future__ import annotations

from collections import OrderedDict

from bench.paging.events import Event
from shared.tokens import estimate_tokens


class WholeObjects:
    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._events: OrderedDict[int, Event] = OrderedDict()
        self._tokens = 0
        self._count = 0

    def resident(self, event: Event) -> int:
        """How many characters of what the event shows stand in the context."""
        known = set[str]()
        for each in self._events.values():
            if each.key == event.key and each.kind == event.kind:
                known.update(each.text.splitlines(keepends=True))
        return sum(len(line) for line in event.text.splitlines(keepends=True) if line in known)

    def admit(self, event: Event) -> None:
        holder = next((number for number, each in self._events.items() if _holds(each, event)), None)
        if holder is not None:
            self._events.move_to_end(holder)
            return
        self._count += 1
        self._events[self._count] = event
        self._tokens += estimate_tokens(event.text)
        while self._tokens > self._budget and len(self._events) > 1:
            self._tokens -= estimate_tokens(self._events.popitem(last=False)[1].text)


def _holds(each: Event, event: Event) -> bool:
    return event.key is not None and each.key == event.key and event.text in each.text

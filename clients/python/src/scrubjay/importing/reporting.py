"""What an import tells: where records would go, which were refused, how far it is and what became of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import TextIO

from scrubjay.importing.fields import iso
from scrubjay.importing.items import File, Found, Item, LeftOut, Refused, Write
from scrubjay.importing.sending import Outcome, Written
from scrubjay.models import WriteMemoryInput

_EXCERPT = 80
_EVERY_SECONDS = 1.0
WOULD_WRITE = "would be written"
REFUSED, LEFT_OUT = "refused", "left out"


class Report:
    """Counts outcomes. Tells refusals and progress to `err`, and the plan of a dry run to `out`."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self._out, self._err = out, err
        self._counts: Counter[tuple[str, str]] = Counter()
        self._masked = 0
        self._began = self._told = time.monotonic()

    @property
    def refused(self) -> int:
        return sum(count for (_, status), count in self._counts.items() if status == REFUSED)

    def plan(self, item: Item) -> None:
        if isinstance(item, Found):
            self._count(_store(item.write), WOULD_WRITE)
            self._out.write(f"{_shown(item.place)}: {_described(item.write)}\n")
        else:
            self._unwritten(item)

    def done(self, outcome: Outcome) -> None:
        if isinstance(outcome, Written):
            self._count(_store(outcome.found.write), outcome.status)
            self._masked += outcome.masked
        else:
            self._unwritten(outcome)

    def _unwritten(self, item: Refused | LeftOut) -> None:
        status = REFUSED if isinstance(item, Refused) else LEFT_OUT
        self._count("", status)
        self._err.write(f"{status}: {_shown(item.place)}: {_shown(item.reason)}\n")

    def _count(self, store: str, status: str) -> None:
        self._counts[store, status] += 1
        now = time.monotonic()
        if now - self._told >= _EVERY_SECONDS:
            self._told = now
            total = self._counts.total()
            self._err.write(f"{total:,} so far, {total / (now - self._began):,.0f} a second\n")
            self._err.flush()

    def summary(self) -> str:
        """One line for each store, and one for what was not written."""
        lines = list(self._stores())
        lines += [
            f"{count:,} {status}" for (store, status), count in sorted(self._counts.items()) if not store
        ]
        if self._masked:
            lines.append(f"{self._masked:,} secrets masked")
        return "\n".join(lines) or "nothing to import"

    def _stores(self) -> Iterator[str]:
        for store in sorted({store for store, _ in self._counts if store}):
            counts = sorted((status, n) for (name, status), n in self._counts.items() if name == store)
            yield f"{store}: {', '.join(f'{n:,} {status}' for status, n in counts)}"


def _store(write: Write) -> str:
    if isinstance(write, File):
        return "files"
    return "memories" if isinstance(write, WriteMemoryInput) else "facts"


def _described(write: Write) -> str:
    if isinstance(write, File):
        return f"file {_shown(write.path)} ({len(write.text):,} characters)"
    if isinstance(write, WriteMemoryInput):
        when = "" if write.occurred_at is None else f" of {iso(write.occurred_at)}"
        named = "" if write.origin is None else f" {write.origin}"
        return _shown(f"{write.kind} in {write.scope}{named}{when}: ") + _shown(write.content)
    begins = "" if write.valid_from is None else f" from {iso(write.valid_from)}"
    ends = "" if write.valid_to is None else f" until {iso(write.valid_to)}"
    triple = " | ".join(map(_shown, (write.subject, write.predicate, write.object)))
    return f"fact in {_shown(write.scope or '')}{begins}{ends}: {triple}"


def _shown(text: str) -> str:
    """Text of an export on one line, without what a terminal would obey."""
    plain = "".join(each if each.isprintable() else " " for each in text[: 4 * _EXCERPT])
    return plain if len(text) <= 4 * _EXCERPT else f"{plain}…"

"""One transcript: what it told since it was last read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from scrubjay.importing.items import Refused
from scrubjay.transcripts.entries import Entry
from scrubjay.transcripts.lines import LONGEST, Line, lines
from scrubjay.transcripts.places import Place


class Reader(Protocol):
    @property
    def marks(self) -> tuple[bytes, ...]: ...

    def entries(self, record: Mapping[str, Any], line: int) -> Iterator[Entry]: ...


@dataclass(frozen=True, slots=True)
class Told:
    """What a line told, and where the next line is."""

    found: list[Entry | Refused]
    place: Place


class Transcript:
    """Keeps the calls that wait for results. Its memory does not grow with the file."""

    def __init__(self, path: Path, reader: Reader, place: Place) -> None:
        self.path = path
        self._reader = reader
        self._place = place
        self._caught_up = place.line == 1

    def told(self) -> Iterator[Told]:
        """What whole lines tell from the place on; the place moves with them."""
        with self.path.open("rb") as file:
            if not self._caught_up:
                self._catch_up(file)
            for line in lines(file, self._place.line, self._place.offset):
                found = self._entries(line)
                self._place = Place(self._place.inode, line.number + 1, line.end)
                yield Told(found, self._place)

    def _catch_up(self, file: BinaryIO) -> None:
        """Reads what was sent already, for the calls that it left waiting."""
        for line in lines(file, 1, 0):
            if line.end > self._place.offset:
                break
            if line.text is not None and any(mark in line.text for mark in self._reader.marks):
                self._entries(line)
        self._caught_up = True

    def _entries(self, line: Line) -> list[Entry | Refused]:
        place = f"{self.path.name} line {line.number}"
        if line.text is None:
            return [Refused(place, f"has more than {LONGEST:,} bytes")]
        if not line.text.strip():
            return []
        try:
            record = json.loads(line.text)
        except (ValueError, RecursionError) as error:
            return [Refused(place, f"is not JSON that can be read: {error}")]
        return list(self._reader.entries(record, line.number)) if isinstance(record, dict) else []

"""Imports transcripts: file by file, in batches, and again where it stopped."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from scrubjay.cli.settings import Settings
from scrubjay.client import Client
from scrubjay.importing.checks import checked
from scrubjay.importing.command import Connect
from scrubjay.importing.items import Found, Item, Refused, Unfit
from scrubjay.importing.placing import Placement
from scrubjay.importing.reporting import Report
from scrubjay.importing.sending import MOST, Outcome, Sender
from scrubjay.transcripts.claude_code import ClaudeCode
from scrubjay.transcripts.codex import Codex
from scrubjay.transcripts.entries import Entry, memory
from scrubjay.transcripts.following import Transcript
from scrubjay.transcripts.places import Place, Places, target

KINDS: dict[str, type[ClaudeCode] | type[Codex]] = {"claude-code": ClaudeCode, "codex": Codex}
_POLL_SECONDS = 1.0


class Tells(Protocol):
    def done(self, outcome: Outcome) -> None: ...


@dataclass(frozen=True, slots=True)
class Transcripts:
    kind: str
    path: Path | None
    placement: Placement
    agent: str | None = None
    dry_run: bool = False
    watch: bool = False
    again: bool = False

    @property
    def root(self) -> Path:
        return self.path or Path(KINDS[self.kind].home).expanduser()


def import_transcripts(order: Transcripts, found: Settings, connect: Connect, report: Report) -> None:
    """Raises ValueError where there is nothing to read."""
    if not order.root.exists():
        raise ValueError(f"{order.root} does not exist: give the path of the transcripts")
    if order.dry_run:
        for path in files(order.root):
            _plan(order, path, report)
        return
    with connect() as client, Places(target(found.url, found.token, _named(order))) as places:
        following = Following(order, client, places, report)
        following.once()
        while order.watch:
            time.sleep(_POLL_SECONDS)
            following.once()


def files(root: Path) -> Iterator[Path]:
    """The transcripts below a folder, by name; a file is itself one."""
    if root.is_file():
        yield root
    else:
        yield from sorted(path for path in root.rglob("*.jsonl") if path.is_file())


def items(entry: Entry, order: Transcripts, place: str) -> list[Item]:
    agent = order.agent or order.kind
    try:
        return [Found(place, part) for part in checked(memory(entry, order.kind, _placed(order), agent))]
    except Unfit as error:
        return [Refused(place, str(error))]


def _placed(order: Transcripts) -> Placement:
    """By default, to the agent alone: nothing of one person becomes everybody's by accident."""
    return order.placement if order.placement.scope else Placement(_named(order))


def _named(order: Transcripts) -> str:
    return order.placement.scope or f"agent:{order.agent or order.kind}"


def _plan(order: Transcripts, path: Path, report: Report) -> None:
    reader = Transcript(path, KINDS[order.kind](), Place(0))
    for told in reader.told():
        for item in _of(order, told.found, f"{path.name} line {told.place.line - 1}"):
            report.plan(item)


def _of(order: Transcripts, found: list[Entry | Refused], place: str) -> Iterator[Item]:
    for each in found:
        if isinstance(each, Entry):
            yield from items(each, order, place)
        else:
            yield each


@dataclass
class Following:
    """The transcripts that are read, and how far each was sent."""

    order: Transcripts
    client: Client
    places: Places
    report: Tells
    _sender: Sender = field(init=False)
    _known: dict[Path, Transcript] = field(default_factory=dict)
    _sizes: dict[Path, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._sender = Sender(self.client)

    def once(self) -> None:
        """Sends what is new in each file."""
        for path in files(self.order.root):
            size = path.stat().st_size
            if self._sizes.get(path) != size:
                self._send(path)
                self._sizes[path] = size
            if not self.order.watch:
                self._known.pop(path, None)

    def _send(self, path: Path) -> None:
        transcript = self._transcript(path)
        batch: list[Item] = []
        place: Place | None = None
        for told in transcript.told():
            batch += _of(self.order, told.found, f"{path.name} line {told.place.line - 1}")
            place = told.place
            if len(batch) >= MOST:
                self._flush(path, batch, place)
                batch = []
        if place is not None:
            self._flush(path, batch, place)

    def _flush(self, path: Path, batch: list[Item], place: Place) -> None:
        """The place is kept once everything before it was answered for."""
        for outcome in self._sender.outcomes(batch):
            self.report.done(outcome)
        self.places.keep(path, place)

    def _transcript(self, path: Path) -> Transcript:
        if path not in self._known:
            place = Place(path.stat().st_ino) if self.order.again else self.places.of(path)
            self._known[path] = Transcript(path, KINDS[self.order.kind](), place)
        return self._known[path]

"""The systems that can be imported, and how each export is read."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO, TypeAlias

from scrubjay.importing import folders, graphiti, hindsight, langgraph, mcp_memory, mem0
from scrubjay.importing.checks import checked
from scrubjay.importing.items import Dropped, Found, Item, LeftOut, Refused, Unfit, Write
from scrubjay.importing.json_records import Record, records
from scrubjay.importing.placing import Placement

Writes: TypeAlias = Callable[[Record], Iterator[Write]]


@dataclass(frozen=True, slots=True)
class System:
    title: str
    """What the path leads to."""
    read: Callable[[Path, Placement], Iterator[Item]]
    folder: bool = False
    """The path leads to a folder."""


def _changed(source: Path) -> datetime:
    return datetime.fromtimestamp(source.stat().st_mtime, UTC)


def _open(source: Path) -> TextIO:
    """Bytes that are no UTF-8 cost their record, not the file."""
    return source.open(encoding="utf-8-sig", errors="surrogateescape", newline="")


def _mem0(source: Path, placement: Placement) -> Iterator[Item]:
    with _open(source) as file:
        writes = partial(mem0.writes, placement=placement, at=_changed(source))
        yield from _items(file, mem0.LISTS, writes)


def _langgraph(source: Path, placement: Placement) -> Iterator[Item]:
    with _open(source) as file:
        yield from _items(file, langgraph.LISTS, partial(langgraph.writes, placement=placement))


def _mcp_memory(source: Path, placement: Placement) -> Iterator[Item]:
    with _open(source) as file:
        writes = partial(mcp_memory.writes, placement=placement, at=_changed(source))
        yield from _items(file, mcp_memory.LISTS, writes)


def _hindsight(source: Path, placement: Placement) -> Iterator[Item]:
    writes = partial(hindsight.writes, placement=placement)
    if not zipfile.is_zipfile(source):
        with _open(source) as file:
            yield from _items(file, hindsight.LISTS, writes)
        return
    with zipfile.ZipFile(source) as archive:
        for name in filter(hindsight.members, archive.namelist()):
            with archive.open(name) as member:
                file = TextIOWrapper(member, encoding="utf-8", errors="surrogateescape", newline="")
                yield from _items(file, hindsight.LISTS, writes, f"{name} ")


def _graphiti(source: Path, placement: Placement) -> Iterator[Item]:
    """Reads the file twice: for the names of its nodes, and for everything."""
    with closing(graphiti.Names()) as names:
        with _open(source) as file:
            for record in records(file, graphiti.LISTS):
                if isinstance(record, Record):
                    names.add(record)
        with _open(source) as file:
            writes = partial(graphiti.writes, placement=placement, names=names)
            yield from _items(file, graphiti.LISTS, writes)


def _claude(source: Path, placement: Placement) -> Iterator[Item]:
    return folders.files(source, f"{placement.folder()}/memories")


def _markdown(source: Path, placement: Placement) -> Iterator[Item]:
    return folders.files(source, f"{placement.folder()}/{source.resolve().name}", folders.NOTES)


def _items(file: TextIO, lists: Collection[str], writes: Writes, within: str = "") -> Iterator[Item]:
    for record in records(file, lists):
        if isinstance(record, Refused):
            yield Refused(f"{within}{record.place}", record.reason)
        else:
            yield from _of(record, writes, f"{within}{record.place}")


def _of(record: Record, writes: Writes, place: str) -> list[Item]:
    """A record is imported as a whole or not at all."""
    try:
        return [Found(place, part) for write in writes(record) for part in checked(write)]
    except Dropped as reason:
        return [LeftOut(place, str(reason))]
    except Unfit as error:
        return [Refused(place, str(error))]


SYSTEMS = {
    "mem0": System("JSON of get_all(), or of the platform's export", _mem0),
    "langgraph": System(
        "items of a LangGraph store, or rows of its table, as JSON or JSON Lines", _langgraph
    ),
    "hindsight": System("JSON of Hindsight's list of memories, or an archive that it exported", _hindsight),
    "graphiti": System("nodes, edges and episodes of Graphiti or Zep, as JSON or JSON Lines", _graphiti),
    "mcp-memory": System("the file of the MCP reference memory server", _mcp_memory),
    "claude": System("Claude's memory directory", _claude, folder=True),
    "markdown": System("a folder of Markdown", _markdown, folder=True),
}

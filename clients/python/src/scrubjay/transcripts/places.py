"""How far each transcript was sent, so that the next run goes on there."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from scrubjay.cli.settings import state_folder
from scrubjay.importing.fields import digest

_WAIT_SECONDS = 30.0
_TABLE = """
create table if not exists sent (
    target text, path text, inode integer, line integer, offset integer,
    primary key (target, path)
) without rowid
"""


@dataclass(frozen=True, slots=True)
class Place:
    """The next line of a file, and where it begins."""

    inode: int
    line: int = 1
    offset: int = 0


def target(url: str | None, token: str | None, scope: str) -> str:
    """Where transcripts go. The key stands for the tenant; another key of it sends all again, which changes nothing."""
    return f"{url} {digest(token or '')[:12]} {scope}"


class Places:
    """What is lost here is only sent again."""

    def __init__(self, target: str, file: Path | None = None) -> None:
        path = file or _path()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._target = target
        self._table = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
        self._table.execute(_TABLE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._table.close()

    def of(self, path: Path) -> Place:
        """The beginning for a file that is new, or was replaced by another."""
        now = path.stat()
        key = (self._target, str(path.resolve()))
        found = self._table.execute(
            "select inode, line, offset from sent where target = ? and path = ?", key
        ).fetchone()
        if found is None or found[0] != now.st_ino or found[2] > now.st_size:
            return Place(now.st_ino)
        return Place(*found)

    def keep(self, path: Path, place: Place) -> None:
        row = (self._target, str(path.resolve()), place.inode, place.line, place.offset)
        self._table.execute("insert or replace into sent values (?, ?, ?, ?, ?)", row)


def _path() -> Path:
    return state_folder() / "transcripts.sqlite"

"""Walks a tenant's folder and reads its files whole, beneath it. Nothing follows a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from services.agent_memory.vault.disk.files import LinkRefused, open_beneath, open_listing
from services.agent_memory.vault.folders import path_problem

MOST_FILES = 100_000
_MOST_DEPTH = 32
_TRIES = 3
_PIECE = 1 << 20


class Entry(NamedTuple):
    """A file to read, or the reason why it is none."""

    path: str
    refused: str | None = None
    unknown: bool = False
    """Nothing is known of the files below it."""


class Content(NamedTuple):
    data: bytes
    modified_at: datetime


class Unreadable(Exception):
    """`passing`: it may be readable later, so what is indexed of it stays."""

    def __init__(self, reason: str, *, passing: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.passing = passing


def walk(tenant: int) -> Iterator[Entry]:
    """The entries below a tenant's folder, by path. Names that begin with a dot are left out."""
    found = 0
    for entry in _walk(tenant, "", 0):
        found += entry.refused is None
        if found > MOST_FILES:
            yield Entry("", f"the folder has more than {MOST_FILES} files", unknown=True)
            return
        yield entry


def _walk(tenant: int, folder: str, depth: int) -> Iterator[Entry]:
    try:
        entries = _entries(tenant, folder)
    except (LinkRefused, OSError):
        yield Entry(folder, "the folder cannot be listed", unknown=True)
        return
    for name, mode in entries:
        path = f"{folder}{name}"
        if (problem := _problem(path, mode)) is not None:
            yield Entry(path, problem)
        elif not stat.S_ISDIR(mode):
            yield Entry(path)
        elif depth == _MOST_DEPTH:
            yield Entry(path, "lies too deep", unknown=True)
        else:
            yield from _walk(tenant, f"{path}/", depth + 1)


def _entries(tenant: int, folder: str) -> list[tuple[str, int]]:
    """Names and modes. A link's mode is its own."""
    listing = open_listing(tenant, folder.rstrip("/") or ".")
    try:
        with os.scandir(listing) as entries:
            shown = (entry for entry in entries if not entry.name.startswith("."))
            return sorted((entry.name, entry.stat(follow_symlinks=False).st_mode) for entry in shown)
    finally:
        os.close(listing)


def _problem(path: str, mode: int) -> str | None:
    if stat.S_ISLNK(mode):
        return "is a link"
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        return "is not a regular file"
    problem = path_problem(path)
    return None if problem is None else f"its path {problem}"


def read_file(tenant: int, path: str, most: int) -> Content:
    """A file's bytes, as they were at one time. Raises Unreadable."""
    for _ in range(_TRIES):
        try:
            descriptor = open_beneath(tenant, path, links=False)
        except LinkRefused as refused:
            raise Unreadable(_REASONS.get(refused.reason, "cannot be opened")) from refused
        try:
            content = _read_steady(descriptor, most)
        except OSError as error:
            raise Unreadable("cannot be read", passing=True) from error
        finally:
            os.close(descriptor)
        if content is not None:
            return content
    raise Unreadable("changes while it is read", passing=True)


_REASONS = {"not found": "is gone"}


def _read_steady(descriptor: int, most: int) -> Content | None:
    """None: it changed meanwhile."""
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        raise Unreadable("is not a regular file")
    if before.st_size > most:
        raise Unreadable(f"is larger than {most} bytes")
    data = _read(descriptor, before.st_size)
    after = os.fstat(descriptor)
    steady = (before.st_size, before.st_mtime_ns, before.st_ctime_ns) == (
        after.st_size,
        after.st_mtime_ns,
        after.st_ctime_ns,
    )
    if not steady or len(data) != before.st_size:
        return None
    return Content(data, datetime.fromtimestamp(before.st_mtime, UTC))


def _read(descriptor: int, size: int) -> bytes:
    """One byte more than its size, if it has grown."""
    pieces, left = [], size + 1
    while left and (piece := os.read(descriptor, min(left, _PIECE))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)

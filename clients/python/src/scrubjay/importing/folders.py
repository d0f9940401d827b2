"""Folders of files: Claude's memory directory, or notes in Markdown."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from scrubjay.importing import fields as f
from scrubjay.importing.checks import LONGEST, MOST_PIECES, checked
from scrubjay.importing.items import Dropped, File, Found, Item, LeftOut, Refused, Unfit

NOTES = (".md", ".markdown", ".mdx", ".txt")
_LARGEST = LONGEST * MOST_PIECES * 4


def files(source: Path, below: str, suffixes: tuple[str, ...] = ()) -> Iterator[Item]:
    """The folder's files in the order of their paths, as files of the vault's folder `below`.

    It leaves out links, hidden files, and files with other suffixes if any are given.
    """
    for path, unreadable in _paths(source):
        place = path.relative_to(source).as_posix()
        try:
            if unreadable is not None:
                raise unreadable
            for write in checked(_file(path, place, below, suffixes)):
                yield Found(place, write)
        except Dropped as reason:
            yield LeftOut(place, str(reason))
        except Unfit as error:
            yield Refused(place, str(error))
        except OSError as error:
            yield Refused(place, f"cannot be read: {error.strerror}")


def _paths(folder: Path) -> Iterator[tuple[Path, OSError | None]]:
    """The files, and the folders below that cannot be read, with why. Raises OSError for the folder itself.

    Does not follow links to folders, which may lead out of the folder or back into it.
    """
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path = Path(entry.path)
        if not entry.is_dir(follow_symlinks=False):
            yield path, None
        elif not entry.name.startswith("."):
            try:
                yield from _paths(path)
            except OSError as error:
                yield path, error


def _file(path: Path, place: str, below: str, suffixes: tuple[str, ...]) -> File:
    if path.is_symlink():
        raise Dropped("is a link")
    if path.name.startswith("."):
        raise Dropped("is hidden")
    if suffixes and path.suffix.lower() not in suffixes:
        raise Dropped(f"is none of {', '.join(suffixes)}")
    text, changed = _read(path)
    return File(f"{below}/{place}", text, f.past(changed))


def _read(path: Path) -> tuple[str, datetime]:
    """The text, and when it was last changed. Opens neither links nor devices."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:  # noqa: PTH123
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise Unfit("is not a file")
        data = file.read(_LARGEST + 1)
    return _text(data), datetime.fromtimestamp(found.st_mtime, UTC)


def _text(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig") if len(data) <= _LARGEST else ""
    except UnicodeDecodeError:
        raise Unfit("is not text in UTF-8") from None
    if len(data) > _LARGEST or len(text) > LONGEST * MOST_PIECES:
        raise Unfit(f"has more than {LONGEST * MOST_PIECES:,} characters")
    if not text.strip():
        raise Dropped("is empty")
    return text

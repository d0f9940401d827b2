"""What hooks keep from one call to the next: what a session wrote, how far it is, who writes for it, and whether all is
down."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scrubjay.cli.settings import state_folder

_QUIET_SECONDS = 30.0
_DAYS = 30
_UNSAFE = re.compile(r"[^\w.-]+")


def folder() -> Path:
    path = state_folder() / "hooks"
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def own(session: str) -> set[str]:
    """The handles of what the session's context holds because it said and did that itself."""
    try:
        return set(_file(session, "own").read_text(encoding="utf-8").split())
    except OSError:
        return set()


def add_own(session: str, handles: set[str]) -> None:
    """Appends: the session's writer may do so while its hooks read."""
    with _file(session, "own").open("a", encoding="utf-8") as file:
        file.write("".join(f"{handle}\n" for handle in sorted(handles)))


def position(session: str) -> int | None:
    """That of the last answer that reached the session; None: its context holds nothing of any."""
    try:
        return int(_file(session, "position").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def keep_position(session: str, position: int) -> None:
    _file(session, "position").write_text(str(position), encoding="utf-8")


def forget(session: str) -> None:
    """The session begins anew: its context holds nothing of what it was given, said or did."""
    for kind in ("own", "position"):
        _file(session, kind).unlink(missing_ok=True)


def is_down() -> bool:
    """Whether the service was away a moment ago. A session does not wait for it at every step."""
    try:
        return time.time() - (folder() / "down").stat().st_mtime < _QUIET_SECONDS
    except OSError:
        return False


def note_down() -> None:
    (folder() / "down").touch()


def is_followed(session: str) -> bool:
    """Whether a process writes what the session does."""
    with locked(session, wait=False) as mine:
        return not mine


@contextmanager
def locked(session: str, *, wait: bool) -> Iterator[bool]:
    """The right to write for the session, which ends with the process; false if another has it."""
    try:
        import fcntl  # not on Windows, where two may write: what both send is stored once
    except ImportError:
        yield True
        return
    with _file(session, "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def tidy() -> None:
    """Deletes what sessions of last month left."""
    for path in folder().iterdir():
        if time.time() - path.stat().st_mtime > _DAYS * 86_400:
            path.unlink(missing_ok=True)


def _file(session: str, kind: str) -> Path:
    return folder() / f"{_UNSAFE.sub('-', session)[:100]}.{kind}"

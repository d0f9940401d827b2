"""Where a session is: what was wanted, what was said last, and which files were changed. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from scrubjay.transcripts.entries import Entry, cut

_WANTED, _SAID, _FAILED = 1_200, 2_000, 600
_MOST_PATHS = 20


@dataclass
class Summary:
    title: str = "A session"
    turns: int = 0
    paths: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_PATHS))
    prose: str = ""


def summed_up(entries: Iterable[Entry]) -> Summary:
    """Holds a few entries at a time."""
    found = Summary()
    wanted: deque[str] = deque(maxlen=3)
    said = failed = ""
    for each in entries:
        if each.speaker == "user":
            wanted.append(each.text)
            found.turns += 1
        elif not each.about and each.speaker is None:
            said = each.text
        if "error" in each.about:
            failed = each.text
        elif each.step in ("run", "test"):
            failed = ""
        if each.step == "edit":
            _changed(found.paths, each.paths)
    found.title = " ".join(wanted[-1].split())[:200] if wanted else found.title
    found.prose = "\n\n".join(_parts(wanted, said, failed, found.paths)) or found.title
    return found


def _changed(known: deque[str], paths: Iterable[str]) -> None:
    """The file that was changed last stands last."""
    for path in paths:
        if path in known:
            known.remove(path)
        known.append(path)


def _parts(wanted: Iterable[str], said: str, failed: str, paths: Iterable[str]) -> Iterable[str]:
    yield from (f"Wanted: {cut(each, _WANTED)}" for each in wanted)
    if said:
        yield f"Said last: {cut(said, _SAID)}"
    if failed:
        yield f"Failed last: {cut(failed, _FAILED)}"
    if listed := "\n".join(paths):
        yield f"Files that were changed:\n{listed}"

"""Where a session is: what was wanted, what was said last, and which files were changed. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from scrubjay.importing.fields import is_seen
from scrubjay.transcripts.entries import Entry, cut, listed, storable

# Characters of each part: with titles, and marks of what is left out, fewer than the service's 2,000.
_WANTED, _SAID, _FAILED, _CHANGED = 250, 450, 250, 250
_MOST_WANTED, _MOST_PATHS = 3, 20


@dataclass
class Summary:
    title: str = "A session"
    turns: int = 0
    paths: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_PATHS))
    prose: str = ""


def summed_up(entries: Iterable[Entry]) -> Summary:
    """Holds a few entries at a time. Title and prose can be stored."""
    found = Summary()
    wanted: deque[str] = deque(maxlen=_MOST_WANTED)
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
            _changed(found.paths, listed(each.paths))
    title = storable(" ".join(wanted[-1].split())[:200]) if wanted else ""
    found.title = title if is_seen(title) else found.title
    found.prose = storable("\n\n".join(_parts(wanted, said, failed, found.paths))) or found.title
    return found


def _changed(known: deque[str], paths: Iterable[str]) -> None:
    """The file that was changed last stands last."""
    for path in paths:
        if path in known:
            known.remove(path)
        known.append(path)


def _parts(wanted: Iterable[str], said: str, failed: str, paths: Sequence[str]) -> Iterable[str]:
    yield from (f"Wanted: {cut(each, _WANTED)}" for each in wanted)
    if said:
        yield f"Said last: {cut(said, _SAID)}"
    if failed:
        yield f"Failed last: {cut(failed, _FAILED)}"
    if latest := _latest(paths):
        yield f"Files that were changed:\n{latest}"


def _latest(paths: Sequence[str]) -> str:
    """Those that fit, one on a line: the file that was changed last is chosen first, and stands last."""
    chosen: deque[str] = deque()
    left = _CHANGED
    for path in reversed(paths):
        if len(path) <= left:
            chosen.appendleft(path)
            left -= len(path) + 1
    return "\n".join(chosen)

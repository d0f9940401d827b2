"""What a transcript tells: one entry for each text and for each call of a tool with its result. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Literal

from scrubjay.importing.fields import origin, past, topics
from scrubjay.importing.placing import Placement
from scrubjay.models import WriteMemoryInput

Step = Literal["diff", "edit", "plan", "read", "run", "test"]

SAID = 8_000
"""Characters of what a person or an agent said."""
_LONGEST_PATH = 300
_LEFT_OUT = "[… {count:,} characters left out …]"
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,80}PRIVATE KEY[A-Z ]{0,10}-----")
_KEY_ENDS = "-----END "
_NUL = "\0"


@dataclass(frozen=True, slots=True)
class Entry:
    id: str
    """Unique among the agent's transcripts, and the same whenever the transcript is read."""
    text: str
    at: datetime | None
    session: str
    project: str = ""
    speaker: str | None = None
    """Who said it, if not the agent."""
    paths: tuple[str, ...] = ()
    step: Step | None = None
    about: tuple[str, ...] = ()
    """Topics."""
    summary: bool = False


def memory(entry: Entry, system: str, placement: Placement, agent: str) -> WriteMemoryInput:
    """Raises Unfit where the scope needs what the transcript does not say."""
    named = f"project: {entry.project}" if entry.project else ""
    return WriteMemoryInput(
        kind="summary" if entry.summary else "episode",
        content=storable(entry.text),
        scope=placement.of({"project": entry.project, "session": entry.session}),
        agent_name=agent,
        occurred_at=past(entry.at),
        session_id=entry.session[:200] or None,
        speaker=entry.speaker,
        paths=listed(entry.paths),
        step=entry.step,
        topics=topics(entry.about, [named, f"session: {entry.session}"]),
        origin=origin(system, entry.id),
        source_kind="imported",
    )


def listed(paths: Iterable[str]) -> list[str]:
    """The paths that a write may list. The text still names the others."""
    return [path for path in map(storable, paths) if 0 < len(path) <= _LONGEST_PATH]


def storable(text: str) -> str:
    """Without NUL and halves of characters, which no store takes."""
    return text.replace(_NUL, "").encode(errors="replace").decode()


def cut(text: str, most: int) -> str:
    """The beginning and the end of a text that is too long, in whole lines.

    A line is never shown without its beginning, where the word stands by which a secret is known: what is left out is
    not there, and what is there can be masked.
    """
    text = without_keys(text).strip()
    if len(text) <= most:
        return text
    head = _head(text, most * 2 // 3)
    tail = _tail(text[len(head) :], most - len(head))
    count = len(text) - len(head) - len(tail)
    return "\n".join(
        part for part in (head.rstrip(), _LEFT_OUT.format(count=count), tail.strip("\n")) if part
    )


def _head(text: str, most: int) -> str:
    """Whole lines, or whole words of the first."""
    end = text.rfind("\n", 0, most) + 1
    return text[: end or max(text.rfind(" ", 0, most), 0)]


def _tail(text: str, most: int) -> str:
    start = text.find("\n", len(text) - most) + 1
    return text[start:] if start else ""


def without_keys(text: str) -> str:
    """The text without private keys, of which a cut could leave lines that nothing shows to be secret."""
    if "PRIVATE KEY" not in text:
        return text
    return "".join(_around_keys(text))


def _around_keys(text: str) -> Iterator[str]:
    at = 0
    for begins in _PRIVATE_KEY.finditer(text):
        if begins.start() < at:
            continue
        yield text[at : begins.start()]
        yield "[private key left out]"
        ends = text.find(_KEY_ENDS, begins.end())
        line = -1 if ends < 0 else text.find("-----", ends + len(_KEY_ENDS))
        at = len(text) if line < 0 else line + len("-----")
    yield text[at:]


def without_blocks(text: str, name: str) -> str:
    """The text without <name>…</name>: what a host put into a message is not what was said."""
    begins, ends = f"<{name}", f"</{name}>"
    kept, at = [], 0
    while (start := text.find(begins, at)) >= 0 and (stop := text.find(ends, start)) >= 0:
        kept.append(text[at:start])
        at = stop + len(ends)
    return "".join([*kept, text[at:]])


def project_of(folder: object) -> str:
    """The name of the folder in which a session works."""
    return PurePath(folder).name[:80] if isinstance(folder, str) else ""


def time_of(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        return None
    return read if read.tzinfo else None

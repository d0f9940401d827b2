"""What the client knows of its items, and what no answer may show or leave out. Pure but for the clock."""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

_WORD = re.compile(r"w\d{6}q")
_RECENT = 20


@dataclass
class Version:
    """A text of an item. What changes it has a time at which it was sent, and one at which it was acknowledged.

    Times are of the monotonic clock; only `expires` is of the database's.
    """

    item: int
    scope: str
    word: str
    """In no other text."""
    shared: bool = False
    """Blocks for others show it, too."""
    born: float = field(default_factory=time.monotonic)
    expires: float = inf
    ending: float = inf
    gone: float = inf
    withheld: float = inf
    private: float = inf
    replaced: float = inf
    superseded: float = inf


class Shown(NamedTuple):
    text: str
    marked: bool
    """As superseded; True also where an answer has no room for such a mark."""


class View(NamedTuple):
    """`peers`: other agents see it, and of it only what is not private. `all`: a block, which may show those, too."""

    scope: str
    peers: bool = False
    all: bool = False


class Asked(NamedTuple):
    view: View
    word: str | None
    """That of one version; None: what all have in common was asked for."""
    began: float
    began_at: float
    """By the clock that all processes of the machine share with the database."""
    ended: float
    ended_at: float
    shown: Sequence[Shown]
    complete: bool
    """No source was left out."""


class Ledger:
    def __init__(self) -> None:
        self._versions: dict[str, Version] = {}
        self._living: dict[str, dict[str, Version]] = defaultdict(dict)
        self._expiring: dict[str, list[Version]] = defaultdict(list)
        self._recent: dict[str, deque[str]] = defaultdict(lambda: deque(maxlen=_RECENT))
        self.changes: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.asked = self.incomplete = self.wanted = 0

    def living(self, scope: str) -> list[Version]:
        """The oldest first. Those that expire are not among them."""
        return list(self._living[scope].values())

    def expiring(self, scope: str) -> list[Version]:
        """Those that were written to expire, and may not have done so yet."""
        return list(self._expiring[scope])

    def recent(self, scope: str) -> Sequence[str]:
        """Words of what ended last."""
        return self._recent[scope]

    def add(self, version: Version) -> None:
        self._versions[version.word] = version
        if version.expires == inf:
            self._living[version.scope][version.word] = version
        else:
            self._expiring[version.scope].append(version)
            self._recent[version.scope].append(version.word)

    def end(self, versions: Sequence[Version]) -> None:
        """What the client has asked to be ended, and may still be shown."""
        for version in versions:
            version.ending = time.monotonic()

    def ended(self, versions: Sequence[Version]) -> None:
        for version in versions:
            version.gone = time.monotonic()
            self._living[version.scope].pop(version.word, None)
            self._expiring[version.scope] = [
                one for one in self._expiring[version.scope] if one is not version
            ]
            self._recent[version.scope].append(version.word)

    def judge(self, asked: Asked) -> None:
        self.asked += 1
        self.incomplete += not asked.complete
        shown = {word: each for each in asked.shown for word in _WORD.findall(each.text)}
        for word, each in shown.items():
            version = self._versions.get(word)
            # One whose write is not acknowledged yet has no version.
            if version is not None and (what := _wrong(version, each, asked)):
                self.wrong[what] += 1
        wanted = self._versions.get(asked.word or "")
        if wanted is not None and asked.complete and _must_be_found(wanted, asked):
            self.wanted += 1
            self.wrong["a committed item missed"] += wanted.word not in shown
        self.wrong = +self.wrong


def _wrong(version: Version, shown: Shown, asked: Asked) -> str | None:
    if version.gone < asked.began:
        return "an erased item shown"
    if version.expires < asked.began_at:
        return "an expired item shown"
    if version.superseded < asked.began and not shown.marked:
        return "a superseded item shown unmarked"
    others = version.scope != asked.view.scope
    if others and not (asked.view.all and version.shared):
        return "an item of another scope shown"
    if version.private < asked.began and (others or asked.view.peers):
        return "a private item shown"
    return None


def _must_be_found(version: Version, asked: Asked) -> bool:
    """It was committed before the question, and nobody has begun to change it before the answer."""
    stays = min(version.ending, version.replaced, version.withheld if asked.view.peers else inf)
    return version.born < asked.began and stays > asked.ended and version.expires > asked.ended_at

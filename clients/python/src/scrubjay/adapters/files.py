"""Texts by their paths, as files of the vault: search and assembly find them, and a purge erases them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, unquote

from scrubjay import models
from scrubjay._call import Call, PagedCall
from scrubjay.adapters.sending import Steps
from scrubjay.calls import vault as calls

_PAGE = 1_000
_MOST_FOUND = 50
# While a file's vector is made. One that has none for longer is found by its words.
_PAUSES = (0.02, 0.04, 0.08, 0.15, 0.25, 0.4)
_FRESH = timedelta(seconds=10)


class Files:
    """Those in a folder of an agent, a mission or a user; of none, in the one that all of the tenant share."""

    def __init__(
        self, folder: str, *, agent: str | None = None, mission: str | None = None, user: str | None = None
    ) -> None:
        """Raises ValueError for more than one party, and for one whose name cannot be a folder's."""
        named = [
            (kind, name)
            for kind, name in (("agents", agent), ("missions", mission), ("users", user))
            if name is not None
        ]
        if len(named) > 1 or any("/" in name or name in ("", ".", "..") for _, name in named):
            raise ValueError("name an agent, a mission or a user, by a name without slashes, or none of them")
        self._root = "/".join([*(named[0] if named else ["shared"]), folder, ""])
        self._parties: dict[str, Any] = {"agent_name": agent, "mission_namespace": mission, "user_id": user}

    def read(self, paths: Sequence[str]) -> Steps[list[str | None]]:
        """None for those that are not there."""
        answers = yield [calls.read(path=self._root + path) for path in paths]
        texts: list[str | None] = []
        for path, lines in zip(paths, answers, strict=True):
            whole = lines is None or lines.next_line is None
            texts.append((lines and lines.text) if whole else (yield from self._long(path)))
        return texts

    def _long(self, path: str) -> Steps[str | None]:
        """A text that is longer than an answer."""
        while True:
            (page,) = yield [calls.list_(folder=self._root + path, limit=1)]
            if not page.data or page.data[0].path != self._root + path:
                return None
            answers = yield [calls.part(part) for part in page.data[0].ids]
            if None not in answers:  # Else it was just replaced.
                return "".join(answer.part.text for answer in answers)

    def write(self, texts: dict[str, str]) -> Steps[None]:
        yield [calls.put(text, path=self._root + path) for path, text in texts.items()]

    def remove(self, paths: Sequence[str]) -> Steps[list[bool]]:
        """Whether each was there."""
        answers = yield [calls.remove(path=self._root + path) for path in paths]
        return [answer is not None for answer in answers]

    def listed(self, beginning: str = "") -> Steps[list[models.VaultFile]]:
        """The files whose path begins so, each with its path below the folder."""
        found: list[models.VaultFile] = []
        call: PagedCall[models.VaultFiles, models.VaultFile] | None = calls.list_(
            folder=self._root + beginning, limit=_PAGE
        )
        while call is not None:
            (page,) = yield [call]
            found += page.data
            call = None if page.next is None else call.following(page.next)
        return found

    def settled(self, beginning: str = "") -> Steps[list[models.VaultFile]]:
        """As `listed`, once what was just written is found by its meaning, too: pages of a ranking that changes between
        them repeat items."""
        for pause in _PAUSES:
            listed = yield from self.listed(beginning)
            since = datetime.now(UTC) - _FRESH
            if all(file.indexed or file.created_at < since for file in listed):
                return listed
            yield pause
        return (yield from self.listed(beginning))

    def search(self, query: str, beginning: str = "") -> Steps[list[models.FoundPassage]]:
        """The best passage of each file, the most relevant first: of fifty files at most."""
        call: Call[models.FoundFiles] = calls.search(
            query, folder=self._root + beginning, limit=_MOST_FOUND, **self._parties
        )
        (found,) = yield [call]
        files: list[models.FoundPassage] = found.files
        return files

    def below(self, path: str) -> str:
        """A file's path, below the folder."""
        return path.removeprefix(self._root)


def step_of(label: str) -> str:
    """A step of a path for any name. People read names in their own script; what a path cannot hold is escaped."""
    if label in ("", ".", ".."):
        return label.replace(".", "%2E") or "%"
    return "".join(
        letter
        if letter.isprintable() and letter not in "/%#"
        else quote(letter, safe="", errors="surrogatepass")
        for letter in label
    )


def label_of(step: str) -> str:
    """The name that a step was made for."""
    return "" if step == "%" else unquote(step, errors="surrogatepass")

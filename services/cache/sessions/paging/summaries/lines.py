"""The lines of a text that say most, by the kind of text. Pure.

A rank is 0 for what a reader looks for first; lines of one rank are taken in the order of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from services.cache.sessions.paging.segmentation import Kind, code
from services.cache.sessions.paging.segmentation.kinds import LANGUAGES, extension_of
from services.cache.sessions.paging.segmentation.prose import headings

BLANK = 9
_REST = 6
_DIGITS = re.compile(r"\d+")
_TROUBLE = re.compile(
    r"error|exception|fail|fatal|panic|traceback|denied|refused|timed? ?out|not found|warn|assert", re.I
)
_OUTCOME = re.compile(
    r"\b\d+ (?:passed|failed|errors?|warnings?|skipped)\b|exit code|^\s*(?:OK|FAILED|PASSED)\b", re.I
)
_IMPORT = ("import ", "from ", "#include", "use ", "using ", "require", "package ")
_RESULT = ("return", "raise", "throw", "yield", "assert")
_DOCUMENTATION = ('"""', "'''", "/**", "///", "* ", "//!", "#:")
_LIST = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]\S")


def ranks(lines: Sequence[str], kind: Kind, heads: Collection[int]) -> list[int]:
    """One rank for each plain line. `heads` are the rows of what the text defines."""
    found = _RANKED[kind](lines, heads)
    return [BLANK if not line.strip() else rank for line, rank in zip(lines, found, strict=True)]


def defined(
    lines: Sequence[str], kind: Kind, path: str | None = None, *, parsed: bool = True
) -> list[tuple[int, str]]:
    """The line and name of what a text defines: functions and classes if it is `parsed`, headings, files of a diff."""
    if kind == "code":
        return _definitions(lines, path) if parsed else []
    if kind == "prose":
        return [(row, title) for row, _, title in headings(lines) if title]
    if kind == "diff":
        return [
            (row, line.split()[-1])
            for row, line in enumerate(lines)
            if line.startswith(("+++ ", "diff --git "))
        ]
    return []


def _definitions(lines: Sequence[str], path: str | None) -> list[tuple[int, str]]:
    language = LANGUAGES.get(extension_of(path))
    root = None if language is None else code.parse(lines, language)
    if root is None:
        return []
    return [
        (node.start_point.row, name)
        for node in code.definitions(root)
        if (name := code.name_of(node)) and name in lines[node.start_point.row]
    ]


def _of_code(lines: Sequence[str], heads: Collection[int]) -> list[int]:
    return [0 if row in heads else _of_statement(line.strip()) for row, line in enumerate(lines)]


def _of_statement(line: str) -> int:
    if line.startswith(
        ("def ", "class ", "async def ", "func ", "fn ", "pub ", "export ", "interface ", "type ")
    ):
        return 0
    if line.startswith(_DOCUMENTATION):
        return 1
    if line.startswith((*_IMPORT, "@")):
        return 3
    if line.startswith(_RESULT):
        return 2
    if line.startswith(
        ("if ", "for ", "while ", "elif ", "else", "with ", "try", "except", "case ", "switch")
    ):
        return 4
    return BLANK if len(line) < 3 else _REST


def _of_prose(lines: Sequence[str], heads: Collection[int]) -> list[int]:
    return [
        0 if row in heads else 1 if _opens(lines, row) else 2 if _LIST.match(lines[row].lstrip()) else _REST
        for row in range(len(lines))
    ]


def _opens(lines: Sequence[str], row: int) -> bool:
    """Whether a paragraph begins here."""
    return row == 0 or not lines[row - 1].strip()


def _of_json(lines: Sequence[str], _: Collection[int]) -> list[int]:
    """Outer keys first."""
    return [min(_REST, (len(line) - len(line.lstrip())) // 2) for line in lines]


def _of_diff(lines: Sequence[str], _: Collection[int]) -> list[int]:
    return [
        0 if line.startswith(("diff --git ", "+++ ", "@@")) else 1 if line.startswith(("+", "-")) else _REST
        for line in lines
    ]


def _of_log(lines: Sequence[str], _: Collection[int]) -> list[int]:
    """Trouble and outcomes, the first and last lines, one of each pattern, then the rest."""
    known: set[str] = set()
    found: list[int] = []
    for row, line in enumerate(lines):
        pattern = _DIGITS.sub("0", line[:200]).strip()
        is_new = pattern not in known
        known.add(pattern)
        found.append(_of_record(line[:500], is_new, row in (0, len(lines) - 1)))
    return found


def _of_record(line: str, is_new: bool, is_edge: bool) -> int:
    if _OUTCOME.search(line):
        return 0
    if _TROUBLE.search(line):
        return 1 if is_new else 4
    return 2 if is_edge else 3 if is_new else _REST


_RANKED: Mapping[Kind, Callable[[Sequence[str], Collection[int]], list[int]]] = {
    "code": _of_code,
    "prose": _of_prose,
    "diff": _of_diff,
    "json": _of_json,
    "log": _of_log,
}

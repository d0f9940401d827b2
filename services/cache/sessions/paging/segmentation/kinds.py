"""What kind of text a tool returned, by its path and its first lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal

Kind = Literal["code", "prose", "diff", "json", "log"]
"""The kinds that are cut and shortened by different rules. What nothing else fits is a log."""

LANGUAGES: Mapping[str, str] = {
    extension: language
    for language, extensions in {
        "c": "c h",
        "c_sharp": "cs",
        "cpp": "cc cpp cxx hh hpp hxx",
        "go": "go",
        "java": "java",
        "javascript": "js jsx mjs cjs",
        "json": "json ipynb",
        "php": "php",
        "python": "py pyi",
        "ruby": "rb",
        "rust": "rs",
        "tsx": "tsx",
        "typescript": "ts mts cts",
    }.items()
    for extension in extensions.split()
}
"""The grammar of a file, by its extension."""

_PROSE = frozenset({"md", "markdown", "rst", "txt", "adoc"})
_DIFF = frozenset({"diff", "patch"})
_HUNK = re.compile(r"@@ -\d")
_HEADING = re.compile(r"#{1,6} \S")
_SAMPLE = 60
# A text of this many words a line, on average, is written to be read.
_WORDS_OF_PROSE = 9


def kind_of(lines: Sequence[str], path: str | None = None) -> Kind:
    extension = extension_of(path)
    if extension in _DIFF or _is_diff(lines):
        return "diff"
    if extension in _PROSE:
        return "prose"
    if extension in LANGUAGES:
        return "json" if LANGUAGES[extension] == "json" else "code"
    return _kind_without_path([line for line in lines[:_SAMPLE] if line.strip()])


def extension_of(path: str | None) -> str:
    """In lower case and without its dot. A command is no path."""
    return "" if path is None or " " in path else PurePosixPath(path).suffix[1:].lower()


def _kind_without_path(sample: Sequence[str]) -> Kind:
    if sample and sample[0].lstrip()[:1] in ("{", "[") and sample[0].lstrip()[1:2] in ("", '"', "{", "["):
        return "json"
    words = sum(len(line[:500].split()) for line in sample)
    if any(map(_HEADING.match, sample)) or words >= _WORDS_OF_PROSE * max(1, len(sample)):
        return "prose"
    return "log"


def _is_diff(lines: Sequence[str]) -> bool:
    return any(line.startswith("diff --git ") or _HUNK.match(line) for line in lines[:_SAMPLE])

"""An agent's session as events, and what can be read out of its texts: definitions, errors, paths, sentences.

A line of a transcript is {seq, kind, tool, key, text} with kind user, assistant, tool_call or tool_result.
Line numbers of file listings and the JSON around a call's arguments are taken out. Pure but for `load`.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from shared.tokens import CHARACTERS_PER_TOKEN, estimate_tokens

_ARROW_NUMBERS = re.compile(r"^ *\d+→", re.M)
_COLON_NUMBERS = re.compile(r"^\d+:", re.M)
_LISTING = re.compile(r"^\[File: (\S+) \((\d+) lines total\)\]|<<<<< START CURSOR", re.M)
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.S)
# Tools that show a file.
READS = {"read", "open", "view", "cat", "goto", "scroll_down", "scroll_up", "set_cursors"}
_PATH_FIELDS = ("file_path", "path", "notebook_path")

_PYTHON = re.compile(r"^([ \t]*)(?:(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(|class[ \t]+(\w+)[ \t]*[(:])", re.M)
_BRACES = re.compile(
    r"^([ \t]*)("
    r"(?:export[ \t]+)?(?:default[ \t]+)?(?:async[ \t]+)?function[ \t*]+(?P<js>\w+)[ \t]*\([^)]*\)[^{\n]*"
    r"|(?:export[ \t]+)?(?:const|let)[ \t]+(?P<arrow>\w+)[ \t]*=[ \t]*(?:async[ \t]*)?\([^)]*\)[^=\n]*=>"
    r"|func[ \t]+(?:\([^)]*\)[ \t]*)?(?P<go>\w+)\([^)]*\)[^{\n]*"
    r"|(?:pub[ \t]+)?(?:async[ \t]+)?fn[ \t]+(?P<rust>\w+)[^{;]*"
    r"|sub[ \t]+(?P<perl>\w+)"
    r"|(?!return\b|else\b)[A-Za-z_][\w<>:*&, \t\[\]]*?[ \t*&](?P<c>[A-Za-z_]\w*)\([^;{}()]*\)[^;{}()\n]*"
    r")\s*(?=\{)",
    re.M,
)
_CONSTANT = re.compile(r"^([A-Z][A-Z0-9_]{2,})[ \t]*(?::[^=\n]+)?=[ \t]*\S.*$", re.M)
_KEYWORDS = {"if", "for", "while", "switch", "catch", "return", "else", "sizeof"}
_LONGEST_SIGNATURE = 600

_NAMED_ERROR = re.compile(r"\b([A-Z]\w*(?:Error|Exception))\b(?::\s+\S|\s+while\s)")
_FAILED = re.compile(
    r"^Exit code [1-9]|^Traceback|^(?:\w+\.)*\w+Error: |\bE\d{3} |syntax error|\btimed out\b|^Wrong |^fatal:",
    re.M | re.I,
)
_DOCSTRING = re.compile(r"\s*[rub]?(?:\"\"\"|\'\'\')\s*(.+?)\s*(?:\n|\"\"\"|\'\'\')")
# Where a class's methods begin, or the class ends.
_METHODS = re.compile(r"^[ \t]+(?:async )?(?:def )|^[ \t]*@|^\S", re.M)
_FIELD = re.compile(r"^[ \t]+(\w+:[ \t]*[^=\n#]+?)[ \t]*(?:=.*|#.*)?$")
_ERROR = re.compile(
    r"\b(?:error|fatal|failed|failure|denied|refused|cannot|not found|no such file|no module named|timed out)\b"
    r"|\b\w+(?:Error|Exception)\b|^Exit code [1-9]|^Wrong ",
    re.I,
)
_PATH = re.compile(r"(?:https?://[^\s\"'<>()\[\]|`,;]+|/?(?:[\w.@+~-]+/)+[\w.@+-]+)")
_SENTENCE = re.compile(r"\s*\n+\s*(?:[-*]\s+|\d+[.)]\s+)?|(?<=[.!?:])\s+(?=[\"'`(*A-Z0-9-])|\s+(?=\(\d\)\s)")


class Event(NamedTuple):
    """`arguments` are a call's, where it gave them as JSON."""

    seq: int
    kind: str
    tool: str
    key: str
    text: str
    arguments: dict[str, Any]

    @property
    def path(self) -> str | None:
        """The file that a call or its result is about."""
        for field in _PATH_FIELDS:
            if self.arguments.get(field):
                return str(self.arguments[field])
        is_path = self.key and "\n" not in self.key and " " not in self.key and base(self.key) != self.key
        return self.key if is_path else None


class Definition(NamedTuple):
    """`note` is the first line of its docstring, with a class's fields."""

    name: str
    signature: str
    kind: str
    indent: int
    note: str = ""


def load(path: Path) -> list[Event]:
    return [event(line) for line in json_lines(path)]


def json_lines(path: Path) -> list[dict[str, Any]]:
    """Only a newline ends a line: JSON strings may hold what else `splitlines` takes for an end."""
    return [json.loads(line) for line in path.read_text().split("\n") if line.strip()]


def event(line: dict[str, Any]) -> Event:
    text, arguments = line["text"] or "", {}
    if line["kind"] == "tool_call":
        arguments = _arguments(text)
        if arguments:
            text = "\n".join(
                value if isinstance(value, str) else json.dumps(value) for value in arguments.values()
            )
    return Event(line["seq"], line["kind"], line["tool"] or "", line["key"] or "", clean(text), arguments)


def _arguments(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def clean(text: str) -> str:
    """Without line numbers and reminders, and without what no API takes: NUL and lone surrogates."""
    text = text.replace("\0", "").encode(errors="replace").decode()
    text = _ARROW_NUMBERS.sub("", _REMINDER.sub("", text))
    return _COLON_NUMBERS.sub("", text) if _LISTING.search(text) else text


def normal(text: str) -> str:
    """Whitespace does not count when texts are compared."""
    return " ".join(text.split())


def whole(events: Sequence[Event]) -> str:
    return "\n".join(one.text for one in events)


def tail(events: Sequence[Event], tokens: int) -> str:
    """The last `tokens` of a transcript."""
    return whole(events)[-tokens * CHARACTERS_PER_TOKEN :] if tokens > 0 else ""


def tokens_of(events: Sequence[Event]) -> int:
    return estimate_tokens(whole(events))


def base(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]


@lru_cache(maxsize=1024)
def definitions(text: str) -> tuple[Definition, ...]:
    """Functions, classes and constants that a piece of code defines, in its order, signatures on one line."""
    found = [(match.start(), _python(text, match)) for match in _PYTHON.finditer(text)]
    for match in _BRACES.finditer(text):
        name = next(value for value in match.groupdict().values() if value)
        if name not in _KEYWORDS:
            signature = normal(match[2])
            found.append((match.start(), Definition(name, signature, "function", _width(match[1]))))
    found += [
        (match.start(), Definition(match[1], normal(match[0])[:200], "constant", 0))
        for match in _CONSTANT.finditer(text)
    ]
    return tuple(one for _, one in sorted(found, key=lambda pair: pair[0]) if one)


def _python(text: str, match: re.Match[str]) -> Definition | None:
    """From `def` to the colon outside of all brackets; None where there is none: prose, or cut code."""
    name = match[2] or match[3]
    start = match.start() + len(match[1])
    depth = 0
    for place in range(start, min(len(text), start + _LONGEST_SIGNATURE)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[place], 0)
        if text[place] == ":" and depth == 0:
            signature = normal(text[start : place + 1])
            kind, note = ("class", _class_note) if match[3] else ("function", _purpose)
            return Definition(name, signature, kind, _width(match[1]), note(text[place + 1 :][:2000]))
    return None


def _purpose(body: str) -> str:
    match = _DOCSTRING.match(body)
    return match[1][:160] if match else ""


def _class_note(body: str) -> str:
    above = _METHODS.split(body, maxsplit=1)[0].splitlines()
    fields = [match[1] for line in above if (match := _FIELD.match(line))]
    return "; ".join(part for part in (_purpose(body), ", ".join(fields[:20])) if part)


def _width(indent: str) -> int:
    return len(indent.expandtabs(4))


def errors(text: str) -> list[str]:
    """Lines that say what went wrong, without repeats."""
    lines = (line.strip() for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if 8 <= len(line) <= 300 and _ERROR.search(line)))


def failed(text: str) -> bool:
    """Whether an output says that its command did not do its work."""
    return bool(_FAILED.search(text))


def error_name(line: str) -> str | None:
    match = _NAMED_ERROR.search(line)
    return match[1] if match else None


def paths(text: str) -> Iterator[str]:
    """Paths of at least one folder and URLs, without what surrounds them in prose."""
    for match in _PATH.finditer(text):
        yield match[0].rstrip(".:")


@lru_cache(maxsize=1024)
def sentences(text: str) -> tuple[str, ...]:
    parts = (part.strip() for part in _SENTENCE.split(text.strip()))
    return tuple(part for part in parts if part)

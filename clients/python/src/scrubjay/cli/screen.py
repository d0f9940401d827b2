"""What a command prints: tables for people, JSON for programs. Nothing that is stored can steer the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scrubjay._data import encode

_PIPE_WIDTH = 160
_KEPT = "\n\t"
_UNITS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"))


class Screen:
    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.out = _console(sys.stdout)
        self.err = _console(sys.stderr)

    def json(self, value: Any) -> None:
        """One document on one line."""
        sys.stdout.write(f"{json.dumps(encode(value), ensure_ascii=False)}\n")
        sys.stdout.flush()

    def jsons(self, values: Iterable[Any]) -> None:
        for value in values:
            self.json(value)

    def text(self, text: str, style: str = "") -> None:
        self.out.print(Text(plain(text), style), soft_wrap=True)

    def note(self, text: str) -> None:
        """Beside the result, for people only."""
        self.err.print(Text(plain(text), "dim"), soft_wrap=True)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, empty: str = "nothing") -> None:
        """Columns whose title ends with `#` hold numbers; the last column takes the room that is left."""
        shown = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
        for title in columns:
            number = title.endswith("#")
            last = title == columns[-1]
            shown.add_column(
                title.rstrip("#"),
                justify="right" if number else "left",
                no_wrap=number,
                overflow="fold",
                ratio=1 if last and not number else None,
            )
        for row in rows:
            shown.add_row(*(Text(cell(value)) for value in row))
        if shown.row_count:
            self.out.print(shown)
        else:
            self.note(empty)


def _console(file: Any) -> Console:
    """What is piped has lines as long as they need, up to a limit."""
    width = None if file.isatty() else _PIPE_WIDTH
    return Console(file=file, width=width, highlight=False, markup=False, emoji=False)


def plain(text: str) -> str:
    """The text without what a terminal would obey."""
    return "".join(
        each if each.isprintable() or each in _KEPT else "\N{REPLACEMENT CHARACTER}" for each in text
    )


def cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return plain(str(value)).replace("\t", " ")


def ago(then: datetime) -> str:
    seconds = max((datetime.now(UTC) - then).total_seconds(), 0.0)
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"


def shortened(text: str, length: int = 240) -> str:
    """One line of it."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"

"""The page that says what each statement reaches: docs/statements.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from shared.database.distribution import LOCAL
from tools.distribution import exceptions
from tools.distribution.collected import ROOT
from tools.distribution.report import Class, Entry
from tools.distribution.rules import RULES

PAGE = ROOT / "docs" / "statements.md"
_HEAD = """# What each statement reaches

`make statements` writes this page from the code, and `make check` fails when it is not up to date.

A statement of **one tenant** compares the tenant of each table with a value that it is given. Where tables are
distributed by tenant, one node answers it. A **local** statement reaches no tenant's table. A **background** statement
reaches rows of several tenants. Each of those is named below with its reason, and no request waits for one.

## The rules
"""


def rendered(entries: list[Entry]) -> str:
    parts = [_HEAD, _rules(), _counts(entries), _keys(), _exceptions(), _local(), *_statements(entries)]
    return "\n".join(parts)


def _rules() -> str:
    return "\n".join(f"- **{name}**: {rule}" for name, rule in RULES.items()) + "\n"


def _counts(entries: list[Entry]) -> str:
    counted = Counter(entry.reaches for entry in entries)
    rows = (
        f"| {kind.words} | {counted[kind]} |" for kind in (Class.ONE_TENANT, Class.LOCAL, Class.BACKGROUND)
    )
    return "\n".join(["## How many", "", "| | statements and functions |", "|---|---|", *rows, ""])


def _keys() -> str:
    return _reasons("## Keys without the tenant", "key", exceptions.KEYS.items())


def _local() -> str:
    return _reasons("## Tables that are not distributed", "table", LOCAL.items())


def _reasons(title: str, what: str, reasons: object) -> str:
    rows = [f"| `{name}` | {reason} |" for name, reason in reasons]  # type: ignore[attr-defined]
    return "\n".join([title, "", f"| {what} | why |", "|---|---|", *rows, ""])


def _exceptions() -> str:
    rows = (
        f"| `{name}` | {', '.join(rule for rule in RULES if rule in rules)} | {reason} |"
        for name, (rules, reason) in exceptions.STATEMENTS.items()
    )
    head = ["## What breaks a rule and stays", "", "| statement | rules | why |", "|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def _statements(entries: list[Entry]) -> Iterator[str]:
    yield "## Every statement\n"
    for group, members in groupby(entries, lambda entry: entry.group):
        rows = (
            f"| `{entry.name.removeprefix(group + ':')}` | {entry.reaches.words} | {', '.join(sorted(entry.tables))} |"
            for entry in members
        )
        yield "\n".join([f"### {group}", "", "| | reaches | tables |", "|---|---|---|", *rows, ""])

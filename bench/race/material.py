"""The conversations and questions of a race, as every worker reads them. Standard library only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict


class Turn(TypedDict):
    id: str
    group: str
    session: str
    seq: int
    at: str
    speaker: str
    content: str
    text: str
    """Speaker and content, for systems without a field for the speaker."""


class Question(TypedDict):
    group: str
    text: str
    gold: list[str]


class Material(TypedDict):
    turns: list[Turn]
    questions: list[Question]


class Addresses(TypedDict):
    """Where the servers are. `dsn` and `keys` are by database and by tenant."""

    folder: str
    stub: str
    context: str
    hindsight: str
    dsn: dict[str, str]
    keys: dict[str, str]


MODEL, DIMENSIONS = "bge-small-en-v1.5-int8", 384


def read(folder: Path) -> tuple[Material, Addresses]:
    return json.loads((folder / "material.json").read_text()), json.loads(
        (folder / "addresses.json").read_text()
    )


def write(folder: Path, material: Material, addresses: Addresses) -> None:
    (folder / "material.json").write_text(json.dumps(material))
    (folder / "addresses.json").write_text(json.dumps(addresses))


def marked(text: str, mark: int) -> str:
    """The same words as another text, so that no cache of vectors knows it. The stub ignores the marks."""
    return f"{text} {'?' * mark}" if mark else text

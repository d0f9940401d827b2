"""The answers that the document shows: a real cluster's answers to the examples, kept in recorded.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from local.stack import Stack
from services.context.keys.verification import PREFIX
from services.context.webhooks.signing import PREFIX as SECRET
from tools.openapi.examples import EXAMPLES
from tools.openapi.playing import Player

_FILE = Path(__file__).with_name("recorded.json")


def recorded() -> dict[str, Any]:
    """`kept` holds the values of each `$name`, `answers` the first answer by operation and media type."""
    return dict(json.loads(_FILE.read_text()))


def is_complete() -> bool:
    return {(e.operation, e.title) for e in EXAMPLES} == {tuple(one) for one in recorded()["played"]}


def record(document: Mapping[str, Any]) -> None:
    """Plays the examples on a cluster of its own. Raises RuntimeError when a request is refused."""
    with TemporaryDirectory(prefix="scrubjay-") as folder:
        stack = Stack(Path(folder), {"SCRUBJAY_SAMPLE": "no"})
        try:
            stack.start()
            _write(Player(stack.services["context"].url, stack.tokens.admin, document))
        finally:
            stack.stop()


def _write(player: Player) -> None:
    answers: dict[str, dict[str, Any]] = {}
    played = []
    for one in player.play():
        if one.status >= 300:
            raise RuntimeError(f"{one.example.operation}, {one.example.title}: {one.status} {one.answer}")
        played.append((one.example.operation, one.example.title))
        if one.answer != "":
            answers.setdefault(one.example.operation, {}).setdefault(one.media, _shortened(one.answer))
    content = {"kept": player.kept, "played": played, "answers": answers}
    _FILE.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _shortened(answer: Any) -> Any:
    """Keeps the first two items of each list, which show what an item is, and no secret."""
    for prefix in (PREFIX, SECRET):
        if isinstance(answer, str) and answer.startswith(prefix):
            return f"{prefix}shown-this-once"
    if isinstance(answer, dict):
        return {key: _shortened(item) for key, item in answer.items()}
    return [_shortened(item) for item in answer[:2]] if isinstance(answer, list) else answer

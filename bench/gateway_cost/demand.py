"""What a model needs of a block that is not sent in full: lines that it then writes word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from services.context.gateway.paging.blocks import Block

_NUMBER = re.compile(r"^\s*\d+[→\t|:]")
_SHORTEST = 24


class Demand:
    """The lines of every block, and which of them the model has before it."""

    def __init__(self) -> None:
        self._lines: dict[str, frozenset[str]] = {}
        self._holders: dict[str, list[str]] = {}
        self._own: set[str] = set()
        self._shown: dict[bytes, frozenset[str]] = {}

    def learn(self, body: bytes, block: Block) -> None:
        if block.key in self._lines:
            return
        lines = frozenset(lines_of(msgspec.json.decode(body[block.start : block.end], type=str)))
        self._lines[block.key] = lines
        for line in lines:
            self._holders.setdefault(line, []).append(block.key)

    def faults(self, answer: str, sent: Mapping[str, bytes]) -> set[str]:
        """Keys of blocks that are brought back for this answer. `sent`: what stands for blocks that are not full."""
        faulted: set[str] = set()
        for line in written(answer):
            holders = self._holders.get(line)
            if (
                holders
                and line not in self._own
                and not any(self._sees(k, line, sent, faulted) for k in holders)
            ):
                faulted.add(holders[-1])
        self._own.update(written(answer))
        return faulted

    def _sees(self, key: str, line: str, sent: Mapping[str, bytes], faulted: set[str]) -> bool:
        form = sent.get(key)
        if form is None or key in faulted:
            return True
        if form not in self._shown:
            self._shown[form] = frozenset(lines_of(msgspec.json.decode(form, type=str)))
        return line in self._shown[form]


def lines_of(text: str) -> Iterator[str]:
    for line in text.splitlines():
        bare = _NUMBER.sub("", line).strip()
        if len(bare) >= _SHORTEST:
            yield bare


def written(answer: str) -> list[str]:
    """Lines of what the model says, and of the arguments of its calls."""
    found: list[str] = []
    for piece in answer.splitlines():
        try:
            found += lines_of("\n".join(_strings(msgspec.json.decode(piece))))
        except msgspec.DecodeError:
            found += lines_of(piece)
    return found


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)

"""What of a session's turns was recalled, and is not learned again. Pure.

Recalled is what our tools answered, what stands in a block of context, what names a handle of one, and what an agent
repeats of these, sentence by sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from typing import Any

import msgspec

from services.context import stores
from services.context.mcp.catalog import TOOLS
from services.context.remember.routing import is_answer
from shared.render import before_items

_SENTENCE = re.compile(r"[^.!?\n]++[.!?\n]*+|[.!?\n]++")
_HEADER = re.compile(r"^(?:\[GRAPH\] )?\[[a-z_]+:[^\]\n]*+\] ", re.M)
_WORD = re.compile(r"\w+")
# A shorter sentence is said again by chance.
_TELLING_WORDS = 3
_TOOLS = frozenset(tool.name for tool in TOOLS)


def is_own_tool(name: str) -> bool:
    """Hosts put the name of a server before a tool's: `mcp__scrubjay__remember`, `scrubjay.remember`."""
    return name in _TOOLS or any(
        name.endswith(tool) and not name[-len(tool) - 1].isalnum() for tool in _TOOLS if len(name) > len(tool)
    )


def given(text: str) -> Iterator[str]:
    """The parts of a text that were recalled."""
    if is_answer(text):
        yield from _strings(msgspec.json.decode(text))
    else:
        yield text[len(before_items(text)) :]


def _strings(document: Any) -> Iterator[str]:
    left = [document]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        else:
            left += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def sentences(texts: Iterable[str]) -> frozenset[str]:
    """The sentences of recalled texts, without the headers of blocks, as `own` compares them."""
    bare = (_HEADER.sub("", text) for text in texts)
    return frozenset(words for text in bare for each in _split(text) if (words := _plain(each)) is not None)


def own(text: str, recalled: Set[str], *, repeats: bool) -> tuple[str, int]:
    """What of a turn is its own, and how many of its sentences are not. `repeats`: it may repeat what was recalled."""
    if is_answer(text):
        return "", 1
    before = before_items(text)
    kept = [each for each in _split(before) if not _is_recalled(each, recalled if repeats else frozenset())]
    left_out = sum(1 for _ in _split(before)) - len(kept) + (before != text)
    return "".join(kept), left_out


def _is_recalled(sentence: str, recalled: Set[str]) -> bool:
    return stores.HANDLE.search(sentence) is not None or (bool(recalled) and _plain(sentence) in recalled)


def _split(text: str) -> Iterator[str]:
    return (match[0] for match in _SENTENCE.finditer(text))


def _plain(sentence: str) -> str | None:
    words = _WORD.findall(sentence.casefold())
    return " ".join(words) if len(words) >= _TELLING_WORDS else None

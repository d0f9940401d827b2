"""Renders items as a block of text that a model reads as data.

Each item begins with a header `[handle when …] text`. A line of the item's own text that looks like a header gets a
backslash, so the block parses back to exactly the same items.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable
from datetime import datetime, timedelta

# Everything that a reader may take for the end of a line.
_LINE = re.compile(r"(^|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029])(\\*\[)")
_ESCAPED = re.compile(r"(^|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029])\\(\\*\[)")
_HEADER = re.compile(r"^\[([a-z_]+:[^\s\]]++)[^\]\n]*+\] ", re.M)
_UNSAFE = re.compile(r"[\s\[\]]+")
# A header as `render_item` writes it.
_OURS = re.compile(r"^\[[a-z_]+:[^\s\]]+ \d{4}-\d\d-\d\d[ \]]", re.M)

_MINUTES_FOR = timedelta(days=7)


def render_item(handle: str, when: datetime, words: Iterable[str], text: str, now: datetime) -> str:
    """`handle` is `store:id`. `words` (who, what kind) follow the time, which has minutes for the first week."""
    stamp = when.strftime("%Y-%m-%d %H:%M" if now - when < _MINUTES_FOR else "%Y-%m-%d")
    inside = " ".join([handle, stamp, *(_safe(word) for word in words)])
    escaped = _LINE.sub(r"\1\\\2", text) if "[" in text else text
    return f"[{inside}] {escaped}"


def before_items(text: str) -> str:
    """The text before the first block item in it. Only the block's maker knows where the last item ends."""
    first = _OURS.search(text)
    return text if first is None else text[: first.start()]


@functools.lru_cache(maxsize=4096)
def _safe(word: str) -> str:
    return _UNSAFE.sub(" ", word).strip()


def parse_block(block: str) -> list[tuple[str, str]]:
    """The (handle, text) pairs of a block of rendered items joined by newlines."""
    found = list(_HEADER.finditer(block))
    items = []
    for match, following in itertools.zip_longest(found, found[1:]):
        end = len(block) if following is None else following.start() - 1
        items.append((match[1], _ESCAPED.sub(r"\1\2", block[match.end() : end])))
    return items


def first_items(block: str, count: int) -> str:
    """The block's first `count` items, as they stand in it."""
    headers = list(itertools.islice(_HEADER.finditer(block), count + 1))
    return block if len(headers) <= count else block[: headers[count].start() - 1]

"""Renders items as a block of text that a model reads as data.

Each item begins with a header `[handle when … nonce] text`. The nonce is new in every block, and no text of the block
holds it. A line of the item's own text that could pass for a header also gets a backslash. So the block parses back to
exactly the same items.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
import secrets
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from shared.text import IGNORABLE

# Everything that a reader may take for the end of a line.
_ENDS = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
# Square brackets, and what looks like them.
_OPENING = "\\[\u2045\u23a1\u2308\u230a\u2772\u27e6\u298b\u298d\u298f\u3010\u3014\u3016\u3018\u301a\ufe47\ufe5d\uff3b"
_CLOSING = "\\]\u2046\u23a4\u2309\u230b\u2773\u27e7\u298c\u298e\u2990\u3011\u3015\u3017\u3019\u301b\ufe48\ufe5e\uff3d"
# Letters without a shape.
_FILLERS = "\u115f\u1160\u3164\uffa0"
# A reader may overlook these between the beginning of a line and a bracket: spaces, controls, marks, other brackets.
_OVERLOOKED = rf"""(?:[^\w{_ENDS}{_OPENING}!"#$%&'*+,\-./:;=?@^`|~]|[{_FILLERS}])"""
# A text that is cut ends in this, which is no header.
_CUT = "[…]"
_BRACKETED = rf"(?={_OVERLOOKED}*+[{_OPENING}](?!\u2026\]\Z))"
_BRACKET = re.compile(rf"[{_OPENING}]")
_LINE = re.compile(rf"(^|[{_ENDS}]){_BRACKETED}")
_ESCAPED = re.compile(rf"(^|[{_ENDS}])\\{_BRACKETED}")
_HEADER = re.compile(r"^(?:\[GRAPH\] )?\[([a-z_]+:[^\s\]]++)([^\]\n]*+)\] ", re.M)
_UNSAFE = re.compile(rf"[\s{_OPENING}{_CLOSING}]+")
# A header as `render_item` writes it.
_OURS = re.compile(r"^(?:\[GRAPH\] )?\[[a-z_]+:[^\s\]]+ \d{4}-\d\d-\d\d[ \]]", re.M)

GRAPH_MARK = "[GRAPH] "
"""Stands before the header of a fact."""

_MINUTES_FOR = timedelta(days=7)
# Letters and digits take turns, so that a nonce is no word and no number.
_SIGNS = ("bcdfghjkmnpqrstvwxz", "23456789")
_SHORTEST = 3
# Enough that texts by chance hold none of their own.
_SHORTEST_STEADY = 7
# Characters that Unicode lets a reader ignore, beside all controls and formats.
_IGNORABLE = re.compile(rf"[{IGNORABLE}\U000e0000-\U000e0fff]")


class Fence(NamedTuple):
    """What the headers of a block have in common."""

    now: datetime
    nonce: str


def new_fence(texts: Sequence[str], now: datetime) -> Fence:
    """A fence for these texts. A text that holds many possible nonces only makes the nonce longer."""
    for length in itertools.count(_SHORTEST):
        nonce = "".join(secrets.choice(_SIGNS[place % 2]) for place in range(length))
        if not any(nonce in text for text in texts):
            break
    return Fence(now, nonce)


def steady_nonce(texts: Sequence[str]) -> str:
    """The same for the same texts, none of which holds it: a block that must keep its bytes needs one.

    It is no secret. Whoever writes it into one of the texts changes it.
    """
    digest = hashlib.shake_256()
    for text in texts:
        written = text.encode("utf-8", "surrogatepass")
        digest.update(len(written).to_bytes(8, "big") + written)
    for length in itertools.count(_SHORTEST_STEADY):
        signs = zip(digest.digest(length), itertools.cycle(_SIGNS), strict=False)
        nonce = "".join(choice[byte % len(choice)] for byte, choice in signs)
        if not any(nonce in text for text in texts):
            break
    return nonce


def quoted(handle: str, words: Iterable[str], text: str, nonce: str) -> str:
    """An item without a time, so that its bytes depend on nothing but what it quotes."""
    inside = " ".join([handle, *filter(None, map(safe_name, words)), nonce])
    return with_header(f"[{inside}]", text)


def render_item(handle: str, when: datetime, words: Iterable[str], text: str, fence: Fence) -> str:
    return with_header(render_header(handle, when, words, fence), text)


def render_header(handle: str, when: datetime, words: Iterable[str], fence: Fence) -> str:
    """`handle` is `store:id`. `words` (what kind, who) follow the time, which has minutes for the first week."""
    stamp = _day(when.toordinal())
    if fence.now - when < _MINUTES_FOR:
        # In half the time of `when.isoformat`, which also writes a time zone.
        stamp = "%s %02d:%02d" % (stamp, when.hour, when.minute)  # noqa: UP031
    return f"[{handle} {stamp}{_named(tuple(words))} {fence.nonce}]"


@functools.lru_cache(maxsize=1024)
def _day(ordinal: int) -> str:
    return date.fromordinal(ordinal).isoformat()


@functools.lru_cache(maxsize=4096)
def _named(words: tuple[str, ...]) -> str:
    return "".join(f" {name}" for name in map(safe_name, words) if name)


def with_header(header: str, text: str) -> str:
    return f"{header} {_escaped(text)}"


def _escaped(text: str) -> str:
    """With a backslash before what could pass for a header."""
    said = text.removesuffix(_CUT)
    brackets = "[" in said or (not said.isascii() and _BRACKET.search(said) is not None)
    return _LINE.sub(r"\1\\", text) if brackets else text


def most_escapes(text: str) -> int:
    """A text, or any passages of it, get at most so many backslashes: each needs a bracket."""
    return text.count("[") if text.isascii() else len(_BRACKET.findall(text))


def before_items(text: str) -> str:
    """The text before the first block item in it. Only the block's maker knows where the last item ends."""
    first = _OURS.search(text)
    return text if first is None else text[: first.start()]


@functools.lru_cache(maxsize=4096)
def safe_name(word: str) -> str:
    """A name for a header: on one line, without brackets and without characters that hide or reorder others."""
    if not word.isascii() or not word.isprintable():
        word = "".join(filter(_is_shown, _IGNORABLE.sub("", word)))
    return _UNSAFE.sub(" ", word).strip()


def _is_shown(character: str) -> bool:
    return character.isspace() or not unicodedata.category(character).startswith("C")


def parse_block(block: str) -> list[tuple[str, str]]:
    """The (handle, text) pairs of a block of rendered items joined by newlines."""
    headers = list(_headers(block))
    items = []
    for match, following in itertools.zip_longest(headers, headers[1:]):
        end = len(block) if following is None else following.start() - 1
        items.append((match[1], _ESCAPED.sub(r"\1", block[match.end() : end])))
    return items


def items_of(block: str) -> list[tuple[str, str]]:
    """The handles of a block's items, and the items as they stand in it."""
    headers = list(_headers(block))
    ends = [*(following.start() - 1 for following in headers[1:]), len(block)]
    return [(header[1], block[header.start() : end]) for header, end in zip(headers, ends, strict=True)]


def first_items(block: str, count: int) -> str:
    """The block's first `count` items, as they stand in it."""
    headers = list(itertools.islice(_headers(block), count + 1))
    return block if len(headers) <= count else block[: headers[count].start() - 1]


def _headers(block: str) -> Iterable[re.Match[str]]:
    """The block's headers. The first one is the service's own, so its nonce is that of the block."""
    nonce = None
    for header in _HEADER.finditer(block):
        word = header[2].rpartition(" ")[2]
        nonce = nonce or word
        if word == nonce:
            yield header

"""The only estimate of tokens. Four ASCII characters are a token, as in English; other characters take more.

The unit of texts is the width: the number of ASCII characters that take as many tokens.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHARACTERS_PER_TOKEN = 4

_ASCII_WIDTH = 10
# Tenths of an ASCII character, by the first character of each range. Measured with the tokenizer o200k_base on manuals
# and messages in 25 languages, and rounded up for scripts without spaces.
_WIDTHS = (
    ("\0", _ASCII_WIDTH),
    # Accented letters. Those of English's neighbours are rarer in long words than those of Polish or Turkish.
    ("\x80", 30),
    ("\u0100", 60),
    # Greek, Cyrillic, Armenian, Hebrew, Arabic.
    ("\u0370", 16),
    ("\u0400", 12),
    ("\u0530", 16),
    ("\u0590", 18),
    ("\u0600", 16),
    # India's scripts, Thai, Lao and others to the east of it.
    ("\u0900", 15),
    ("\u0e00", 18),
    ("\u0e80", 30),
    # Vietnamese letters and classical Greek.
    ("\u1e00", 25),
    # English has these, too: dashes, quotation marks and an ellipsis.
    ("\u2000", _ASCII_WIDTH),
    # Symbols.
    ("\u2070", 25),
    # Chinese and Japanese punctuation, kana, Chinese characters, Korean.
    ("\u2e80", 31),
    ("\u3400", 35),
    ("\ua000", 31),
    # Emoji. Chinese characters that hardly any text holds.
    ("\U00010000", 40),
)


def estimate_tokens(text: str) -> int:
    return _tokens(width(text))


def estimate_tokens_of(values: Iterable[Any]) -> int:
    """Tokens of all values, including those in lists and objects. Numbers and times count as they are written."""
    return _tokens(_width_of(values))


def width(text: str) -> int:
    """The number of ASCII characters that take as many tokens, rounded up."""
    if text.isascii():
        return len(text)
    return -(-int(_tenths(text).sum(dtype=np.int64)) // _ASCII_WIDTH)


def within(text: str, most: int, start: int = 0) -> int:
    """The number of characters after `start` that fit into a width."""
    # No character is narrower than an ASCII character.
    piece = text[start : start + max(0, most)]
    if piece.isascii():
        return len(piece)
    widths = np.cumsum(_tenths(piece), dtype=np.int64)
    return int(np.searchsorted(widths, most * _ASCII_WIDTH, "right"))


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def _width_of(values: Iterable[Any]) -> int:
    return sum(map(_width_of_value, values))


def _width_of_value(value: Any) -> int:
    if isinstance(value, str):
        return width(value)
    if isinstance(value, list):
        return _width_of(value)
    if isinstance(value, dict):
        return _width_of(value) + _width_of(value.values())
    if isinstance(value, datetime):
        return len(value.isoformat())
    return 0 if value is None else len(str(value))


def _tenths(text: str) -> NDArray[np.uint8]:
    """The width of each character."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return _table().take(codes)


@cache
def _table() -> NDArray[np.uint8]:
    """The width of each character of Unicode, a megabyte."""
    table = np.empty(sys.maxunicode + 1, np.uint8)
    for first, tenths in _WIDTHS:
        table[ord(first) :] = tenths
    return table

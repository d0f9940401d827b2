"""Where a text may be cut. Pure.

Chinese and Japanese put a space neither after a sentence nor between words. Thai puts one between sentences.
"""

from __future__ import annotations

import unicodedata

_SENTENCE_ENDS = ("。", "！", "？", "｡", "।")
_PAUSES = ("、", "，", "；", "：")
# They belong to the sentence before them.
_CLOSING = frozenset("」』”’）》】")
# A longer run of marks is no writing, and a longer one of letters no word.
_MOST_MARKS, _MOST_LETTERS = 8, 64
_JOINER = "\u200d"


def boundary(text: str, low: int, high: int) -> int:
    """The place after the last line, or else sentence, word or phrase between `low` and `high`."""
    line = text.rfind("\n", low, high) + 1
    if line:
        return line
    space = text.rfind(". ", low, high)
    sentence = max(space + 2 if space >= 0 else 0, after_sentence(text, low, high))
    return (
        sentence or text.rfind(" ", low, high) + 1 or after_pause(text, low, high) or before_word(text, high)
    )


def after_sentence(text: str, low: int, high: int) -> int:
    """The place after the last sentence that ends without a space between `low` and `high`, or 0."""
    at = _after_any(_SENTENCE_ENDS, text, low, high)
    while low < at < high and text[at] in _CLOSING:
        at += 1
    return at


def after_pause(text: str, low: int, high: int) -> int:
    """The place after the last phrase of a text without spaces, or 0."""
    return _after_any(_PAUSES, text, low, high)


def before_word(text: str, at: int) -> int:
    """The last place up to `at` that cuts no number, no word of ASCII and no joined emoji, if one is near."""
    for place in range(at, max(0, at - _MOST_LETTERS), -1):
        if place == len(text) or not (_is_mark(text[place]) or _joins(text[place - 1], text[place])):
            return place
    return before_marks(text, at)


def _joins(before: str, after: str) -> bool:
    return _JOINER in (before, after) or (_is_in_word(before) and _is_in_word(after))


def _is_in_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


def before_marks(text: str, at: int) -> int:
    """The last place up to `at` that separates no vowel sign, tone or accent from its letter."""
    for place in range(at, max(0, at - _MOST_MARKS), -1):
        if place == len(text) or not _is_mark(text[place]):
            return place
    return at


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def _after_any(marks: tuple[str, ...], text: str, low: int, high: int) -> int:
    return 0 if text.isascii() else max(text.rfind(mark, low, high) + 1 for mark in marks)

"""Makes exact terms of words that PostgreSQL's text parser does not find. Pure.

Chinese, Japanese and Thai put no spaces between words, and Korean adds particles to them: each two neighbouring
characters are a term. Words with accents are also found without them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Kana, Chinese characters, Korean syllables, Thai, Lao, Burmese and Khmer. 々 repeats a character.
_RUN = re.compile(
    r"[\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\uff66-\uff9f]+"
)
_CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_WORD = re.compile(r"[^\W\d_]+")
# These letters are not a letter and an accent.
_LETTERS = {"ł": "l", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ð": "d"}


def bigrams(text: str) -> Iterator[str]:
    """Of each run. A run of one character is its own term."""
    for run in _runs(text):
        yield from ([run] if len(run) == 1 else (run[at : at + 2] for at in range(len(run) - 1)))


def characters(text: str) -> Iterator[str]:
    """The Chinese characters in longer runs, so that a question of a single one finds them."""
    for run in _runs(text):
        if len(run) > 1:
            yield from _CHINESE.findall(run)


def unaccented(text: str) -> Iterator[str]:
    """The words that have accents, without them. In lower case; of Latin and Greek letters only."""
    return (plain for word, plain in _plain_words(text) if plain != word)


def plain_words(text: str) -> Iterator[str]:
    """All words, in the form of `unaccented`."""
    return (plain for _, plain in _plain_words(text))


def _plain_words(text: str) -> Iterator[tuple[str, str]]:
    for word in _WORD.findall(unicodedata.normalize("NFC", text.lower().replace("i\u0307", "i"))):
        yield word, word if word.isascii() else "".join(_plain(letter) for letter in word)


def _runs(text: str) -> list[str]:
    return [] if text.isascii() else _RUN.findall(unicodedata.normalize("NFKC", text))


def _plain(letter: str) -> str:
    if letter in _LETTERS or not _has_accents(letter):
        return _LETTERS.get(letter, letter)
    return unicodedata.normalize("NFD", letter)[0]


def _has_accents(letter: str) -> bool:
    """Whether its script is Latin or Greek. In other scripts, a mark makes another letter."""
    return "\u00c0" <= letter <= "\u024f" or "\u0370" <= letter <= "\u03ff" or "\u1e00" <= letter <= "\u1fff"

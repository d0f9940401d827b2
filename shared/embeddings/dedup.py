"""Whether two near texts say the same, which their distance alone cannot tell. English."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_CANNOT = re.compile(r"\bcan(?:['’]t|not)\b")
_NOT = re.compile(r"n['’]t\b")
# A sign before a word is part of it: -5, .5, --force, /data, ~/.ssh.
# A long run counts for a few: reading all of it again from each of its signs takes quadratic time.
_TOKEN = re.compile(r"(?:(?<!\w)[-./~]{1,4}+)?\w++(?:[./:-]{1,4}+\w++)*+")
# Operators, and all else that may be a sign: no symbol is matched by \w.
_MAYBE_SIGN = re.compile(r"!(?==)|(?<=\s)[-/](?=\s)|-(?=>)|[^\w\s!\-/.,;:?'\"()\[\]{}^`´¨~]")
_SIGNS = frozenset("!%#@&*\\-/$+<=>|")
# Figures and identifiers: digits, options, paths, snake_case, dotted names.
_EXACT = re.compile(r"[\d_/]|\w[.:]\w|^[-.~]")
_NEGATIONS = frozenset(["no", "not", "never", "without"])
# No word that turns a meaning round: over, under, before, after, more, less, or, off.
_FUNCTION_WORDS = re.compile(
    r"(?:a|an|the|of|is|are|was|were|be|been|to|in|on|at|by|for|with|and|it|its|that|this|from|as|than|then|so"
    r"|if|when|because|there|has|have|had|do|does|must|should|will|would|can|s|t"
    r"|always|please|note|remember|important|really|very|just|also)"
)
_NAME = re.compile(r"(?<=[\w,;)] )[A-Z]\w*")
_SUFFIX = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)$")


def normal_form(text: str) -> str:
    """The text without its case, punctuation and spacing."""
    text = _THOUSANDS.sub("", text.casefold())
    text = _NOT.sub(" not", _CANNOT.sub("can not", text))
    # Match by match, so that other threads get their turns during a long text.
    return " ".join([token[0] for token in _TOKEN.finditer(text)])


def fact_key(text: str) -> str:
    """Equal keys are repeats, whatever their vectors: the normal form, and the signs that change a meaning."""
    normal = normal_form(text)
    return f"{''.join(_signs(text))}\n{normal}" if normal else text.strip()


def stated_key(text: str) -> str:
    """What all texts of the same fact have in common: equal for any two of which `same_fact` holds."""
    normal = normal_form(text)
    words = _content_words(normal, frozenset()) if normal else [text.strip()]
    exact = sorted(_exact_tokens(normal).elements())
    return "\n".join(("".join(_signs(text)), " ".join(exact), " ".join(words)))


def same_fact(a: str, b: str) -> bool:
    """For texts within `dedup_distance`: False when a figure, a name, a sign, a negation, a content word or
    their order changed, or when one text holds a content word more.

    A synonym counts as a change, and so does "Bob asks Alice" for "Alice asks Bob": a second row is cheaper
    than a lost memory.
    """
    if fact_key(a) == fact_key(b):
        return True
    left, right = normal_form(a), normal_form(b)
    if _signs(a) != _signs(b) or _exact_tokens(left) != _exact_tokens(right):
        return False
    names = _names(a) | _names(b)
    words = _content_words(left, names)
    return bool(words) and words == _content_words(right, names)


def _signs(text: str) -> list[str]:
    """Operators, currencies and other symbols in their order. An exclamation mark is one before a sign only."""
    found = (match[0] for match in _MAYBE_SIGN.finditer(text))
    return [sign for sign in found if sign in _SIGNS or unicodedata.category(sign)[0] == "S"]


def _exact_tokens(normal: str) -> Counter[str]:
    return Counter(word for word in normal.split() if word in _NEGATIONS or _EXACT.search(word))


def _names(text: str) -> frozenset[str]:
    """Words with a capital inside a sentence, unless all of it is in capitals."""
    return frozenset() if text.isupper() else frozenset(word.casefold() for word in _NAME.findall(text))


def _content_words(normal: str, names: frozenset[str]) -> list[str]:
    """Names as they are, the others without their ending, so that migration and migrations are one."""
    words = re.findall(r"\w+", normal)
    return [
        word if word in names else _SUFFIX.sub("", word)
        for word in words
        if not _FUNCTION_WORDS.fullmatch(word)
    ]

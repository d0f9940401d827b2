"""The words of a question and of a fact, by which it is judged whether the fact may answer. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from services.agent_memory.facts.names import folded
from shared.search.languages.scripts import bigrams

_LONGEST = 300
"""Characters of a text that are read: a block shows no more of a value."""
_MOST_PATTERNS = 16
_WORD = re.compile(r"[^\W_]+")
# Endings of one word: own, owns, owner and owned are one, and so are city and cities.
_ENDING = re.compile(
    r"(?:(?<=\w\w)(?:ies?|ied|ions?|ings?|ers?|ors?|ed|es|e)|(?<=\w{3})s|(?<=\w\w[^\Waeiou])y)$"
)
_DOUBLE = re.compile(r"([b-df-hj-np-tv-z])\1$")
_FUNCTION_WORDS = (
    "a an the of to in on at by for from with as into than then so if or and but not no is are was were be been being"
    " am do does did has have had having can could should would will shall may might must it its he him his she her"
    " hers they them their theirs we us our ours you your yours i me my mine this that these those there here what"
    " which who whom whose when where why how s t d m ll re ve"
)
# With them, a question asks for whatever is known.
_ASKING_WORDS = (
    "about know known tell remember recall remind describe explain summarize summarise show give list all any anything"
    " everything something some more info information fact facts detail details please"
)
_NO_CONTENT = frozenset(f"{_FUNCTION_WORDS} {_ASKING_WORDS}".split())


class Words:
    """The content words of a question that names entities."""

    def __init__(self, question: str, names: Iterable[str]) -> None:
        self._asked = content_words(question)
        self._only_names = not self._asked - content_words(" ".join(names))

    def held(self, name: str, said: str) -> float:
        """The share that a fact holds, by an entity's name and by what is said of the entity.

        0 if it holds only words of the name, unless the question asks for nothing else.
        """
        own = self._asked & content_words(name)
        more = self._asked & content_words(said[:_LONGEST]) - own
        if not more and not self._only_names:
            return 0.0
        return len(own | more) / len(self._asked) if self._asked else 1.0


def content_words(text: str) -> set[str]:
    """Without endings. Of scripts without spaces, each two neighbouring characters."""
    plain = folded(text)
    words = {_stem(word) for word in _WORD.findall(plain) if word not in _NO_CONTENT}
    return words if plain.isascii() else words.union(bigrams(plain))


def patterns(question: str) -> list[str]:
    """For LIKE: what a text may hold that shares a word with the question. Of a long one, its longest words."""
    longest = sorted(content_words(question), key=lambda word: (-len(word), word))[:_MOST_PATTERNS]
    return [f"% {word}%" if word.isascii() else f"%{word}%" for word in longest]


def _stem(word: str) -> str:
    return _DOUBLE.sub(r"\1", _ENDING.sub("", word))

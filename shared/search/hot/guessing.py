"""Guesses the words that PostgreSQL will read in an English question, so that a copy can be searched before it answers.

Only what the database answers counts. After a wrong guess the copy is searched again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import Stemmer

from shared.search.languages.detection import ENGLISH
from shared.search.lexicon import MOST_ASKED

# Of what PostgreSQL's parser makes more than words: all but letters, digits, hyphens between letters, and marks after
# which a word cannot go on.
_OTHER = re.compile(r"""[^a-z0-9\s"'(),.:;!?-]|[.:;](?![\s"').!?]|$)|(?<![a-z])-|-(?![a-z])""")
_WORD = re.compile(r"[a-z0-9-]+")
# PostgreSQL's tsearch_data/english.stop.
_STOP = frozenset(
    re.findall(
        r"\w+",
        """
        i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
        herself it its itself they them their theirs themselves what which who whom this that these those am is
        are was were be been being have has had having do does did doing a an the and but if or because as until
        while of at by for with about against between into through during before after above below to from up
        down in out on off over under again further then once here there when where why how all any both each
        few more most other some such no nor not only own same so than too very s t can will just don should now
        """,
    )
)
# It keeps no words: how fast an answer is must not tell what others asked.
_STEMMER = Stemmer.Stemmer("english", 0)


def guessed(configs: Sequence[str], texts: Sequence[str], terms: Sequence[str]) -> list[str] | None:
    """As `statements/asked.sql` orders them. None: the question is in another language, or has more than words."""
    if configs != [ENGLISH]:
        return None
    text = texts[0].lower()
    if _OTHER.search(text):
        return None
    stems = sorted({*map(_stem, _words(text))})[:MOST_ASKED]
    return [*stems, *(term for term in terms if term not in stems)]


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        parts = word.split("-")
        if len(parts) > 1:
            yield word
        yield from (part for part in parts if part not in _STOP)


def _stem(word: str) -> str:
    return word if any(character.isdigit() for character in word) else _STEMMER.stemWord(word)

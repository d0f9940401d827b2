"""The words that search keeps of a text and looks for in a question. Pure.

PostgreSQL reads a text's words with a configuration, which knows the stems of a language. Terms are exact: they are
kept and looked for as they are. A question finds a term only when both sides write it the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from shared.search import code
from shared.search.chunking import chunk
from shared.search.languages.detection import CONFIGS, ENGLISH, SIMPLE, config_of, language_of, languages_of
from shared.search.languages.scripts import bigrams, characters, plain_words, unaccented
from shared.text import Language
from shared.words import readable

# A tsvector's word may have 2,046 bytes, and a scope's key takes some of them. Nobody asks for a longer term.
MAX_TERM_BYTES = 200
# The positions of a tsvector end at 16,383.
_MAX_TERMS = 2_000
MOST_ASKED = 64
# Of a longer question, PostgreSQL reads each of the first words once, with every configuration. It keeps 64 of them.
_LONG_QUESTION, _MOST_READ = 1_000, 256


class Hints(NamedTuple):
    """What is known about a text besides the text. Each of its chunks is found by `terms`."""

    terms: Sequence[str] = ()
    language: Language | None = None
    likely: Language = "en"
    """The language, if neither `language` nor the text tells it."""


class Lexicon(NamedTuple):
    """`config` is a text search configuration. A repeated term weighs more, as a repeated word does."""

    config: str = ENGLISH
    terms: Sequence[str] = ()


class IndexedText(msgspec.Struct, frozen=True):
    """The arguments of `chunk_words` that come from a text, an element per chunk. Offsets are characters."""

    starts: list[int]
    stops: list[int]
    chunks: list[str]
    configs: list[str]
    terms: list[str]
    """Each is the text of a tsvector."""


class Asked(msgspec.Struct, frozen=True):
    """The words that a question looks for: those of each text, read with its configuration, and exact terms."""

    configs: list[str]
    texts: list[str]
    terms: list[str] = []


def lexicon(text: str, names: Iterable[str], hints: Hints) -> Lexicon:
    """Of one chunk, which has these names. The same arguments must give the same lexicon when it is indexed again."""
    language = hints.language or language_of(text, hints.likely)
    terms = [*names, *hints.terms, *bigrams(text), *characters(text)]
    if language != "en":
        terms += map(_plain, unaccented(text))
    return Lexicon(config_of(language), terms)


def asked(query: str, language: Language | None = None, likely: Sequence[Language] = ()) -> Asked:
    """It depends on the question alone: stores add up how many chunks hold each of its words.

    English comes first. Without `language`, the languages are those that the question may be of, `likely`
    among them.
    """
    languages = languages_of(query, likely) if language is None else [language]
    configs = [*dict.fromkeys(config for config in (ENGLISH, *map(config_of, languages)) if config != SIMPLE)]
    plain = map(_plain, plain_words(query)) if languages not in ([], ["en"]) else ()
    reading = code.read(query)
    terms = _short(dict.fromkeys([*reading.names, *bigrams(query), *plain]))[:MOST_ASKED]
    return Asked(configs, [_brief(readable(reading.text))] * len(configs), terms)


def _brief(text: str) -> str:
    if len(text) <= _LONG_QUESTION:
        return text
    return " ".join([*dict.fromkeys(text.split())][:_MOST_READ])


def only_if_held(lexeme: str) -> bool:
    """Whether a lexeme is another form of a word that is looked for in English, too."""
    config, space, _ = lexeme.partition(" ")
    return bool(space) and config in CONFIGS


def _plain(word: str) -> str:
    return f"{SIMPLE} {word}"


def indexed(text: str, hints: Hints) -> IndexedText:
    chunks = chunk(text)
    bodies = [text[c.start : c.stop] for c in chunks]
    readings = [code.read(body) for body in bodies]
    lexicons = [lexicon(body, reading.names, hints) for body, reading in zip(bodies, readings, strict=True)]
    return IndexedText(
        starts=[c.start for c in chunks],
        stops=[c.stop for c in chunks],
        chunks=[readable(reading.text) for reading in readings],
        configs=[each.config for each in lexicons],
        terms=[_tsvector(each.terms) for each in lexicons],
    )


def _tsvector(terms: Iterable[str]) -> str:
    """The terms in weight A, at one position each."""
    return " ".join(f"'{_quoted(term)}':{place}A" for place, term in enumerate(_short(terms)[:_MAX_TERMS], 1))


def _short(terms: Iterable[str]) -> list[str]:
    return [term for term in terms if term and len(term.encode(errors="replace")) <= MAX_TERM_BYTES]


def _quoted(term: str) -> str:
    return term.replace("\\", "\\\\").replace("'", "''")

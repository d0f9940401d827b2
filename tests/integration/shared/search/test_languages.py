"""Twenty sentences in each of several languages, found over HTTP by their words alone.

Each line of `languages/` holds a sentence, one of its words, and in a language that PostgreSQL has stems for, another
form of a word in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.integration.conftest import Tenant
from tests.support.calls import note
from tests.support.cluster import Client

FOLDER = Path(__file__).with_name("languages")
WRITE = "/api/psychic-cache/write/batch"
ASSEMBLE = "/api/context/assemble"
CODES = {
    "dutch": "nl",
    "finnish": "fi",
    "french": "fr",
    "german": "de",
    "italian": "it",
    "portuguese": "pt",
    "russian": "ru",
    "spanish": "es",
    "turkish": "tr",
}


class Line(NamedTuple):
    sentence: str
    word: str
    other_form: str | None = None


LANGUAGES = {
    path.stem: [Line(*line.split("\t")) for line in path.read_text().splitlines()]
    for path in sorted(FOLDER.glob("*.tsv"))
}
SCOPES = [f"mission:{language}" for language in LANGUAGES]
STEMMED = [language for language, lines in LANGUAGES.items() if all(line.other_form for line in lines)]


class Babel(NamedTuple):
    """A mission for each language. All are searched together."""

    client: Client
    sentences: dict[int, str]
    """By their entries' ids."""

    async def best_by_words(self, query: str, **more: Any) -> set[str]:
        """The sentences with the best text score."""
        body = {"query": query, "caller": "scout", "scopes": SCOPES, "debug": True, **more}
        answer = await self.client.post(ASSEMBLE, body)
        assert answer.status == 200, answer
        text = {self.sentences[each["id"]]: each["text"] for each in answer.body["candidates"]}
        best = max(text.values(), default=0.0)
        return {sentence for sentence, score in text.items() if score == best > 0}


@pytest.fixture
async def babel(tenant: Tenant) -> Babel:
    client = await tenant.client("admin")
    sentences: dict[int, str] = {}
    for language, lines in LANGUAGES.items():
        answer = await client.post(WRITE, {"entries": [note(language, line.sentence) for line in lines]})
        assert answer.status == 200, answer
        written = answer.body["data"]["entries"]
        sentences |= {item["data"]["id"]: line.sentence for item, line in zip(written, lines, strict=True)}
    return Babel(client, sentences)


async def test_a_word_finds_its_sentence_in_every_language(babel: Babel) -> None:
    misses = [
        (language, line.word)
        for language, lines in LANGUAGES.items()
        for line in lines
        if line.sentence not in await babel.best_by_words(line.word)
    ]
    assert not misses


async def test_another_form_of_a_word_finds_its_sentence_when_the_language_is_named(
    babel: Babel,
) -> None:
    codes = {
        "dutch": "nl",
        "finnish": "fi",
        "french": "fr",
        "german": "de",
        "italian": "it",
        "portuguese": "pt",
    }
    codes |= {"russian": "ru", "spanish": "es", "turkish": "tr"}
    misses = [
        (language, line.other_form)
        for language in STEMMED
        for line in LANGUAGES[language]
        if line.sentence not in await babel.best_by_words(str(line.other_form), language=CODES[language])
    ]
    assert not misses
    assert set(CODES) == set(STEMMED)


async def test_another_form_of_a_word_alone_finds_nearly_every_sentence(babel: Babel) -> None:
    misses = [
        (language, line.other_form)
        for language in STEMMED
        for line in LANGUAGES[language]
        if line.sentence not in await babel.best_by_words(str(line.other_form))
    ]
    assert len(misses) <= 0.1 * 20 * len(STEMMED), misses

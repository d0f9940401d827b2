"""The model that names the language of a text: as good as the whole one, and only asked where it is needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from shared.search.languages import detection
from shared.search.languages.detection import language_of, languages_of, load_detector

SENTENCES = Path(__file__).parents[3] / "integration" / "shared" / "search" / "languages"
# The other files' scripts name their languages.
FILES = [
    "dutch",
    "finnish",
    "french",
    "german",
    "italian",
    "polish",
    "portuguese",
    "russian",
    "spanish",
    "turkish",
]
MEGABYTE = 2**20


@pytest.fixture(scope="module")
def whole() -> LanguageIdentifier:
    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    model.set_languages(detection._MODELLED)
    return model


@pytest.mark.parametrize("file", FILES)
def test_a_part_of_the_model_gives_the_probabilities_of_the_whole(
    file: str, whole: LanguageIdentifier
) -> None:
    for line in (SENTENCES / f"{file}.tsv").read_text().splitlines():
        for text in line.split("\t"):
            # Without a feature, the whole model counts a language in two scripts twice.
            assert load_detector().probabilities(text) == pytest.approx(
                dict(whole.rank(text)), abs=0.04 if whole.rank(text) == whole.rank("") else 1e-5
            )


def test_the_part_is_a_fifth_of_the_model(whole: LanguageIdentifier) -> None:
    model = load_detector()
    automaton = model._automaton
    tables = [automaton.cells, automaton.rows, automaton.features]
    held = model._weights.nbytes + sum(len(table) * table.itemsize for table in tables)
    assert held < 16 * MEGABYTE
    weights, priors, _ = whole._full_model
    assert held * 4.5 < weights.nbytes + priors.nbytes + len(whole.tk_nextmove) * whole.tk_nextmove.itemsize


@pytest.mark.parametrize("text", ["", "12", "?", "\ud800", "🙂🙂🙂"])
def test_a_text_without_words_is_english(text: str) -> None:
    assert language_of(text) == "en"


def test_rare_cyrillic_letters_are_russian() -> None:
    assert language_of("Ѱ Ѯ Ѵ") == "ru"


@pytest.mark.parametrize(
    "text",
    [
        "The worker was rolled back after the migration held a lock on payments.",
        "While latency rose, retries ran out of budget before the deadline.",
        "日本の首都は東京です。",
        "ประเทศไทย",
    ],
)
def test_the_model_is_not_asked_where_words_or_the_script_name_the_language(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unexpected() -> None:
        raise AssertionError("the model was asked")

    monkeypatch.setattr(detection, "load_detector", unexpected)
    language_of(text)
    languages_of(text)

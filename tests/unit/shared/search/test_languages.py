"""The model that names the language of a text: as good as the whole one, and only asked where it is needed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from shared.search.languages import detection, model
from shared.search.languages.detection import language_of, languages_of, load_detector
from shared.search.languages.model import keep_part, load_model

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
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(detection._MODELLED)
    return identifier


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
    part = load_detector()
    automaton = part._automaton
    tables = [automaton.cells, automaton.rows, automaton.features]
    held = part._weights.nbytes + sum(len(table) * table.itemsize for table in tables)
    assert held < 16 * MEGABYTE
    weights, priors, _ = whole._full_model
    assert held * 4.5 < weights.nbytes + priors.nbytes + len(whole.tk_nextmove) * whole.tk_nextmove.itemsize


def test_a_kept_part_is_the_one_that_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    cut = load_model(["de", "en"])
    kept = keep_part(["de", "en"])
    monkeypatch.setattr(model, "_cut", lambda languages: pytest.fail(f"cut for {languages}"))
    loaded = load_model(["en", "de"])
    assert kept.is_relative_to(tmp_path)
    assert list(kept.parent.iterdir()) == [kept]
    assert loaded._automaton == cut._automaton
    assert loaded.probabilities("Das Haus ist sehr groß.") == cut.probabilities("Das Haus ist sehr groß.")


def test_a_kept_part_is_shared_by_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    kept = keep_part(["de", "en"])
    automaton = load_model(["de", "en"])._automaton
    assert all(table.readonly for table in (automaton.cells, automaton.rows, automaton.features))
    mappings = Path("/proc/self/maps")
    if mappings.exists():
        assert f" {kept}\n" in mappings.read_text()


def test_other_languages_have_a_part_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    keep_part(["de", "en"])
    assert set(load_model(["en", "fr"]).probabilities("La maison est grande.")) == {"en", "fr"}


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

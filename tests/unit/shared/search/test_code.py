"""Exact terms of names in code, and their parts as words."""

from __future__ import annotations

import time

import pytest

from shared.search.code import names, of_heading, spaced
from shared.search.lexicon import Hints, asked, indexed
from shared.text import MAX_CONTENT


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("def create_app(log_dir: Path) -> Flask:", {"create_app", "log_dir"}),
        ("class SystemPromptTrimmer(Base)", {"systemprompttrimmer"}),
        ("value.total_seconds()", {"value.total_seconds", "total_seconds"}),
        (
            "see /srv/app/src/pichay/proxy.py:12",
            {"srv/app/src/pichay/proxy.py", "src/pichay/proxy.py", "pichay/proxy.py", "proxy.py"},
        ),
        ("tests/test_a.py::test_b", {"tests/test_a.py", "test_a.py", "test_a", "test_b"}),
        (
            "logs/baseline_run1/app.log",
            {"logs/baseline_run1/app.log", "baseline_run1/app.log", "app.log", "baseline_run1"},
        ),
        ("run it with --dry-run", {"--dry-run"}),
        ("7e2e26c0-699b-478e-be97-35c86f9549ca", {"7e2e26c0-699b-478e-be97-35c86f9549ca"}),
        ("if not body:", {"if", "not"}),
    ],
)
def test_names_are_terms_as_they_are_written(text: str, terms: set[str]) -> None:
    assert set(names(text)) == terms


@pytest.mark.parametrize(
    "prose",
    [
        "We went to the park, e.g. for a walk and/or a talk with J.K. in the U.S.",
        "If not now, when? From there we went home (as always):",
        "Vitamin B12, mRNA and p53 at 10am; version 1.2.3 of the 90s.",
    ],
)
def test_prose_has_no_terms_and_keeps_its_words(prose: str) -> None:
    assert names(prose) == []
    assert spaced(prose) == prose
    assert asked(prose).terms == []


def test_parts_of_names_are_words() -> None:
    assert spaced("SystemPromptTrimmer in src/pichay/proxy.py") == (
        "SystemPromptTrimmer System Prompt Trimmer in src pichay proxy py"
    )


def test_every_chunk_of_a_long_listing_is_found_by_the_file_that_its_heading_names() -> None:
    listing = "Read: src/pichay/proxy.py\n" + "a line of the file\n" * 200
    terms = indexed(listing, Hints(terms=of_heading(listing))).terms
    assert len(terms) > 2
    assert all("'pichay/proxy.py'" in each for each in terms)


def test_a_question_brings_each_name_once() -> None:
    question = asked("Where does log_record call log_record in proxy.py?")
    assert question.terms == ["log_record", "proxy.py"]
    assert question.texts == ["Where does log_record call log_record in proxy py?"]


@pytest.mark.parametrize(
    "part", ["a/", "a.", "aB", "a_", "::a", "if x: ", "from import ", "0a-", "--a", "a:1"]
)
def test_the_time_grows_with_the_length_alone(part: str) -> None:
    text = part * (MAX_CONTENT // len(part))
    for hostile in (text, text.replace("a", "a ")):
        began = time.process_time()
        names(hostile)
        spaced(hostile)
        assert time.process_time() - began < 5

"""Summaries without a model: their size, and whether what they say of themselves is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.cache.sessions.paging.segmentation import segment
from services.cache.sessions.paging.summaries import Summaries, stub, summarize
from shared.tokens import estimate_tokens

ROOT = Path(__file__).parents[4]
FILES = [
    *ROOT.glob("services/*/*.py"),
    *ROOT.glob("shared/*/*.py"),
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
]
LARGE = 1_000
ONE_LINE = (
    '{"rows": [' + ", ".join(f'{{"id": {number}, "name": "row {number}"}}' for number in range(400)) + "]}"
)
LOG = "".join(
    f"2026-01-02 12:00:{number % 60:02} INFO request {number} took {number * 7 % 90} ms\n"
    for number in range(300)
)


def _large() -> list[tuple[str, str]]:
    texts = [(str(path), path.read_text()) for path in sorted(FILES)]
    parts = [(path, each.text) for path, text in texts for each in segment(text, path)]
    large = [(path, text) for path, text in [*texts, *parts] if estimate_tokens(text) > LARGE]
    return [*large, ("rows.json", ONE_LINE), ("server.log", LOG)]


def _summaries() -> list[tuple[str, str, Summaries]]:
    return [(path, text, summarize(text, path)) for path, text in _large()]


def test_summaries_of_large_texts_have_their_size_and_say_the_truth_of_themselves() -> None:
    found = _summaries()
    assert len(found) > 30
    for path, text, summaries in found:
        tokens = estimate_tokens(text)
        detailed, compact = summaries.detailed, summaries.compact
        assert detailed is not None, path
        assert compact is not None, path
        assert 0.15 <= detailed.tokens / tokens <= 0.40, path
        assert 0.02 <= compact.tokens / tokens <= 0.08, path
        for each in (detailed, compact):
            assert all(loss.lower() not in each.text.lower() for loss in each.losses), path
            assert all(name in each.text for name in each.can_answer), path
        assert all(name in text for name in [*detailed.can_answer, *compact.can_answer]), path


def test_a_summary_of_code_keeps_what_it_defines() -> None:
    text = (ROOT / "shared" / "packing.py").read_text()
    detailed = summarize(text, "packing.py").detailed
    assert detailed is not None
    assert "shorten" in detailed.can_answer


def test_a_summary_of_a_log_keeps_its_trouble() -> None:
    trouble = "2026-01-02 12:00:59 ERROR ledger refused row 17: duplicate key"
    detailed = summarize(f"{LOG}{trouble}\n{LOG}").detailed
    compact = summarize(f"{LOG}{trouble}\n{LOG}").compact
    assert detailed is not None
    assert compact is not None
    assert trouble in detailed.text
    assert trouble in compact.text


def test_a_short_text_has_no_summary() -> None:
    assert summarize("two words").detailed is None


@pytest.mark.parametrize("names", ["login", ""])
def test_a_stub_is_one_line(names: str) -> None:
    line = stub(source="src/auth.py", label="function", names=names, text="\n  def login():\n", tokens=310)
    assert "\n" not in line
    assert "src/auth.py" in line
    assert "login" in line
    assert line.endswith("(310 tokens)")

"""How texts are cut into units."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.cache.sessions.objects.parts import parts_of
from services.cache.sessions.objects.schemas import AdmitInput
from services.cache.sessions.paging.segmentation import Kind, code, kind_of, segment

ROOT = Path(__file__).parents[4]
_KINDS: list[Kind] = ["code", "prose", "diff", "json", "log"]
_PIECES = ["def f(x):\n", "    return {\n", "class A:\n", "# T\n", "## U\n", "@@ -1 +1 @@\n", '{"a": [1, ', "]}\n",
           "- item\n", "\r\n", "é😀 ", "\x00", "   12→", "word " * 50, "\n\n", "```\n", "x" * 900]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(_PIECES), max_size=120).map("".join),
    st.sampled_from([None, "a.py", "a.ts", "a.md", "a.json", "a.patch", "a.go"]),
)
def test_the_segments_are_the_text_and_count_its_lines(text: str, path: str | None) -> None:
    segments = segment(text, path)
    assert "".join(each.text for each in segments) == text
    line = 1
    for place, each in enumerate(segments):
        assert each.first_line == line
        assert each.last_line <= text.count("\n") + 1
        assert each.parent is None or each.parent <= place
        line += each.text.count("\n")


@pytest.mark.parametrize("path", [None, "a.py", "a.ts", "a.rs", "a.java", "a.cs", "a.json", "a.md"])
@pytest.mark.parametrize(
    "unit", ["{", "[", "def f():\n", '"a', "> ", "if a:\n x\n", "(", "# a\n", "|a|b\n", "[a](", "*a_", "\r"]
)
def test_hostile_text_is_cut_all_the_same(unit: str, path: str | None) -> None:
    text = unit * (40_000 // len(unit))
    assert "".join(each.text for each in segment(text, path)) == text


@pytest.mark.parametrize("language", ["python", "rust", "typescript", "cpp", "java", "json"])
@pytest.mark.parametrize(
    "unit",
    ["fn a(){", "fn a(){\n", '"""\n', "a<", "lambda x: ", "(\n", "else:\n", "[{,", "def f(): return 1\n"],
)
def test_a_parser_gives_up_what_is_no_code(unit: str, language: str) -> None:
    text = unit * (12_000 // len(unit))
    patience = code.Patience(len(text))
    code.parse([text], language, patience)
    assert patience.spent <= patience.steps < 1_000


def test_code_takes_a_small_part_of_the_patience() -> None:
    for path in [*ROOT.glob("services/*/*.py"), *ROOT.glob("shared/*/*.py")]:
        text = path.read_text()
        patience = code.Patience(len(text.encode()))
        assert code.parse(text.split("\n"), "python", patience) is not None, path
        assert patience.spent * 4 <= patience.steps, path


@pytest.mark.parametrize("unit", ["fn a(){\n", '"""\n', "x\n", "\n", "a<"])
@pytest.mark.parametrize(("size", "parsed"), [(100_000, 1), (1_048_576, 0)])
def test_an_admission_parses_once_and_nothing_large(
    monkeypatch: pytest.MonkeyPatch, unit: str, size: int, parsed: int
) -> None:
    seen: list[str] = []

    def parse(lines: Sequence[str], language: str) -> None:
        seen.append(language)

    monkeypatch.setattr(code, "parse", parse)
    text = unit * (size // len(unit))
    parts_of(AdmitInput(content=text, object_type="file_context", source_key="a.rs"), "en")
    assert seen == ["rust"] * parsed


def test_functions_and_methods_are_units_under_their_class() -> None:
    methods = "".join(
        f"    def method_{number}(self):\n" + "        self.total += 1\n" * 60 + "\n" for number in range(4)
    )
    segments = segment(
        f'"""A module."""\n\nimport os\n\n\nclass Ledger:\n    """Totals."""\n\n{methods}', "ledger.py"
    )
    found = {name: each for each in segments for name in each.name.split(", ")}
    assert {f"method_{number}" for number in range(4)} <= set(found)
    holder = found["method_3"].parent
    assert holder is not None
    assert "class Ledger" in segments[holder].text


def test_the_numbers_that_a_tool_puts_before_lines_do_not_hide_code() -> None:
    code = (ROOT / "shared" / "packing.py").read_text()
    numbered = "\n".join(f"{number:6}→{line}" for number, line in enumerate(code.split("\n"), 1))
    named = {name for each in segment(numbered, "packing.py") for name in each.name.split(", ")}
    assert {"pack", "shorten"} <= named


def test_sections_stand_under_the_section_above() -> None:
    text = "# One\n" + "words " * 200 + "\n\n## Two\n" + "words " * 200 + "\n\n# Three\n" + "words " * 200
    segments = segment(text, "a.md")
    assert [(each.name, each.parent) for each in segments] == [("One", None), ("Two", 0), ("Three", None)]


def test_hunks_stand_under_their_file() -> None:
    hunk = "".join(f"+line {number} of what was added to the file here\n" for number in range(40))
    text = f"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@ def f\n{hunk}@@ -9 +9 @@ def g\n{hunk}"
    assert [each.label for each in segment(text)] == ["file", "hunk"]
    assert segment(text)[1].parent == 0


@pytest.mark.parametrize(
    ("text", "path", "kind"),
    [
        ("x = 1", "a.py", "code"),
        ("# Title\n\nText.", None, "prose"),
        ('{"a": 1}', None, "json"),
        ("diff --git a/x b/x\n@@ -1 +1 @@", None, "diff"),
        ("PASSED a\nFAILED b", None, "log"),
        ("a 1\nb 2", "uv run pytest tests/a.py", "log"),
    ],
)
def test_the_kind_of_a_text(text: str, path: str | None, kind: Kind) -> None:
    assert kind_of(text.split("\n"), path) == kind

"""What the vault makes of a file's text: parts, lines, titles and triples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_memory.vault.content import PART, Place, Source, parts, rows_of, title_of
from services.agent_memory.vault.folders import lines_of, path_problem, scope_of
from services.agent_memory.vault.graph.notes import MOST, Statement, statements
from services.agent_memory.vault.reading import lines_of_text

NOTE = """---
title: "Failover"
tags: [ops, postgres]
owner: [[People/Ana|Ana]]
reviewers:
  - Bob
  - "[[Carla]]"
---
# Failover

See [[Runbook#Steps|the runbook]] and [[notes/Replica.md]], but not `[[Code]]`.

```
[[Fenced]]
```

Again [[Runbook]], and [[Failover]] itself.
"""


def test_front_matter_and_links_become_triples() -> None:
    assert [(s.predicate, s.object, s.line) for s in statements("shared/Failover.md", NOTE)] == [
        ("title", "Failover", 2),
        ("tags", "ops", 3),
        ("tags", "postgres", 3),
        ("owner", "Ana", 4),
        ("reviewers", "Bob", 6),
        ("reviewers", "Carla", 7),
        ("links_to", "Runbook", 11),
        ("links_to", "Replica", 11),
    ]
    assert {s.subject for s in statements("shared/Failover.md", NOTE)} == {"Failover"}


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("related: [[a]], [[b|B]]", ["a", "b"]),
        ("related: [[[a]], [[notes/b]]]", ["a", "b"]),
        ("tags: [\"x, y\", 'z', w]", ["x, y", "z", "w"]),
        ("tags: []", []),
        ("about: {name: x}", []),
        ("text: |", []),
        ("empty:", []),
        ("due: 2026-01-02\r", ["2026-01-02"]),
    ],
)
def test_values_of_front_matter(field: str, values: list[str]) -> None:
    assert [s.object for s in statements("a.md", f"---\n{field}\n---\n")] == values


def test_a_later_piece_has_no_front_matter_and_goes_on_with_the_lines() -> None:
    found = statements("a.md", "---\ntitle: x\n---\n[[b]]", line=100, begins=False)
    assert found == [Statement("a", "links_to", "b", 103)]


def test_a_note_states_so_much_and_no_more() -> None:
    text = " ".join(f"[[{number}]]" for number in range(MOST + 5))
    assert len(statements("a.md", text)) == MOST


@given(st.text(alphabet="-[]|#`\n :ab", max_size=200))
def test_any_text_gives_statements_with_objects(text: str) -> None:
    assert all(isinstance(each, Statement) and each.object for each in statements("a.md", text))


@given(st.text(alphabet="ab\n", max_size=300), st.integers(1, 40), st.integers(1, 40))
def test_lines_are_those_of_the_text(text: str, first: int, last: int) -> None:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    found = lines_of_text(text, first, last)
    wanted = lines[first - 1 : last]
    assert (found is None) == (not wanted)
    if found is not None:
        assert found.text.removesuffix("\n").split("\n") == wanted
        assert (found.first, found.last) == (first, first + len(wanted) - 1)


@pytest.mark.parametrize("line", ["a sentence of some words\n", "x" * 1_000 + "\n", "y"])
def test_the_passages_of_the_parts_are_the_text(line: str) -> None:
    text = line * (PART * 2 // len(line) + 7)
    source = Source(path="a.txt", format="text", origin="upload", hash=b"", written_by="key:1")
    rows = rows_of(source, text, Place(), None)
    assert "".join(body for words in rows.words for body in words.bodies) == text
    assert "".join(parts(text)) == text
    assert all(row.characters <= PART for row in rows.files)
    assert rows.files[0].first_line == 1
    assert [row.first_line for row in rows.files[1:]] == [row.next_line for row in rows.files[:-1]]
    assert rows.files[-1].last_line == len(text.removesuffix("\n").split("\n"))
    for words in rows.words:
        for body, first, last in zip(words.bodies, words.first_lines, words.last_lines, strict=True):
            assert last - first == body.removesuffix("\n").count("\n")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: 'A plan'\n---\n# Other\n", "A plan"),
        ("Some words\n\n## A heading ##\n", "A heading"),
        ("Some words", "notes"),
        ("---\ntags: x\n---\n# A heading\n", "A heading"),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert title_of(text, "shared/notes.md") == title


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("shared/a.md", "shared"),
        ("agents/scout/a/b.md", "agent:scout"),
        ("missions/apollo/a.md", "mission:apollo"),
        ("users/ana/a.md", "user:ana"),
        ("users/ana", "vault"),
        ("shared", "vault"),
        ("notes/a.md", "vault"),
    ],
)
def test_whose_a_file_is(path: str, scope: str) -> None:
    assert path_problem(path) is None
    assert scope_of(path) == scope


def test_lines_of_a_location() -> None:
    assert lines_of("a.md#L10-L40") == ("a.md", 10, 40)
    assert lines_of("a.md#L10-40") == ("a.md", 10, 40)
    assert lines_of("a.md#L7") == ("a.md", 7, 7)
    assert lines_of("a.md#Lx") == ("a.md#Lx", None, None)
    assert lines_of("a.md#L0") == ("a.md#L0", None, None)

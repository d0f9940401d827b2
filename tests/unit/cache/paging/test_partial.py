"""Parts of a file that are read again: what brings objects back, and what is new."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from services.cache.sessions.paging.partial import Holder, inside, reread
from services.cache.sessions.paging.segmentation import segment

LINES = st.lists(st.sampled_from(["", "}", "return", *(f"line {n}" for n in range(30))]), min_size=1)


def numbered(lines: Sequence[str], first: int = 1) -> str:
    return "".join(f"{number:6}→{line}\n" for number, line in enumerate(lines, first))


def holders(*texts: str) -> list[Holder]:
    return [Holder(str(place), text) for place, text in enumerate(texts)]


def cut(text: str, at: Sequence[int]) -> list[Holder]:
    """The text as objects of whole lines."""
    lines = text.splitlines(keepends=True)
    bounds = [0, *sorted({place % len(lines) for place in at} - {0}), len(lines)]
    pieces = ["".join(lines[start:stop]) for start, stop in pairwise(bounds)]
    return holders(*pieces)


@given(LINES, st.lists(st.integers(0, 50)), st.integers(0, 50), st.integers(1, 20))
def test_a_part_of_what_is_known_only_brings_it_back(
    lines: list[str], at: list[int], first: int, count: int
) -> None:
    known = cut(numbered(lines), at)
    first %= len(lines)
    part = numbered(lines[first : first + count], first + 1)
    found = reread(part, known)
    assert (found.rest, found.replaced) == ("", [])
    assert found.again == [
        each.id for each in known if set(each.text.split("\n")) & set(part.split("\n")) - {""}
    ]
    assert inside(part, known) == found.again


@given(LINES, st.lists(st.integers(0, 50)), LINES, st.integers(0, 50))
def test_every_line_of_a_part_stands_in_an_object_afterwards(
    lines: list[str], at: list[int], other: list[str], place: int
) -> None:
    """An edit in the middle, without numbers: lines repeat, and say little."""
    known = cut("".join(f"{line}\n" for line in lines), at)
    place %= len(lines) + 1
    part = "".join(f"{line}\n" for line in [*lines[:place], *other, *lines[place:]])
    found = reread(part, known)
    by_id = {each.id: each.text for each in known}
    there = {line for id_ in found.again for line in by_id[id_].split("\n")} | set(found.rest.split("\n"))
    assert {line for line in part.split("\n") if line.strip()} <= there
    assert not found.replaced
    pieces = iter(part.splitlines())
    assert all(any(line == piece for piece in pieces) for line in found.rest.splitlines())


@given(LINES, st.lists(st.integers(0, 50)), st.integers(0, 50), st.integers(0, 10))
def test_a_line_with_a_known_number_replaces_what_is_shown_no_more(
    lines: list[str], at: list[int], place: int, more: int
) -> None:
    """Lines above the part were added, so that every number of it has changed."""
    known = cut(numbered(lines), at)
    place %= len(lines)
    part = numbered([f"other {line}" for line in lines[place:]], place + 1 + more)
    numbers = {line.split("→")[0] for line in part.splitlines()}
    found = reread(part, known)
    assert (found.again, found.rest) == ([], part)
    touched = [each.id for each in known if numbers & {line.split("→")[0] for line in each.text.splitlines()}]
    assert [each.id for each in found.replaced] == touched
    assert all(found.rest[each.offset - 1 : each.offset] in ("", "\n") for each in found.replaced)


def test_a_line_of_brackets_goes_with_its_neighbours() -> None:
    known = holders("fn a() {\n  one\n}\n\n", "fn b() {\n  two\n}\n")
    assert reread("}\n\nfn b() {\n", known).again == ["0", "1"]
    found = reread("fn c() {\n  three\n}\n", known)
    assert found == ([], "fn c() {\n  three\n}\n", [])
    assert reread("  one\n  more\n}\n", known) == (["0"], "  more\n}\n", [])


def test_a_text_that_ends_within_a_line_is_no_part() -> None:
    known = holders("x = 10\ny = 20\n", "z = 30")
    assert inside("x = 1", known) == []
    assert inside("= 20\nz = 30", known) == []
    assert inside("y = 20\nz = 30", known) == ["0", "1"]
    assert inside("y = 20\nz = 30\n", known) == ["0", "1"]
    assert inside("\n", known) == []
    assert inside("x = 1\n", holders("max = 1\n", "x = 10\n", "x = 1\n")) == ["2"]
    assert inside("b\nc\n", holders("a", "b\n", "c\n")) == ["1", "2"]


def test_pieces_of_a_long_line_bring_back_what_holds_them() -> None:
    line = "word " * 5_000
    known = holders(*(part.text for part in segment(line)))
    assert len(known) > 1
    assert reread(line, known) == ([each.id for each in known], "", [])

"""What a replay counts."""

from __future__ import annotations

from bench.paging.events import Event
from bench.paging.measuring import Figures, measure
from bench.paging.paged import pieces
from bench.paging.replay import common
from services.cache.sessions.paging.segmentation import segment


def test_what_two_blocks_have_in_common_ends_at_the_first_difference() -> None:
    assert common(b"abcd", b"abxd") == 2
    assert common(b"ab", b"abcd") == common(b"abcd", b"ab") == 2
    assert common(b"", b"ab") == 0


def test_a_line_that_is_too_long_is_compared_by_its_pieces() -> None:
    line = "word " * 5_000
    cut = [part.text for part in segment(line)]
    assert [*pieces("short\n" + line, {*cut})] == ["short\n", *cut]
    assert [*pieces(line, {line})] == [line]


def test_a_file_that_is_read_again_is_resident() -> None:
    text = "".join(f"{number:6}→line {number}\n" for number in range(1, 90))
    read = Event("tool_result", text, "Read", "a.py")
    again = Event("tool_result", "".join(text.splitlines(keepends=True)[10:20]), "Read", "a.py")
    said = Event("assistant", "I look again.")
    figures = Figures()
    measure([said, read, said, again], 16_000, figures)
    assert figures.again == figures.resident_l0 == figures.lru == len(again.text)
    assert (figures.turns, figures.batches, figures.faults) == (2, 0, 0)

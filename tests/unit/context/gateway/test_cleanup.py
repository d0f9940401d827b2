"""Tags leave a text and are carried out; whatever else it holds stays."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from services.context.gateway.cleanup import CLOSE, LONGEST, OPEN, Action, Cutter, cut

TAG = f"{OPEN}\nrelease: m-0123456789ab\n drop : object:7 \n{CLOSE}"
ACTIONS = [Action("release", "m-0123456789ab"), Action("drop", "object:7")]
_BITS = st.sampled_from(
    [
        TAG,
        OPEN,
        CLOSE,
        "<",
        "<memory",
        "release: m-1",
        "release",
        "\n",
        " ",
        "é",
        "text <b>",
        "anchor: x",
        "drop:",
    ]
)
_TEXTS = st.lists(_BITS, max_size=20).map("".join)


def pieces_of(text: str, places: list[int]) -> list[str]:
    at = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[begin:end] for begin, end in pairwise(at)]


@given(_TEXTS, st.lists(st.integers(0, 300), max_size=12))
def test_any_split_leaves_the_same_text_and_actions(text: str, places: list[int]) -> None:
    cutter: Cutter[int] = Cutter()
    given: list[str] = []
    carriers: list[int] = []
    for number, piece in enumerate(pieces_of(text, places)):
        for carried in cutter.feed(number, piece):
            given.append(carried.kept)
            carriers.append(carried.carrier)
    for carried in cutter.end():
        given.append(carried.kept)
        carriers.append(carried.carrier)
    assert ("".join(given), cutter.actions) == cut(text)
    assert carriers == [*range(len(carriers))]


@given(_TEXTS, _TEXTS)
def test_a_tag_leaves_what_stands_around_it(before: str, after: str) -> None:
    if OPEN[:1] in before or CLOSE in after:
        return
    kept, actions = cut(before + TAG + after)
    assert (kept, actions[:2]) == (before + cut(after)[0], ACTIONS)


def test_what_looks_like_a_tag_is_text() -> None:
    for text in (
        f"{OPEN}{CLOSE}",
        f"{OPEN}\n\n{CLOSE}",
        f"{OPEN}\nrelease: a b\n{CLOSE}",
        f"{OPEN}\nerase: m-1\n{CLOSE}",
        f"{OPEN}\nrelease: m-1\n",
        f"Write {OPEN} around it",
        "a < b <memory",
    ):
        assert cut(text) == (text, [])


def test_little_is_held_back() -> None:
    cutter: Cutter[None] = Cutter()
    assert cutter.feed(None, "a <") == []
    assert [piece.text for piece in cutter.feed(None, "b")] == ["a <", "b"]
    assert cutter.feed(None, OPEN + "\nrel") == []
    assert [piece.kept for piece in cutter.feed(None, "ated")] == [OPEN + "\nrel", "ated"]
    held = sum(cutter.feed(None, OPEN) == [] for _ in range(1))
    lines = sum(cutter.feed(None, "\nrelease: m-1") == [] for _ in range(LONGEST))
    assert held == 1
    assert lines * len("\nrelease: m-1") <= LONGEST


def test_begun_tags_take_linear_time() -> None:
    text = (OPEN + "\nrelease: m-1\n" * 20) * 5_000
    assert cut(text) == (text, [])

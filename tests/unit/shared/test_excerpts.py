"""Excerpts hold what a question asks for, in whole passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Set

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.reading.excerpts import _KNOWN, GAP, Passages, Wanted, _Best, _Room, split

DEPLOY = (
    "We talked about the release on Monday. The canteen serves soup at noon. The weather was grey and cold all day. "
    "Rollbacks of the gateway need the blue key. Everybody went home early. The lift was repaired again."
)
CODE = (
    "Here is how the gateway is restarted by hand.\n"
    "```python\n"
    "def restart(gateway):\n"
    "    gateway.drain()\n"
    "    gateway.start()\n"
    "```\n"
    "Nobody has tried it since spring. It takes about a minute when the queue is empty, and longer else.\n"
)
PIECES = st.sampled_from(
    [
        "word ",
        "One sentence. ",
        "\n",
        "```\n",
        "x = [1]\n",
        "- an item\n",
        "日本語です。",
        "ГОСТ! ",
        "…",
        "a" * 50,
    ]
)
TEXTS = st.lists(PIECES, max_size=60).map("".join)
WANTED = Wanted({"sentenc": 2.0, "item": 1.0, "日本": 3.0, "simple гост": 1.0})


def wanted(*lexemes: str) -> Wanted:
    return Wanted(dict.fromkeys(lexemes, 1.0))


def test_an_excerpt_holds_the_first_sentence_and_the_one_that_answers() -> None:
    found = Passages(DEPLOY, wanted("rollback", "key")).excerpt(100)
    assert (
        found == f"We talked about the release on Monday. {GAP} Rollbacks of the gateway need the blue key."
    )


def test_an_excerpt_prefers_rare_words() -> None:
    found = Passages(DEPLOY, Wanted({"gateway": 0.5, "lift": 3.0})).excerpt(80)
    assert found.endswith("The lift was repaired again.")
    assert "gateway" not in found


def test_room_that_is_left_goes_to_what_stands_beside() -> None:
    found = Passages(DEPLOY, wanted("rollback")).excerpt(140)
    assert "the blue key. Everybody went home early." in found


def test_a_text_without_a_word_of_the_question_is_cut_at_its_end() -> None:
    assert Passages(DEPLOY, wanted("zebra")).excerpt(60) == "We talked about the release on Monday."


@pytest.mark.parametrize("characters", [40, 60, 80, 110, 150, 190])
@pytest.mark.parametrize("lexemes", [("drain",), ("restart", "gateway"), ("spring",), ("zebra",)])
def test_a_block_of_code_is_whole_or_absent(characters: int, lexemes: tuple[str, ...]) -> None:
    found = Passages(CODE, wanted(*lexemes)).excerpt(characters)
    block = CODE[CODE.index("```") : CODE.rindex("```") + 3]
    assert block in found or "```" not in found
    assert block in found or "drain()" not in found


def test_code_that_alone_is_too_long_ends_with_a_line() -> None:
    code = "```\n" + "".join(f"step_{n}(gateway). then\n" for n in range(30)) + "```"
    found = Passages(code, wanted("gateway")).excerpt(200)
    assert found
    assert set(found.splitlines()) <= set(code.splitlines())


def test_a_chunk_that_begins_inside_a_block_of_code_keeps_that_code_whole() -> None:
    chunk = "    gateway.drain()\n    gateway.start()\n```\nThen the gateway answers. Nobody has tried it.\n"
    found = Passages(chunk, wanted("answer")).excerpt(60)
    assert found == f"{GAP} Then the gateway answers. Nobody has tried it."


def test_lines_of_code_without_a_fence_stay_whole() -> None:
    log = "".join(f"step_{n} = run(f. name, {n})\n" for n in range(40))
    found = Passages(log, wanted("step_31")).excerpt(120)
    lines = [line for line in found.splitlines() if line != GAP]
    assert "step_31 = run(f. name, 31)" in lines
    assert set(lines) <= set(log.splitlines())


def test_a_question_finds_inflected_words_and_signs_without_spaces() -> None:
    text = "Nothing here. They studied the relay. 我们在东京见面。Nothing there."
    assert "They studied the relay." in Passages(text, wanted("studi")).excerpt(40)
    assert "我们在东京见面。" in Passages(text, wanted("东京")).excerpt(30)


@settings(deadline=None)
@given(TEXTS)
def test_passages_together_are_the_text(text: str) -> None:
    assert "".join(text[span.start : span.stop] for span in split(text)) == text


@settings(deadline=None)
@given(TEXTS.filter(str.strip), st.integers(1, 400))
def test_an_excerpt_fits_and_holds_only_what_the_text_holds(text: str, characters: int) -> None:
    found = Passages(text, WANTED).excerpt(characters)
    assert len(found) <= characters
    assert all(piece.strip() in text for piece in found.split(GAP))


@given(TEXTS, st.integers(1, 80))
def test_a_text_of_which_no_passage_fits_keeps_its_beginning(text: str, characters: int) -> None:
    fit = [span for span in split(text) if span.stop - span.start + len(GAP) + 2 <= characters]
    found = Passages(text, WANTED).excerpt(characters)
    assert fit or text.startswith(found)
    assert fit or found == Passages(text, Wanted({})).excerpt(characters)


@given(
    st.text(st.sampled_from("abé_ß-. \n日本Гу7"), max_size=60),
    st.permutations(["a", "ab", "b", "日", "é", "a/b", "7"]),
)
def test_the_words_of_a_question_are_found_where_words_begin(text: str, forms: list[str]) -> None:
    wanted = Wanted(dict.fromkeys(forms, 1.0))
    lower = text.lower()
    starts = [form for form in forms if form.isascii() and form.isalnum()]
    words = [
        (word.start(), form)
        for word in re.finditer(r"\w+", lower)
        for form in starts
        if word[0].startswith(form)
    ]
    parts = [
        (part.start(), form)
        for form in forms
        if form not in starts
        for part in re.finditer(re.escape(form), lower)
    ]
    assert list(wanted.words(text)) == [*words, *parts]


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, unique=True), max_size=12), st.integers(0, 80))
def test_passages_are_taken_as_by_looking_at_all_of_them_each_time(held: list[list[str]], room: int) -> None:
    weights = {"a": 1.0, "b": 0.5, "c": 0.5, "d": 0.25}
    lines = ["".join(words) + "." * len(words) + "\n" for words in held]
    text = "".join(lines)
    spans = list(split(text))
    by_place = {place: frozenset(words) for place, words in enumerate(held)}

    def take_all(take: Callable[[_Room, Set[str]], Set[str]]) -> tuple[list[Set[str]], set[int]]:
        into = _Room(text, spans, room)
        known: Set[str] = frozenset()
        taken = []
        while more := take(into, known):
            known = known | more
            taken.append(more)
        return taken, into._taken

    left = dict(by_place)

    def look_at_all(into: _Room, known: Set[str]) -> Set[str]:
        def worth(place: int) -> float:
            return sum(weights[word] * (_KNOWN if word in known else 1.0) for word in left[place])

        best = max((place for place in left if into.fits(place)), key=worth, default=None)
        if best is None:
            return frozenset()
        into.take(best)
        return left.pop(best)

    assert take_all(_Best(by_place, weights).take) == take_all(look_at_all)


def test_a_text_of_many_passages_is_looked_at_a_few_times() -> None:
    """Each passage that is taken must not cost a look at all others."""
    looks = 0

    class Counted(dict[str, float]):
        def __getitem__(self, word: str) -> float:
            nonlocal looks
            looks += 1
            return super().__getitem__(word)

    lines = 5_000
    best = _Best({place: frozenset(["a"]) for place in range(lines)}, Counted(a=1.0))
    room = _Room("a.\n" * lines, list(split("a.\n" * lines)), 2_000)
    known: Set[str] = frozenset()
    while more := best.take(room, known):
        known = known | more
    assert len(room._taken) > 200
    assert looks < 5 * lines

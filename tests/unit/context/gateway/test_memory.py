"""What a conversation answers to a model's calls, and what of it is kept."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.context.gateway.cleanup import Action
from services.context.gateway.finding import Line, lines_about, shown
from services.context.gateway.memory import (
    NO_ARGUMENT,
    NOTHING_FOUND,
    RELEASED,
    UNKNOWN_HANDLE,
    ConversationMemory,
    Texts,
)
from services.context.gateway.paging.forms import Level
from services.context.gateway.paging.plan import Standing
from services.context.gateway.phantom import PhantomCall, call_of
from services.context.gateway.restoring.hidden import Hidden, Step
from services.context.gateway.restoring.texts import with_texts, without_texts
from services.context.gateway.sessions.state import MOST_BYTES, MOST_LEVELS, State, packed, unpacked

TEXTS = {"m-a": "one\nthe token expires\n" + "x " * 500 + "needle" + " y" * 500, "m-b": "two\nÜ token\n"}


def texts(named: dict[str, str] = TEXTS) -> Texts:
    body, spans = b"", {}
    for handle, text in named.items():
        encoded = json.dumps(text).encode()
        spans[handle] = (len(body), len(body) + len(encoded))
        body += encoded
    return Texts(body, spans)


class Wishes:
    def __init__(self) -> None:
        self.actions: list[Action] = []

    async def take(self, actions: Sequence[Action]) -> None:
        self.actions += actions


def call(name: str, **arguments: str) -> PhantomCall:
    return call_of("c", name, json.dumps(arguments))


async def test_calls_are_answered_from_the_conversation() -> None:
    wishes = Wishes()
    memory = ConversationMemory(texts(), frozenset({"m-a"}), texts({"m-a": TEXTS["m-a"]}), wishes.take)
    for handle in ("m-a", "[memory m-a]", " m-a "):
        assert await memory.answer(call("memory_fault", handle=handle)) == TEXTS["m-a"]
    # m-b is shown in full, so that nobody asks for it.
    for handle in ("m-b", "m-c", "../m-a", "x" * 5_000):
        assert await memory.answer(call("memory_fault", handle=handle)) == UNKNOWN_HANDLE
    assert await memory.answer(call("memory_fault")) == NO_ARGUMENT
    assert await memory.answer(call("memory_release", handle="m-a")) == RELEASED
    await memory.act([Action("anchor", "m-b"), Action("drop", "m-c")])
    assert wishes.actions == [Action("release", "m-a"), Action("anchor", "m-b")]
    found = await memory.answer(call("memory_query", question="When does the token expire?"))
    assert found.splitlines()[0] == "[m-a line 2] the token expires"
    assert await memory.answer(call("memory_query", question="zebra")) == NOTHING_FOUND
    assert memory.references == {TEXTS["m-a"]: "m-a", found: memory.references[found]}


def test_a_long_line_is_shown_around_its_word() -> None:
    (line,) = lines_about("needle", TEXTS.items())
    told = shown([line], TEXTS.get)
    assert told is not None
    assert "needle" in told
    assert len(told) < 450


def test_lines_that_are_gone_are_not_shown() -> None:
    assert shown([Line("m-a", 9, 0)], TEXTS.get) is None
    assert shown([Line("m-z", 1, 0)], TEXTS.get) is None


@given(st.text(max_size=200), st.lists(st.text(max_size=300), max_size=5))
def test_any_question_of_any_texts(question: str, said: list[str]) -> None:
    named = {f"m-{number}": text for number, text in enumerate(said)}
    lines = lines_about(question, named.items())
    assert len(lines) <= 12
    assert shown(lines, named.get) is not None


@pytest.mark.parametrize("field", ["content", "output"])
def test_what_is_kept_names_texts_and_gives_them_back(field: str) -> None:
    lines = [Line("m-b", 2, 0)]
    told = shown(lines, TEXTS.get) or ""
    results = [TEXTS["m-a"], told, "an answer that nothing leads to"]
    raw = [msgspec.Raw(msgspec.json.encode({"id": "c", field: text})) for text in results]
    whole = Hidden(3, ["text a"], [Step(1, [], raw)])
    slim = without_texts(whole, {TEXTS["m-a"]: "m-a", told: lines})
    state = unpacked(packed(State().hiding(slim)))
    stored = msgspec.json.encode(state)
    assert b"expires" not in stored
    assert b"token" not in stored
    assert with_texts(state.hidden[0], texts().made_of) == whole
    assert with_texts(state.hidden[0], texts({"m-a": "other"}).made_of) is None


def test_a_state_that_grows_forgets_what_it_hid_first() -> None:
    state = State(levels={"k": (3, 1)})
    for number in range(9):
        raw = msgspec.Raw(msgspec.json.encode({"content": str(number) * (MOST_BYTES // 4)}))
        state = unpacked(packed(state.hiding(Hidden(number, [], [Step(0, [], [raw])]))))
    assert [hidden.at for hidden in state.hidden][-1] == 8
    assert len(state.hidden) < 5
    assert state.levels == {"k": (3, 1)}


def test_the_last_word_on_a_text_counts() -> None:
    state = State().wishing([Action("release", "m-a"), Action("anchor", "m-b")])
    assert state.wishing([Action("anchor", "m-a")]).wishes == {"m-b": "anchor", "m-a": "anchor"}


def test_a_state_holds_the_newest_levels() -> None:
    state = State()
    for turn in range(3):
        names = [f"{turn}-{number}" for number in range(MOST_LEVELS // 2)]
        state = state.moved(dict.fromkeys(names, Standing(Level.STUB, turn)))
    assert len(state.levels) == MOST_LEVELS
    assert {turn for _, turn in state.levels.values()} == {1, 2}
    assert state.known()["2-0"] == Standing(Level.STUB, 2)

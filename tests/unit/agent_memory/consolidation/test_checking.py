"""What of a helper model's answer the turns bear out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_memory.consolidation.extraction.model.answer import Told, prompt, schema
from services.agent_memory.consolidation.extraction.model.checking import Checked, checked
from services.agent_memory.consolidation.learned import Source, Turn

NOW = datetime(2026, 3, 4, 10, tzinfo=UTC)
TURNS = (
    Turn(
        position=7,
        role="user",
        author="Ana",
        text="I live in Lisbon now; Bob, my boss, calls it Lisboa.",
        at=NOW,
        trust="user",
    ),
    Turn(
        position=8,
        role="assistant",
        author=None,
        text="Noted. I will send the map by Friday.",
        at=NOW,
        trust="agent",
    ),
)
FACT = {"subject": "Ana", "predicate": "lives in", "object": "Lisbon", "single": True, "turns": [1]}
EVENT = {"text": "Ana talked about Lisbon", "date": "2026-03-03", "turns": [1]}
PROMISE = {
    "text": "send the map by Friday",
    "owed_by": "scout",
    "owed_to": "Ana",
    "due": "2026-03-06",
    "turns": [2],
}
ALIAS = {"alias": "Lisboa", "entity": "Lisbon", "turns": [1]}
EMPTY: dict[str, Any] = {
    "facts": [],
    "events": [],
    "commitments": [],
    "aliases": [],
    "topics": [],
    "summary": "",
}


def check(**more: Any) -> Checked:
    told = msgspec.json.decode(msgspec.json.encode({**EMPTY, **more}), type=Told)
    return checked(told, TURNS, Source(agent_name="scout"))


def test_what_the_turns_say_is_kept_with_their_positions() -> None:
    learned, kept, dropped = check(facts=[FACT], commitments=[PROMISE], aliases=[ALIAS])
    assert (kept, dropped) == (3, 0)
    (fact,), (promise,), (alias,) = learned.facts, learned.commitments, learned.aliases
    assert (fact.subject, fact.object, fact.turns, fact.trust) == ("Ana", "Lisbon", (7,), "user")
    assert (promise.turns, promise.trust, promise.due_at) == (
        (8,),
        "agent",
        datetime(2026, 3, 6, 23, 59, tzinfo=UTC),
    )
    assert (alias.alias, alias.entity) == ("Lisboa", "Lisbon")
    (fact,) = check(facts=[{**FACT, "turns": [2, 1]}]).learned.facts
    assert (fact.turns, fact.trust) == ((7, 8), "agent")


@pytest.mark.parametrize(
    ("kind", "item"),
    [
        ("facts", {**FACT, "object": "Porto"}),
        ("facts", {**FACT, "turns": [2]}),
        ("facts", {**FACT, "turns": []}),
        ("facts", {**FACT, "turns": [1, 3]}),
        ("facts", {**FACT, "turns": [0]}),
        ("facts", {**FACT, "turns": "1"}),
        ("facts", {**FACT, "subject": "She"}),
        ("facts", {**FACT, "subject": "Carol"}),
        ("facts", {**FACT, "subject": "scout", "object": "map", "turns": [2]}),
        ("facts", {**FACT, "subject": ""}),
        ("facts", {**FACT, "mood": "sure"}),
        ("facts", "Ana lives in Lisbon"),
        ("events", EVENT),
        ("events", {**EVENT, "text": "lives in Lisbon", "date": "2026-04-01"}),
        ("events", {**EVENT, "text": "lives in Lisbon", "date": "yesterday"}),
        ("commitments", {**PROMISE, "due": "2026-03-01"}),
        ("commitments", {**PROMISE, "due": "2999-03-01"}),
        ("commitments", {**PROMISE, "text": "send the money by Friday"}),
        ("commitments", {**PROMISE, "owed_by": "Carol"}),
        ("aliases", {**ALIAS, "alias": "lisbon"}),
        ("aliases", {**ALIAS, "entity": "Porto"}),
    ],
)
def test_what_they_do_not_say_is_dropped_and_counted(kind: str, item: Any) -> None:
    learned, kept, dropped = check(**{kind: [item]})
    assert (kept, dropped) == (0, 1)
    assert not any(getattr(learned, name) for name in learned.__struct_fields__)


def test_a_summary_names_nobody_else() -> None:
    (episode,) = check(summary="They talked about where Ana lives.", topics=["Lisbon"]).learned.episodes
    assert (episode.turns, episode.trust, episode.topics) == ((7, 8), "agent", ("Lisbon",))
    assert check(summary="They talked about where Carol lives.").dropped == 1
    assert check(summary="They met 17 times.").dropped == 1


def test_the_form_is_what_the_prompt_asks_for() -> None:
    assert "{data}" in prompt()
    assert set(schema()["properties"]) == set(Told.__struct_fields__)
    assert all(f"`{name}`" in prompt() for name in schema()["properties"])


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*FACT, *PROMISE]), inner, max_size=6)
    ),
    max_leaves=12,
)


@given(
    st.fixed_dictionaries(
        {name: st.lists(_JSON, max_size=3) for name in ("facts", "events", "commitments", "aliases")}
    )
)
def test_any_answer_of_the_form_is_checked(answer: dict[str, Any]) -> None:
    result = check(**answer)
    assert result.kept + result.dropped == sum(map(len, answer.values()))

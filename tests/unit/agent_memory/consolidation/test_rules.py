"""What rules learn from turns, and what only looks like it."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.agent_memory.consolidation.extraction.rules import learn
from services.agent_memory.consolidation.extraction.saying import LONGEST
from services.agent_memory.consolidation.learned import Learned, Role, Source, Turn
from shared.provenance import SourceKind
from shared.text import MAX_CONTENT

NOW = datetime(2026, 3, 4, 10, tzinfo=UTC)
Stated = tuple[str, str, str]


def turn(text: str, author: str | None = "Ana", position: int = 0, *, role: Role = "user") -> Turn:
    kinds: dict[Role, SourceKind] = {
        "user": "user",
        "assistant": "agent",
        "tool": "tool",
        "document": "document",
    }
    at = NOW + timedelta(minutes=position)
    return Turn(position=position, role=role, author=author, text=text, at=at, trust=kinds[role])


def of(*turns: Turn, source: Source = Source()) -> Learned:  # noqa: B008
    return learn(turns, source)


def facts(text: str, author: str | None = "Ana", *, role: Role = "user") -> list[Stated]:
    return [(each.subject, each.predicate, each.object) for each in of(turn(text, author, role=role)).facts]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (
            "I live in Lisbon but I work at Acme.",
            [("Ana", "lives in", "Lisbon"), ("Ana", "works at", "Acme")],
        ),
        ("I just moved to Porto with my sister.", [("Ana", "lives in", "Porto")]),
        ("Rui moved to New York last summer.", [("Rui", "lives in", "New York")]),
        ("I started a new job at Siemens on Monday!", [("Ana", "works at", "Siemens")]),
        (
            "I'm a software engineer, and I love hiking.",
            [("Ana", "works as", "software engineer"), ("Ana", "likes", "hiking")],
        ),
        ("Marta works as a nurse at the hospital.", [("Marta", "works as", "nurse")]),
        ("I grew up in Brazil.", [("Ana", "grew up in", "Brazil")]),
        ("I speak Portuguese.", [("Ana", "speaks", "Portuguese")]),
        ("I play the violin in an orchestra.", [("Ana", "plays", "violin")]),
        ("I really enjoy live music.", [("Ana", "likes", "live music")]),
        ("I hate mushrooms, sorry.", [("Ana", "dislikes", "mushrooms")]),
        ("I prefer tea over coffee.", [("Ana", "prefers", "tea")]),
        ("I'm allergic to peanuts.", [("Ana", "is allergic to", "peanuts")]),
        ("I'm vegetarian.", [("Ana", "is", "vegetarian")]),
        ("I have two small children and a job.", []),
        ("I have two kids.", [("Ana", "has", "two kids")]),
        ("We took my dog Rex to the vet.", [("Ana", "dog's name", "Rex")]),
        ("My brother, Tom, is coming over.", [("Ana", "brother's name", "Tom")]),
        ("I adopted a cat named Luna.", [("Ana", "cat's name", "Luna")]),
        ("Rui is now the tech lead of our team.", [("Rui", "role", "tech lead")]),
        ("The deadline is now Friday.", [("deadline", "is", "Friday")]),
        ("The port of the gateway was changed to 9090 because of a clash.", [("gateway", "port", "9090")]),
        ("Atlas's owner is now Eva.", [("Atlas", "owner", "Eva")]),
        ("I am 34 years old.", [("Ana", "age", "34")]),
        ('Tom said: "I live in Oslo."', [("Tom", "lives in", "Oslo")]),
        ('"I work at Acme," said Rui.', [("Rui", "works at", "Acme")]),
    ],
)
def test_a_clause_that_states_a_fact(text: str, stated: list[Stated]) -> None:
    assert facts(text) == stated


@pytest.mark.parametrize(
    "text",
    [
        "Do you live in Lisbon?",
        "If I live in Lisbon next year, I work at Acme.",
        "I might live in Lisbon.",
        "I don't live in Lisbon.",
        "I no longer live in Lisbon.",
        "I never lived in Lisbon.",
        "I wish I lived in Lisbon.",
        "I would love chocolate.",
        "I love it!",
        "I love that painting.",
        "I love the colours.",
        "I love to.",
        "I like how you did it.",
        "I have a question.",
        "I'm a mess.",
        "I moved to the next room.",
        "My son I adore.",
        'She said "I live in Oslo."',
        "> I live in Oslo.",
        "Imagine I am 90 years old.",
        "My dog Monday is a bad name, maybe.",
    ],
)
def test_what_only_looks_like_a_fact(text: str) -> None:
    assert facts(text) == []


def test_who_speaks_decides_what_is_learned() -> None:
    said = "I live in Lisbon. Rui lives in Porto."
    both = [("Ana", "lives in", "Lisbon"), ("Rui", "lives in", "Porto")]
    assert facts(said) == both
    assert facts(said, None) == both[1:]
    assert facts(said, None, role="assistant") == both[1:]
    assert facts(said, None, role="document") == both[1:]
    assert facts(said, role="tool") == []
    assert of(turn(said, None), source=Source(user_id="ana")).facts[0].subject == "ana"


def test_what_is_learned_names_its_turn_and_its_trust() -> None:
    learned = of(turn("Hello there.", position=3), turn("Rui lives in Porto.", None, 4, role="document"))
    (fact,) = learned.facts
    assert (fact.turns, fact.trust, fact.single, fact.valid_from) == (
        (4,),
        "document",
        True,
        NOW + timedelta(minutes=4),
    )


def test_a_fact_holds_since_the_time_that_it_names() -> None:
    (fact,) = of(turn("I have lived in Berlin, and I'm living in Lisbon since 2019.")).facts[-1:]
    assert fact.valid_from == datetime(2019, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Bob, also called Bobby, is here.", [("Bobby", "Bob")]),
        ("Robert (aka Bob) called.", [("Bob", "Robert")]),
        ("K8s is short for Kubernetes.", [("K8s", "Kubernetes")]),
        ("The World Health Organization (WHO) agrees.", [("WHO", "World Health Organization")]),
        ("Everyone calls me Annie.", [("Annie", "Ana")]),
        ("Please call me back.", []),
        ("Is Bob also called Bobby?", []),
        ("Bob is not known as Bobby.", []),
        ("We met Bob (CEO) there.", []),
    ],
)
def test_other_names(text: str, names: list[tuple[str, str]]) -> None:
    assert [(each.alias, each.entity) for each in of(turn(text)).aliases] == names


def test_an_event_has_its_day() -> None:
    (event,) = of(turn("I ran a charity race last Saturday.")).episodes
    assert event.content == "2026-02-28, Ana: I ran a charity race last Saturday."
    assert (event.began_at, event.ended_at) == (
        datetime(2026, 2, 28, tzinfo=UTC),
        datetime(2026, 3, 1, tzinfo=UTC),
    )
    assert not of(turn("I'm running a charity race next Saturday.")).episodes
    assert not of(turn("It felt like yesterday that we met.")).episodes


def test_a_promise_says_who_owes_whom() -> None:
    source = Source(agent_name="scout", user_id="ana")
    promised = "I'll send you the list by Friday."
    (mine,) = of(turn(promised, None, role="assistant"), source=source).commitments
    (hers,) = of(turn(promised, None), source=source).commitments
    assert (mine.owed_by, mine.owed_to) == ("scout", "ana")
    assert (hers.owed_by, hers.owed_to) == ("ana", "scout")
    assert mine.due_at == datetime(2026, 3, 6, 23, 59, tzinfo=UTC)


def test_a_stretch_of_turns_has_an_episode() -> None:
    said = [
        "I planted tomatoes and beans in the garden this week.",
        "The garden looks lovely, did the beans come up?",
        "The beans came up, but slugs ate the tomatoes in one night.",
        "Copper tape around the beds keeps slugs away from tomatoes.",
        "I ordered copper tape for the whole garden.",
    ]
    turns = [turn(text, ("Ana", "Rui")[place % 2], place) for place, text in enumerate(said)]
    (episode,) = [each for each in of(*turns).episodes if len(each.turns) > 1]
    assert episode.turns == (0, 1, 2, 3, 4)
    assert (episode.began_at, episode.ended_at) == (NOW, NOW + timedelta(minutes=4))
    assert {"garden", "tomatoes", "slugs"} <= set(episode.topics)
    assert episode.content.startswith("Ana and Rui about ")
    assert all(line[2:].split(": ", 1)[1] in said for line in episode.content.splitlines()[1:])
    assert not of(*turns[:2]).episodes


@settings(deadline=None)
@given(st.lists(st.text(max_size=200), max_size=6))
def test_any_text_teaches_the_same_twice(texts: list[str]) -> None:
    turns = [turn(text, "Ana", place) for place, text in enumerate(texts)]
    learned = of(*turns)
    assert learned == of(*turns)
    positions = {each.position for each in turns}
    every = (*learned.facts, *learned.episodes, *learned.commitments, *learned.aliases)
    assert all(positions.issuperset(each.turns) for each in every)


_WORST = (
    "I love a b c and d of e to f ",
    "A B C D E F G ",
    'I said "',
    "my dog my dog ",
    "in 2 of 3 at 1 on 5 May ",
    "I'll I'll I'll ",
    "Ana, aka ",
    "last next the 1st ",
    "I have two ",
    "a" * 400,
    "“x”",
    ", and I a",
    "fact: a | b | ",
)


def sentences_of(unit: str, length: int) -> str:
    """As long as sentences may be."""
    sentence = (unit * (LONGEST // len(unit)))[: LONGEST - 2] + ".\n"
    return "I love " + sentence * (length // len(sentence))


@pytest.mark.parametrize("unit", _WORST)
def test_the_worst_texts_take_linear_time(unit: str) -> None:
    def seconds(text: str) -> float:
        started = time.thread_time()
        of(turn(text))
        return time.thread_time() - started

    for text in (lambda length: unit * (length // len(unit)), lambda length: sentences_of(unit, length)):
        short, long = (min(seconds(text(length)) for _ in range(2)) for length in (2_000, 8_000))
        assert long < max(0.25, 9 * short)
        assert seconds(text(MAX_CONTENT)) < max(0.5, 2 * long)

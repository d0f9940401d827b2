"""Which sentences state a fact, and which only look like it."""

from __future__ import annotations

import pytest

from shared.sentences.triples import Triple, triples

Stated = tuple[str, str, str]


def of(text: str, speaker: str | None = "Ana") -> list[Stated]:
    return [(found.subject, found.predicate, found.object) for found in triples(text, speaker)]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("My name is Ana Sousa.", ("Ana", "name", "Ana Sousa")),
        ("my wife is Maria", ("Ana", "wife", "Maria")),
        ("My dog's name is Rex!", ("Ana", "dog's name", "Rex")),
        ("My manager is Rui now.", ("Ana", "manager", "Rui")),
        ("My birthday is 3 May 1990.", ("Ana", "birthday", "3 May 1990")),
        ("My email is ana@example.org.", ("Ana", "email", "ana@example.org")),
        ("My favourite colour is blue.", ("Ana", "favourite colour", "blue")),
        ("By the way, my timezone is UTC+1.", ("Ana", "timezone", "UTC+1")),
        ("I work at Acme.", ("Ana", "works at", "Acme")),
        ("I work for the European Space Agency.", ("Ana", "works at", "European Space Agency")),
        ("I work as a nurse.", ("Ana", "works as", "nurse")),
        ("I live in Lisbon these days.", ("Ana", "lives in", "Lisbon")),
        ("I'm from Porto.", ("Ana", "is from", "Porto")),
        ("I am based in São Paulo.", ("Ana", "lives in", "São Paulo")),
        ("I was born in 1990.", ("Ana", "born in", "1990")),
        ("Rui works at Acme Corp.", ("Rui", "works at", "Acme Corp")),
        ("Rui Costa lives in Porto.", ("Rui Costa", "lives in", "Porto")),
        ("Berlin is the capital of Germany.", ("Berlin", "capital of", "Germany")),
        ("Rui is the owner of the payments service.", ("Rui", "owner of", "payments service")),
        ("The owner of the payments service is Rui.", ("payments service", "owner", "Rui")),
        ("The version of Postgres is 16.2.", ("Postgres", "version", "16.2")),
        ("The port of the gateway is 8080.", ("gateway", "port", "8080")),
        ("Rui's manager is Eva.", ("Rui", "manager", "Eva")),
        ("fact: Ana | works at | Acme", ("Ana", "works at", "Acme")),
    ],
)
def test_a_sentence_that_states_a_fact(text: str, stated: Stated) -> None:
    assert of(text) == [stated]


@pytest.mark.parametrize(
    "text",
    [
        "My point is Python is slow.",
        "My name is not Bob.",
        "My boss is angry.",
        "My guess is Tuesday.",
        "My company is hiring.",
        "My city is beautiful.",
        "My email is broken.",
        "My phone number is private.",
        "My dog is Rex the great and he barks.",
        "My wife is Maria and my son is Tom.",
        "My brother is in Berlin.",
        "My favourite thing is that you came.",
        "My favourite part was when he left.",
        "I work at night.",
        "I work for free.",
        "I work as expected.",
        "I live in fear.",
        "I live in a small town.",
        "I live in Lisbon but I work in Porto.",
        "I'm from the other team.",
        "I used to work at Acme.",
        "I don't work at Acme.",
        "I might live in Berlin soon.",
        "I wish my name was Bob.",
        "Do I live in Lisbon?",
        "I work at Acme?",
        "If I work at Acme, I will pay.",
        "She works at Acme.",
        "She said my name is Bob.",
        "Everyone works at Acme.",
        "Nobody is from Porto.",
        "Someone's manager is Rui.",
        "Your manager is Rui.",
        "This is the owner of the house.",
        "There is the owner of the car.",
        "It is the capital of cool.",
        "The owner of this is Rui.",
        "The version is 3.",
        "The deadline of the project is tight.",
        "The deadline for the report is next week.",
        "| a | b | c |",
        "client -> proxy -> server",
        "fact: | works at | Acme",
        "fact: Ana works at Acme",
    ],
)
def test_a_sentence_that_only_looks_like_one(text: str) -> None:
    assert of(text) == []


def test_what_is_said_of_i_needs_to_know_who_speaks() -> None:
    assert of("I live in Lisbon. Rui lives in Porto.", None) == [("Rui", "lives in", "Porto")]


def test_a_message_may_state_several_facts() -> None:
    assert of("Hi, I work at Acme Inc.\nI live in Lisbon! Nice weather, by the way.") == [
        ("Ana", "works at", "Acme Inc"),
        ("Ana", "lives in", "Lisbon"),
    ]


def test_a_long_message_states_what_it_marks_as_facts_alone() -> None:
    text = "I live in Lisbon. " + "It rains a lot here in the winter. " * 30 + "\nfact: Rui | owns | a boat\n"
    assert of(text) == [("Rui", "owns", "a boat")]


def test_which_predicates_have_one_value() -> None:
    said = "I live in Lisbon. My dog's name is Rex. Rui is the owner of Acme. My wife is Eva."
    assert [(one.predicate, one.single) for one in triples(said, "Ana")] == [
        ("lives in", True),
        ("dog's name", False),
        ("owner of", False),
        ("wife", True),
    ]
    assert triples("fact: Ana | speaks | French", None) == [Triple("Ana", "speaks", "French", single=False)]

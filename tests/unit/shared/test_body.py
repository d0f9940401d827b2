from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta, field
from msgspec.inspect import type_info

from shared.body import MOST_LEVELS, Body, decode
from shared.errors import FieldError, Invalid
from shared.text import SEEN
from shared.validation.values import MOST_ERRORS, errors_of

DEEP = 20_000


class Inner(Body, kw_only=True):
    word: Annotated[str, Meta(min_length=1, max_length=5)]
    letters: list[str] = field(default_factory=list)

    def checks(self) -> Iterator[tuple[str, str]]:
        for place, letter in enumerate(self.letters):
            if not letter.isdigit():
                yield f"letters[{place}]", "must be a digit"


class Outer(Body, kw_only=True):
    name: str
    count: int | None = None
    words: list[str] = field(default_factory=list)
    inner: Inner | None = None
    inners: list[Inner] = field(default_factory=list)
    by_name: dict[str, list[str]] = field(default_factory=dict)
    colour: Literal["red", "green"] | None = None
    at: datetime | None = None
    few: Annotated[list[Inner], Meta(max_length=60)] = field(default_factory=list)
    share: Annotated[float, Meta(gt=0, le=1)] = 1.0
    id: Annotated[int, Meta(gt=0)] = 1


class Cat(Body, tag_field="kind", tag="cat", kw_only=True):
    name: str


class Dog(Cat, tag="dog", kw_only=True):
    ear: bool = False


class Range(Body, kw_only=True):
    least: int
    most: int
    note: str = ""

    def checks(self) -> Iterator[tuple[str, str]]:
        if self.least > self.most:
            yield "least", "must not exceed most"


DECODER = msgspec.json.Decoder(Outer)
ANIMAL = msgspec.json.Decoder(Cat | Dog)
WORD = "a string of 1 to 5 characters"


def refused(body: Any, decoder: Any = DECODER) -> list[FieldError]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(Invalid) as caught:
        decode(raw, decoder)
    assert caught.value.status == 400
    assert caught.value.errors
    return caught.value.errors


@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        ({}, "name", "is required"),
        ({"name": "a", "typo": 1}, "typo", "unknown field"),
        ({"name": 1}, "name", "must be a string, not 1"),
        ({"name": "a", "count": "1"}, "count", "must be a whole number, not a string"),
        ({"name": "a", "count": 1.5}, "count", "must be a whole number, not 1.5"),
        ({"name": "a", "count": True}, "count", "must be a whole number, not true"),
        ({"name": "a", "words": ["b", 2]}, "words[1]", "must be a string, not 2"),
        ({"name": "a", "words": "b"}, "words", "must be a list, not a string"),
        ({"name": "a", "inner": {}}, "inner.word", "is required"),
        ({"name": "a", "inner": {"word": ""}}, "inner.word", f"must be {WORD}, not an empty one"),
        (
            {"name": "a", "inner": {"word": "abcdef"}},
            "inner.word",
            f"must be {WORD}, not one of 6 characters",
        ),
        ({"name": "a", "inner": {"word": "a", "x": 1}}, "inner.x", "unknown field"),
        ({"name": "a", "inners": [{"word": "a"}, {"word": 3}]}, "inners[1].word", f"must be {WORD}, not 3"),
        ({"name": "a", "inners": [{}]}, "inners[0].word", "is required"),
        ({"name": "a", "by_name": {"b": [None]}}, "by_name.b[0]", "must be a string, not null"),
        ({"name": "a", "at": "noon"}, "at", "must be a time in ISO 8601, such as 2026-01-31T09:30:00Z"),
        ({"name": "a", "share": 0}, "share", "must be a number above 0 and up to 1, not 0"),
        ({"name": "a", "id": 0}, "id", "must be a whole number of at least 1, not 0"),
        ([], "body", "must be an object, not a list"),
        ("text", "body", "must be an object, not a string"),
    ],
)
def test_an_error_names_the_path_of_its_field(body: Any, path: str, message: str) -> None:
    assert refused(body) == [{"field": path, "message": message}]


def test_every_error_is_named_at_once() -> None:
    body = {"nam": "a", "count": "1", "inner": {"wrod": "a"}, "inners": [{"word": "b"}, 3], "colour": "rd"}
    assert refused(body) == [
        {"field": "name", "message": "is required"},
        {"field": "count", "message": "must be a whole number, not a string"},
        {"field": "inner.word", "message": "is required"},
        {"field": "inner.wrod", "message": "unknown field", "did_you_mean": "word"},
        {"field": "inners[1]", "message": "must be an object, not 3"},
        {
            "field": "colour",
            "message": "must be one of green, red",
            "allowed": ["green", "red"],
            "did_you_mean": "red",
        },
        {"field": "nam", "message": "unknown field", "did_you_mean": "name"},
    ]


def test_the_detail_names_the_errors_in_words() -> None:
    with pytest.raises(Invalid) as caught:
        decode(b'{"nam": "a", "colour": 1}', DECODER)
    assert caught.value.detail == (
        "name: is required; colour: must be one of green, red, not 1; nam: unknown field (did you mean name?)"
    )


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"ear": True}, [("kind", "is required"), ("name", "is required")]),
        ({"kind": 7, "name": "a", "eye": 1}, [("kind", "must be one of cat, dog"), ("eye", "unknown field")]),
        (
            {"kind": "cta", "name": 3},
            [("name", "must be a string, not 3"), ("kind", "must be one of cat, dog")],
        ),
        ({"kind": "cat", "ear": 1}, [("name", "is required"), ("ear", "unknown field")]),
        ({"kind": "dog", "ear": 1}, [("name", "is required"), ("ear", "must be true or false, not 1")]),
    ],
)
def test_a_tag_decides_which_fields_there_are(body: Any, errors: list[tuple[str, str]]) -> None:
    found = refused(body, ANIMAL)
    assert sorted((error["field"], error["message"]) for error in found) == sorted(errors)
    assert all(error["allowed"] == ["cat", "dog"] for error in found if error["field"] == "kind")


def test_checks_of_the_struct_are_named_beside_other_errors() -> None:
    found = refused({"least": 5, "most": 3, "note": "a\0", "x": 1}, msgspec.json.Decoder(Range))
    assert [(error["field"], error["message"]) for error in found] == [
        ("x", "unknown field"),
        ("note", "must not contain U+0000"),
        ("least", "must not exceed most"),
    ]
    found = refused({"least": 5, "most": "3"}, msgspec.json.Decoder(Range))
    assert [error["field"] for error in found] == ["most"]


@pytest.mark.parametrize(
    "body",
    [
        {f"field{n}": n for n in range(20_000)},
        {"name": "a", "words": [1] * 200_000},
        {"name": "a", "inners": [{}] * 100_000},
        {"name": "a", "words": ["b"] * 200_000 + [1]},
        {"name": "a", "x" * 1_000_000: 1},
        {"name": "a", "by_name": {str(n): 1 for n in range(100_000)}},
        {"name": "a", "inners": [{"word": "ab"}] * 50_000 + [{"word": "a", "words": "x" * 500_000}]},
        {"name": "a", "inner": {"word": "ab", "letters": "x" * 1_000_000}},
        {"name": "a", "few": [{}] * 500_000},
    ],
    ids=range(9),
)
def test_a_hostile_body_costs_little(body: Any) -> None:
    raw = json.dumps(body).encode()
    taken = []
    for _ in range(3):
        started = time.process_time()
        errors = refused(raw)
        taken.append(time.process_time() - started)
    assert min(taken) < 1
    assert len(errors) <= MOST_ERRORS
    assert all(len(error["field"]) < 200 for error in errors)


def test_a_refusal_is_never_without_its_place() -> None:
    """Where the walk ends before the error, the decoder's own place is named."""
    (error,) = refused({"name": "a", "words": ["b"] * 200_000 + [1]})
    assert error == {"field": "words[200000]", "message": "is not valid"}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"name": "a\0b"}, "name"),
        ({"name": "a", "words": ["b", "\0"]}, "words"),
        ({"name": "a", "inner": {"word": "\0"}}, "inner.word"),
        ({"name": "a", "inners": [{"word": "b"}, {"word": "\0"}]}, "inners[1].word"),
        ({"name": "a", "by_name": {"\0": []}}, "by_name"),
        ({"name": "a", "by_name": {"b": ["\0"]}}, "by_name"),
    ],
)
def test_nul_is_refused_wherever_it_stands(body: Any, path: str) -> None:
    (error,) = refused(body)
    assert error["field"] == path
    assert "U+0000" in error["message"]


def test_text_that_only_looks_like_an_escaped_nul_is_text() -> None:
    assert decode(rb'{"name": "\\u0000"}', DECODER).name == "\\u0000"
    assert "U+0000" in refused(rb'{"name": "\\\u0000"}')[0]["message"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b'{"name": "a"',
        b'{"name": "a"} x',
        b'{"name": "a",}',
        b"{'name': 'a'}",
        b"\xff\xfe",
        b'{"name": "\xff"}',
        b'{"name": "a\x00b"}',
        rb'{"name": "\ud800"}',
        rb'{"name": "\udc00\ud800"}',
        b"NaN",
        b'{"name": "a", "count": 1e999}',
        b"[" * DEEP,
        b'{"inner":' * DEEP,
        b'{"typo": ' + b"[" * DEEP + b"]" * DEEP + b', "name": "a"}',
    ],
)
def test_what_is_no_json_is_refused_as_a_whole(body: bytes) -> None:
    (error,) = refused(body)
    assert error["message"]


def test_a_valid_body_is_taken() -> None:
    body = {"name": "a", "count": 2, "inner": {"word": "b"}, "by_name": {"c": ["d"]}}
    found = decode(json.dumps(body).encode(), DECODER)
    assert found == Outer(name="a", count=2, inner=Inner(word="b"), by_name={"c": ["d"]})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from([*Outer.__struct_fields__, "word", "x"])


@settings(deadline=None)
@given(st.one_of(st.binary(max_size=40), st.dictionaries(KEYS, JSON).map(lambda d: json.dumps(d).encode())))
def test_any_body_is_decoded_or_refused(body: bytes) -> None:
    with contextlib.suppress(Invalid):
        assert isinstance(decode(body, DECODER), Outer)


@settings(deadline=None)
@given(st.dictionaries(KEYS, JSON))
def test_the_walk_finds_an_error_where_the_decoder_does(document: Any) -> None:
    raw = msgspec.json.encode(document)
    document = msgspec.json.decode(raw)
    try:
        DECODER.decode(raw)
    except msgspec.ValidationError:
        assert errors_of(type_info(Outer), document)
    else:
        assert errors_of(type_info(Outer), document) == []


class Said(Body, kw_only=True):
    text: Annotated[str, Meta(min_length=1, max_length=5, pattern=SEEN)] | None = None
    notes: list[Annotated[str, Meta(pattern=SEEN)]] = field(default_factory=list)


@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        ({"text": "   "}, "text", f"must be {WORD}, not a blank one"),
        ({"text": "\u200b\u2800"}, "text", f"must be {WORD}, not a blank one"),
        ({"text": ""}, "text", f"must be {WORD}, not an empty one"),
        ({"text": "abcdef"}, "text", f"must be {WORD}, not one of 6 characters"),
        ({"text": 1}, "text", f"must be {WORD}, not 1"),
        ({"notes": ["a", "\n"]}, "notes[1]", "must be a string, not a blank one"),
    ],
)
def test_a_blank_text_is_told_from_one_of_a_wrong_length(body: Any, path: str, message: str) -> None:
    assert refused(body, msgspec.json.Decoder(Said)) == [{"field": path, "message": message}]


class Open(Body, kw_only=True):
    anything: Any = None


@pytest.mark.parametrize("levels", [MOST_LEVELS - 1, MOST_LEVELS, 300, 900])
@pytest.mark.parametrize(("opens", "closes"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_a_value_of_any_kind_is_so_deep_at_most(levels: int, opens: bytes, closes: bytes) -> None:
    body = b'{"anything":' + opens * levels + b"1" + closes * levels + b"}"
    decoder = msgspec.json.Decoder(Open)
    if levels < MOST_LEVELS:
        assert decode(body, decoder).anything
        return
    with pytest.raises(Invalid) as refused:
        decode(body, decoder)
    assert str(refused.value) == "anything: is nested too deeply"

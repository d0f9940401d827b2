from __future__ import annotations

import contextlib
import json
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta, field

from shared.body import Body, decode
from shared.errors import Invalid

DEEP = 20_000


class Inner(Body, kw_only=True):
    word: Annotated[str, Meta(min_length=1, max_length=5)]


class Outer(Body, kw_only=True):
    name: str
    count: int | None = None
    words: list[str] = field(default_factory=list)
    inner: Inner | None = None
    inners: list[Inner] = field(default_factory=list)
    by_name: dict[str, list[str]] = field(default_factory=dict)


DECODER = msgspec.json.Decoder(Outer)


def refused(body: Any) -> list[dict[str, str]]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(Invalid) as caught:
        decode(raw, DECODER)
    assert caught.value.status == 400
    assert caught.value.errors
    return caught.value.errors


@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        ({}, "name", "is required"),
        ({"name": "a", "typo": 1}, "typo", "unknown field"),
        ({"name": 1}, "name", "Expected `str`"),
        ({"name": "a", "count": "1"}, "count", "Expected `int | null`"),
        ({"name": "a", "count": 1.5}, "count", "Expected `int | null`"),
        ({"name": "a", "count": True}, "count", "Expected `int | null`"),
        ({"name": "a", "words": ["b", 2]}, "words[1]", "Expected `str`"),
        ({"name": "a", "inner": {}}, "inner.word", "is required"),
        ({"name": "a", "inner": {"word": ""}}, "inner.word", "length >= 1"),
        ({"name": "a", "inner": {"word": "abcdef"}}, "inner.word", "length <= 5"),
        ({"name": "a", "inner": {"word": "a", "x": 1}}, "inner.x", "unknown field"),
        ({"name": "a", "inners": [{"word": "a"}, {"word": 3}]}, "inners[1].word", "Expected `str`"),
        ({"name": "a", "inners": [{}]}, "inners[0].word", "is required"),
        ([], "body", "Expected `object`"),
        ("text", "body", "Expected `object`"),
    ],
)
def test_an_error_names_the_path_of_its_field(body: Any, path: str, message: str) -> None:
    (error,) = refused(body)
    assert error["field"] == path
    assert message in error["message"]


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
KEYS = st.sampled_from(["name", "count", "words", "inner", "inners", "by_name", "x"])


@settings(deadline=None)
@given(st.one_of(st.binary(max_size=40), st.dictionaries(KEYS, JSON).map(lambda d: json.dumps(d).encode())))
def test_any_body_is_decoded_or_refused(body: bytes) -> None:
    with contextlib.suppress(Invalid):
        assert isinstance(decode(body, DECODER), Outer)

from __future__ import annotations

import pytest

from shared.auth import Principal, bearer, same_secret
from shared.errors import Forbidden, Unauthorized


def test_access_is_only_what_was_given() -> None:
    reader = Principal("t", "k", frozenset({"read"}))
    reader.require("read")
    for access in ("write", "admin"):
        with pytest.raises(Forbidden):
            reader.require(access)


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        ("mission:m", True),
        ("mission:n", False),
        ("mission:", False),
        ("agent:ana", True),
        ("agent:bo", False),
        ("user:u", True),
        ("user:v", False),
        ("user:", False),
        ("project:p", True),
        ("shared", True),
    ],
)
def test_grants_narrow_what_a_key_touches(scope: str, allowed: bool) -> None:
    bound = Principal("t", "k", frozenset(), "ana", frozenset({"m"}), frozenset({"u"}))
    free = Principal("t", "k", frozenset())
    free.require_scope(scope)
    if allowed:
        bound.require_scope(scope)
    else:
        with pytest.raises(Forbidden):
            bound.require_scope(scope)


def test_no_grant_at_all_is_not_every_grant() -> None:
    nothing = Principal("t", "k", frozenset(), missions=frozenset(), users=frozenset())
    for scope in ("mission:m", "user:u"):
        with pytest.raises(Forbidden):
            nothing.require_scope(scope)


@pytest.mark.parametrize(
    ("granted", "asked", "seen"),
    [
        (None, None, None),
        (None, "u", ["u"]),
        ({"v", "u"}, None, ["u", "v"]),
        ({"v", "u"}, "u", ["u"]),
        (set(), None, []),
    ],
)
def test_of_whom_a_read_may_tell(granted: set[str] | None, asked: str | None, seen: list[str] | None) -> None:
    users = None if granted is None else frozenset(granted)
    principal = Principal("t", "k", frozenset(), users=users)
    assert principal.seen_users(asked) == seen
    if granted is not None:
        with pytest.raises(Forbidden):
            principal.seen_users("w")


@pytest.mark.parametrize(
    ("header", "token"),
    [("Bearer abc", "abc"), ("bearer abc", "abc"), ("BEARER  abc ", "abc"), ("Bearer a b", "a b")],
)
def test_a_bearer_token(header: str, token: str) -> None:
    assert bearer(header) == token


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic abc", "abc", "Bearerabc"])
def test_no_bearer_token(header: str | None) -> None:
    with pytest.raises(Unauthorized):
        bearer(header)


def test_secrets_are_compared_whole() -> None:
    assert same_secret("geheim-ü", "geheim-ü")
    assert not same_secret("geheim", "geheim-ü")
    assert not same_secret("", "geheim")

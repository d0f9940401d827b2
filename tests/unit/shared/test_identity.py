from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.auth import Principal
from shared.concurrency import clock
from shared.errors import Unauthorized
from shared.identity import VALID_SECONDS, Signer, Verifier

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
PRINCIPALS = st.builds(
    Principal,
    tenant=NAMES,
    key=NAMES,
    access=st.frozensets(st.sampled_from(["read", "write", "admin"])),
    agent=st.none() | NAMES,
    missions=st.none() | st.frozensets(NAMES),
    users=st.none() | st.frozensets(NAMES),
)
ANA = Principal("t", "k", frozenset({"read"}), "ana", frozenset({"m"}), frozenset({"u"}))
SIGNER, VERIFIER = Signer("cache", ["secret"]), Verifier("cache", ["secret"])


@given(PRINCIPALS)
def test_an_identity_travels_in_a_header(principal: Principal) -> None:
    header = SIGNER.header(principal)
    assert header.isascii()
    assert header.isprintable()
    assert VERIFIER.principal(header) == principal


@given(st.text())
def test_anything_else_is_no_identity(header: str) -> None:
    with pytest.raises(Unauthorized):
        VERIFIER.principal(header)


@given(PRINCIPALS, st.data())
def test_an_altered_identity_is_none(principal: Principal, data: st.DataObject) -> None:
    header = SIGNER.header(principal)
    place = data.draw(st.integers(0, len(header) - 1))
    other = data.draw(st.sampled_from("abcXYZ019-_.=").filter(lambda letter: letter != header[place]))
    with pytest.raises(Unauthorized):
        VERIFIER.principal(header[:place] + other + header[place + 1 :])


def test_it_holds_for_one_owner_and_one_secret() -> None:
    header = SIGNER.header(ANA)
    for verifier in (
        Verifier("agent_memory", ["secret"]),
        Verifier("cache", ["other"]),
        Verifier("cache", []),
    ):
        with pytest.raises(Unauthorized):
            verifier.principal(header)
    assert Verifier("cache", ["other", "secret"]).principal(header) == ANA


def test_the_first_secret_signs() -> None:
    header = Signer("cache", ["new", "secret"]).header(ANA)
    assert Verifier("cache", ["secret", "new"]).principal(header) == ANA
    with pytest.raises(Unauthorized):
        VERIFIER.principal(header)


def test_an_identity_expires_though_it_was_seen_before(monkeypatch: pytest.MonkeyPatch) -> None:
    now = clock.unix()
    header = SIGNER.header(ANA)
    assert VERIFIER.principal(header) == ANA
    monkeypatch.setattr(clock, "unix", lambda: now + VALID_SECONDS)
    with pytest.raises(Unauthorized, match="expired"):
        VERIFIER.principal(header)
    assert VERIFIER.principal(SIGNER.header(ANA)) == ANA


def test_it_stays_valid_for_at_least_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than any deadline, and than clocks are apart."""
    now = clock.unix()
    for start in range(25):
        monkeypatch.setattr(clock, "unix", lambda start=start: now + start)
        header = SIGNER.header(ANA)
        monkeypatch.setattr(clock, "unix", lambda start=start: now + start + 39)
        assert VERIFIER.principal(header) == ANA

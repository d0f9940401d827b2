from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from shared.auth import Principal
from shared.provenance import Origin, author, doubt, lies_ahead
from shared.search.evidence import Candidate

UNBOUND = Principal("t", "1", frozenset(["write"]))
SCOUT = Principal("t", "2", frozenset(["write"]), agent="scout")


@pytest.mark.parametrize(
    ("agent", "speaker", "shown"),
    [
        ("mallory", "alice", "alice, says mallory"),
        ("mallory", None, "mallory"),
        ("mallory", "mallory", "mallory"),
        ("mallory", "assistant", "mallory"),
        ("mallory", "x, says alice", "x, says alice, says mallory"),
        (None, "alice", "alice"),
        (None, None, None),
    ],
)
def test_an_agent_stands_behind_what_it_reports(
    agent: str | None, speaker: str | None, shown: str | None
) -> None:
    assert author(agent, speaker) == shown


def test_only_keys_without_an_agent_speak_for_users() -> None:
    assert Origin.of(UNBOUND, "user") == Origin("user", None)
    assert Origin.of(SCOUT, "user") == Origin("agent", "user")
    for kind in ("agent", "tool", "document", "derived", "imported"):
        assert Origin.of(SCOUT, kind) == Origin(kind, None)


@pytest.mark.parametrize(
    ("kind", "claim", "note"),
    [
        ("user", None, None),
        ("agent", None, None),
        ("agent", "user", "(claimed user)"),
        ("tool", None, "(tool)"),
        ("document", None, "(document)"),
        ("imported", "user", "(imported)"),
        ("unheard-of", None, "(unheard-of)"),
    ],
)
def test_a_header_notes_what_is_not_trusted(kind: str, claim: str | None, note: str | None) -> None:
    assert doubt(kind, claim) == note
    now = datetime(2026, 7, 4, tzinfo=UTC)
    candidate = Candidate(
        id=1,
        scope="mission:m",
        kind="intel",
        text="x",
        created_at=now,
        agent="scout",
        source_kind=kind,
        source_claim=claim,
        labels=["from grafana"],
    )
    assert candidate.header == ["intel", *([note] if note else []), "scout", "from grafana"]


def test_a_header_names_no_kind_that_says_nothing() -> None:
    at = datetime(2026, 7, 4, tzinfo=UTC)
    known, preferred = (
        Candidate(id=1, scope="shared", kind=kind, text="x", created_at=at, speaker="Ida")
        for kind in ("knowledge", "preference")
    )
    assert known.header == ["Ida"]
    assert preferred.header == ["preference", "Ida"]


def test_a_time_may_be_a_minute_ahead_and_no_more() -> None:
    now = datetime.now(UTC)
    assert not lies_ahead(None)
    assert not lies_ahead(now + timedelta(seconds=50))
    assert lies_ahead(now + timedelta(seconds=80))
    assert lies_ahead((now + timedelta(seconds=80)).replace(tzinfo=None))
    assert not lies_ahead(now.astimezone(timezone(timedelta(hours=14))))
    assert lies_ahead(datetime.max)
    assert not lies_ahead(datetime.min.replace(tzinfo=timezone(timedelta(hours=5))))

"""What of a message lasts beyond its mission, and when what it promises is due."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from services.context.remember.lasting import Lasting, lasting, scope
from services.context.remember.routing import pieces
from services.context.remember.schemas import Message, RememberInput, Role
from shared.sentences.due import due

# A Wednesday.
NOW = datetime(2026, 3, 4, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("sentence", "at"),
    [
        ("I will send it by Friday", datetime(2026, 3, 6, 23, 59, tzinfo=UTC)),
        ("I'll call on Wednesday", datetime(2026, 3, 11, 23, 59, tzinfo=UTC)),
        ("I will do it tomorrow", datetime(2026, 3, 5, 23, 59, tzinfo=UTC)),
        ("I will do it tomorrow at 9:30", datetime(2026, 3, 5, 9, 30, tzinfo=UTC)),
        ("You have it by end of day", datetime(2026, 3, 4, 23, 59, tzinfo=UTC)),
        ("I'll report back in 2 hours", datetime(2026, 3, 4, 12, 0, tzinfo=UTC)),
        ("I'll be done within a week", datetime(2026, 3, 11, 10, 0, tzinfo=UTC)),
        ("I will pay on 2026-04-01", datetime(2026, 4, 1, 23, 59, tzinfo=UTC)),
        ("I will pay on 1 March", datetime(2027, 3, 1, 23, 59, tzinfo=UTC)),
        ("I will pay on 5 March 2026", datetime(2026, 3, 5, 23, 59, tzinfo=UTC)),
        ("I will pay on 29 February 2027", None),
        ("I will pay between 1 April and 3 April", None),
        ("I will pay in May", datetime(2026, 5, 31, 23, 59, tzinfo=UTC)),
        ("I will pay by the end of the month", datetime(2026, 3, 31, 23, 59, tzinfo=UTC)),
        ("I will pay next week at noon or by 5pm today", None),
        ("I will pay next year", None),
        ("I'll be there on Friday at 5 pm", datetime(2026, 3, 6, 17, tzinfo=UTC)),
        ("I paid it yesterday", None),
        ("I will pay soon", None),
        ("I will be back in no time", None),
    ],
)
def test_when_a_promise_is_due(sentence: str, at: datetime | None) -> None:
    assert due(sentence, NOW) == at


def of(text: str, *, role: Role = "user", **more: Any) -> Lasting | None:
    body = {"caller": "scout", "user_id": "ana", "mission_namespace": "moria", **more}
    request = RememberInput(**body, messages=[Message(role=role, content=text)])
    ((piece, _),) = pieces(request)
    return lasting(request, piece, NOW)


@pytest.mark.parametrize(
    "text",
    [
        "I prefer short answers.",
        "Thanks! I'd rather have numbers first.",
        "My favourite editor is Helix.",
        "Please call me Annie.",
        "By the way, I'm allergic to nuts.",
    ],
)
def test_a_users_preference_lasts(text: str) -> None:
    found = of(text)
    assert found is not None
    assert (found.kind, found.content) == ("preference", text)
    assert of(text, role="assistant") is None
    assert of(text, user_id=None) is None
    assert of(text, ttl_hours=1.0) is None


@pytest.mark.parametrize(
    "text",
    [
        "Please call me back.",
        "Which one do I prefer?",
        "The customers prefer refunds.",
        "I like that idea.",
        "He will send it by Friday.",
        "I will not send it by Friday.",
        "I will send it.",
        "What I will say by Friday is unclear: " + "and so on " * 100,
        "A summary of the session would help.",
    ],
)
def test_what_is_not_clearly_such_a_statement_does_not_last(text: str) -> None:
    assert of(text) is None


def test_a_promise_says_who_owes_what_to_whom() -> None:
    mine = of("Sure. I'll send you the list by Friday.", role="assistant")
    hers = of("I will sign the contract by Friday.")
    assert mine is not None
    assert hers is not None
    friday = datetime(2026, 3, 6, 23, 59, tzinfo=UTC)
    assert mine.fields == {"owed_by": "scout", "owed_to": "ana", "due_at": friday}
    assert hers.fields == {"owed_by": "ana", "owed_to": "scout", "due_at": friday}


def test_a_promise_whose_time_has_passed_does_not_last() -> None:
    said = datetime(2025, 3, 4, tzinfo=UTC)
    message = Message(role="user", content="I will send it by Friday.", occurred_at=said)
    request = RememberInput(caller="scout", messages=[message])
    ((piece, _),) = pieces(request)
    assert lasting(request, piece, NOW) is None


def test_a_summary_is_an_episode() -> None:
    found = of("Session summary: we rolled back, and payments recovered.", role="assistant")
    assert found is not None
    assert found.kind == "episode"


def test_who_finds_it() -> None:
    everything: dict[str, Any] = {
        "caller": "scout",
        "text": "x",
        "user_id": "ana",
        "mission_namespace": "moria",
    }
    assert scope(RememberInput(**everything)) == "user:ana"
    assert scope(RememberInput(**everything | {"user_id": None})) == "mission:moria"
    assert scope(RememberInput(caller="scout", text="x")) == "agent:scout"

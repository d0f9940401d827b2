"""The public library of Standard Webhooks accepts what is signed here, and nothing that was changed."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from services.context.timeline.schemas import Event
from services.context.webhooks import signing

AT = datetime(2030, 1, 1, tzinfo=UTC)


def event(seq: int, text: str = "x") -> Event:
    return Event(
        seq=seq,
        kind=text,
        scope=f"mission:{text}",
        mission_id=text,
        agent_name=None,
        session_id=None,
        dispatch_id=None,
        payload={"id": seq, "name": text},
        created_at=AT,
    )


@given(st.text(min_size=1, max_size=50), st.integers(1, 2**63 - 1), st.binary(min_size=24, max_size=64))
def test_the_public_library_verifies_it(text: str, seq: int, secret: bytes) -> None:
    message = signing.message("t", event(seq, text))
    headers = signing.headers(message, [secret], time.time())
    body = Webhook(signing.shown(secret)).verify(message.body, headers)
    assert (body["type"], body["data"]["seq"], body["timestamp"]) == (text, seq, "2030-01-01T00:00:00Z")
    with pytest.raises(WebhookVerificationError):
        Webhook(signing.shown(secret)).verify(message.body + b" ", headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(signing.shown(secret)).verify(message.body, {**headers, "webhook-id": "evt_other"})


def test_during_a_rotation_both_secrets_verify_it() -> None:
    new, old = signing.new_secret(), signing.new_secret()
    message = signing.message("t", event(1))
    headers = signing.headers(message, [new, old], time.time())
    for secret in (new, old):
        Webhook(signing.shown(secret)).verify(message.body, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(signing.shown(signing.new_secret())).verify(message.body, headers)


def test_ids_tell_tenants_and_events_apart_and_stay() -> None:
    ids = {signing.event_id(tenant, seq) for tenant in ("a", "b", "a/1") for seq in range(1, 100)}
    assert len(ids) == 3 * 99
    assert signing.event_id("a", 1) == signing.event_id("a", 1)

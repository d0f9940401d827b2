"""The message of an event, as Standard Webhooks wants it: a body, an id, a time and signatures. Pure."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

import msgspec

from services.context.timeline.schemas import Event
from shared.provenance import utc

PREFIX = "whsec_"
_SECRET_BYTES = 32
_IDS = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


class Message(msgspec.Struct, frozen=True):
    id: str
    body: bytes


class _Body(msgspec.Struct):
    type: str
    timestamp: datetime
    data: Any


def new_secret() -> bytes:
    return secrets.token_bytes(_SECRET_BYTES)


def shown(secret: bytes) -> str:
    return PREFIX + base64.b64encode(secret).decode()


def event_id(tenant: str, seq: int) -> str:
    """The same for every attempt and every webhook, and another for every event of the installation."""
    return f"evt_{uuid5(_IDS, f'{tenant}/{seq}')}"


def message(tenant: str, event: Event) -> Message:
    return Message(event_id(tenant, event.seq), _encoded(event.kind, event.created_at, event))


def test_message(now: datetime) -> Message:
    """What a test sends. Its id is that of no event."""
    data = {"test": True}
    return Message(f"evt_test_{secrets.token_hex(8)}", _encoded("webhook_test", now, data))


def _encoded(kind: str, at: datetime, data: Any) -> bytes:
    return msgspec.json.encode(_Body(kind, utc(at, "timestamp") or at, data))


def headers(sent: Message, keys: Sequence[bytes], now: float) -> dict[str, str]:
    """`now` in seconds since 1970. A signature for each key, so that a receiver may have either."""
    at = str(int(now))
    signed = b".".join((sent.id.encode(), at.encode(), sent.body))
    return {
        "webhook-id": sent.id,
        "webhook-timestamp": at,
        "webhook-signature": " ".join(_signature(key, signed) for key in keys),
        "content-type": "application/json",
    }


def _signature(key: bytes, signed: bytes) -> str:
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()

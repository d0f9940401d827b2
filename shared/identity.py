"""The signed header in which the context service names the caller to an owner.

`payload.expires.signature`: the principal as JSON in base64url, the end of its validity in Unix seconds, and an
HMAC-SHA256 over both and over the name of the owner. The secret itself never travels.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from shared.auth import Principal
from shared.concurrency import clock
from shared.errors import Unauthorized

HEADER = "x-scrubjay-identity"
VALID_SECONDS = 60
# Within one period, a caller's header stays the same, so neither side computes it again.
_PERIOD_SECONDS = 20
_CACHED = 4_096

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Principal)


class _Claim(NamedTuple):
    """`expires` is in Unix seconds."""

    principal: Principal
    expires: int


class Signer:
    """Signs for one owner, with the first of its secrets."""

    def __init__(self, owner: str, secrets: Sequence[str], *, valid_seconds: int = VALID_SECONDS) -> None:
        self._owner = owner
        self._secret = secrets[0].encode()
        self._valid_seconds = valid_seconds
        self._header = lru_cache(maxsize=_CACHED)(self._signed)

    def header(self, principal: Principal) -> str:
        """The value stays valid for `valid_seconds`, less the 20 s for which it may be reused."""
        return self._header(principal, int(clock.unix()) // _PERIOD_SECONDS)

    def _signed(self, principal: Principal, period: int) -> str:
        payload = base64.urlsafe_b64encode(_ENCODER.encode(principal)).decode()
        claim = f"{payload}.{period * _PERIOD_SECONDS + self._valid_seconds}"
        return f"{claim}.{_signature(self._owner, claim, self._secret)}"


class Verifier:
    """Accepts what was signed for this owner with any of its secrets, so that operators can rotate them."""

    def __init__(self, owner: str, secrets: Sequence[str]) -> None:
        self._owner = owner
        self._secrets = [secret.encode() for secret in secrets]
        self._claim = lru_cache(maxsize=_CACHED)(self._verified)

    def principal(self, header: str) -> Principal:
        """Raises Unauthorized."""
        claim = self._claim(header)
        if clock.unix() >= claim.expires:
            raise Unauthorized("the identity has expired")
        return claim.principal

    def _verified(self, header: str) -> _Claim:
        claim, _, signature = header.rpartition(".")
        given = signature.encode("utf-8", "replace")
        if not any(hmac.compare_digest(given, self._expected(claim, secret)) for secret in self._secrets):
            raise Unauthorized("the identity is not signed for this service")
        payload, _, expires = claim.partition(".")
        try:
            return _Claim(_DECODER.decode(base64.urlsafe_b64decode(payload)), int(expires))
        except (binascii.Error, msgspec.DecodeError, ValueError) as error:
            raise Unauthorized("the identity cannot be read") from error

    def _expected(self, claim: str, secret: bytes) -> bytes:
        return _signature(self._owner, claim, secret).encode()


def _signature(owner: str, claim: str, secret: bytes) -> str:
    signed = f"{owner}.{claim}".encode("utf-8", "replace")
    return base64.urlsafe_b64encode(hmac.digest(secret, signed, "sha256")).decode().rstrip("=")

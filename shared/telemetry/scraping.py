"""Who may read /metrics."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field

from shared.settings import Env

_NAME = "SCRUBJAY_METRICS"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True)
class Scraping:
    """Everybody where it is open, or else who sends one of the tokens."""

    open: bool = True
    tokens: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def from_env(cls, env: Env, host: str) -> Scraping:
        """By default it is open only to this machine."""
        values = env.names(_NAME) or ("open" if host in _LOOPBACK else "closed",)
        if values in (("open",), ("closed",)):
            return cls(open=values == ("open",))
        if any(len(value) < _SHORTEST_TOKEN for value in values):
            env.refuse(f"{_NAME} must be open, closed, or tokens of at least {_SHORTEST_TOKEN} characters")
        return cls(open=False, tokens=values)

    def allows(self, authorization: str) -> bool:
        scheme, _, given = authorization.partition(" ")
        sent = given.strip().encode()
        matches = [hmac.compare_digest(sent, token.encode()) for token in self.tokens]
        return self.open or (scheme.lower() == "bearer" and any(matches))

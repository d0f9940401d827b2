"""Who pays for the calls that a request leads to.

A context variable, because embedders and caches stand between the request and the call, and serve many requests: the
one that starts a call pays for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec


class Payer(msgspec.Struct, frozen=True):
    tenant: str
    key: str | None = None
    agent: str | None = None
    mission: str | None = None
    session: str | None = None
    scope: str | None = None
    """Where a purge finds the row, if not by its mission or agent."""

    @property
    def where(self) -> str:
        if self.scope is not None:
            return self.scope
        if self.mission is not None:
            return f"mission:{self.mission}"
        return "shared" if self.agent is None else f"agent:{self.agent}"


_PAYER: ContextVar[Payer | None] = ContextVar("payer", default=None)


def pay(payer: Payer) -> None:
    """From here to the end of the task, which is a request's own."""
    _PAYER.set(payer)


@contextmanager
def charged_to(payer: Payer) -> Iterator[None]:
    token = _PAYER.set(payer)
    try:
        yield
    finally:
        _PAYER.reset(token)


@contextmanager
def charged_to_nobody() -> Iterator[None]:
    """For calls that serve no request, although one led to them."""
    token = _PAYER.set(None)
    try:
        yield
    finally:
        _PAYER.reset(token)


def payer_of(tenant: str) -> Payer:
    """Who pays now for a call of the tenant. Work of nobody's request is the tenant's."""
    payer = _PAYER.get()
    return payer if payer is not None and payer.tenant == tenant else Payer(tenant)


def current() -> Payer | None:
    return _PAYER.get()

"""Calls of the model, each of them announced before and counted after.

A restart finds an announced call whose answer it never saw. The provider may have billed it, so it is recorded as
abandoned. The cost has the call's name as its key: where it was recorded before the restart, it stays as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

from scrubjay.client import AsyncClient
from scrubjay.errors import ConflictError, TooManyError, UnprocessableError
from scrubjay.models import MessageInput, Prompt
from scrubjay_agent.journal.entries import Asked, digest
from scrubjay_agent.journal.journal import Journal
from scrubjay_agent.providers.protocol import (
    LostError,
    Provider,
    RefusedError,
    Reply,
    ToolSpec,
    Usage,
)

_log = logging.getLogger(__name__)


class CeilingError(Exception):
    """No further call may be made: what they may cost is spent."""


class Caller:
    def __init__(self, jay: AsyncClient, journal: Journal, provider: Provider, agent: str) -> None:
        self._jay = jay
        self._journal = journal
        self._provider = provider
        self._agent = agent

    @property
    def format(self) -> Literal["anthropic", "openai"]:
        return self._provider.format

    async def call(
        self,
        key: str,
        number: int,
        session: str,
        prompt: Prompt,
        messages: Sequence[MessageInput],
        tools: Sequence[ToolSpec],
    ) -> Reply:
        """`number` counts the turn's calls. Raises RefusedError, LostError or CeilingError."""
        await self._abandoned(key, number, session)
        await self._require_allowance()
        attempt = self._journal.state.attempts(key, number) + 1
        await self._journal.append(Asked(key, number, attempt))
        try:
            reply = await self._provider.complete(prompt, messages, tools)
        except RefusedError:
            await self._record(key, number, attempt, session, "failed", None)
            raise
        except LostError:
            await self._record(key, number, attempt, session, "abandoned", None)
            raise
        await self._record(key, number, attempt, session, "ok", reply.usage)
        return reply

    async def abandon(self, key: str, session: str) -> None:
        """Records the turn's last call, which something cut off. Where it has its row already, that stays."""
        if numbers := self._journal.state.asked.get(key):
            await self._abandoned(key, max(map(int, numbers)), session)

    async def _abandoned(self, key: str, number: int, session: str) -> None:
        for attempt in range(1, self._journal.state.attempts(key, number) + 1):
            await self._record(key, number, attempt, session, "abandoned", None)

    async def _require_allowance(self) -> None:
        """Raises CeilingError, or TooManyError where the key has made too many requests."""
        try:
            await self._jay.allowance(agent=self._agent)
        except TooManyError as error:
            if str(error.problem.extra.get("limit", "")).startswith("ceiling "):
                raise CeilingError from error
            raise

    async def _record(
        self,
        key: str,
        number: int,
        attempt: int,
        session: str,
        outcome: Literal["ok", "abandoned", "failed"],
        usage: Usage | None,
    ) -> None:
        used = usage or Usage(0, 0)
        # It was recorded before the restart.
        with suppress(ConflictError, UnprocessableError):
            await self._jay.record_cost(
                model=self._provider.model,
                kind="turn",
                outcome=outcome,
                agent_name=self._agent,
                session_id=session,
                input_tokens=used.input,
                output_tokens=used.output,
                cache_read_tokens=used.cache_read,
                cache_write_tokens=used.cache_write,
                idempotency_key=digest("cost", session, key, number, attempt),
            )

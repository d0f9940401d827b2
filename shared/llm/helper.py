"""Calls the helper model: never for longer than its time, and without an error for its caller's sake."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, get_args
from uuid import UUID

import msgspec
import structlog
from prometheus_client import Counter

from shared.concurrency import clock
from shared.concurrency.breaker import Breaker
from shared.concurrency.calls import guarded
from shared.llm import prompts
from shared.llm.prompts import AnswerFields, Passage, SummaryFields
from shared.llm.provider import Completion, HelperUnavailable, Provider
from shared.llm.settings import HelperSettings
from shared.spending import Outcome, Tokens, estimated_tokens, outcome_of

log = structlog.get_logger()

T = TypeVar("T")
Purpose = Literal["summary", "answer", "extraction", "synthesis"]
Written = SummaryFields

CALLS = Counter("scrubjay_helper_calls_total", "Calls of the helper model", ["purpose", "outcome"])

_LONGEST_ANSWER = 2_000
_ANSWER_TOKENS = 800
_PROBE_SECONDS = 5.0


class Spent(NamedTuple):
    """What a call took, and for whom it was made."""

    tenant: str
    session_id: UUID | None
    purpose: Purpose
    model: str
    tokens: Tokens | None
    """None where nobody knows them."""
    outcome: Outcome = "ok"
    sent: int = 0
    """Estimates the tokens of a call whose own are unknown."""


Record = Callable[[Spent], Awaitable[None]]
Reached = Callable[[str, UUID | None], Awaitable[str | None]]
"""Takes the tenant and the session of a call that is to be made, and answers the ceiling that they have reached."""


class Answered(NamedTuple):
    text: str
    """At most 2,000 characters."""
    quote: str
    """It stands in one of the passages, letter for letter."""


class Helper:
    def __init__(
        self, provider: Provider, settings: HelperSettings, record: Record, reached: Reached | None = None
    ) -> None:
        self._provider, self._record, self._reached = provider, record, reached
        self._keeping: set[asyncio.Task[None]] = set()
        self.model = f"{settings.kind}:{settings.model}"
        self._timeout = settings.timeout
        # Answers do not wait behind summaries.
        self._turns = {purpose: asyncio.Semaphore(settings.concurrency) for purpose in get_args(Purpose)}
        self.breaker = Breaker(
            "helper", provider.ready, failures=5, probe_seconds=_PROBE_SECONDS, shortest=2.0, longest=30.0
        )

    async def close(self) -> None:
        await self.breaker.close()
        await self._provider.close()
        await asyncio.gather(*self._keeping)

    async def summarize(
        self, text: str, *, detailed: int, compact: int, tenant: str, session_id: UUID | None = None
    ) -> Written | None:
        """At about so many tokens each, unchecked. None when the model gives no summary now."""
        rules, block = prompts.summary_prompt(prompts.scrubbed(text), detailed, compact, clock.now())
        most = 3 * (detailed + compact) + _ANSWER_TOKENS
        asked = _Asked(tenant, session_id, "summary", rules, block, prompts.SUMMARY_SCHEMA, most)
        return await self._fields(asked, SummaryFields)

    async def answer(
        self, question: str, passages: Sequence[str], *, tenant: str, session_id: UUID | None = None
    ) -> Answered | None:
        """None when the passages do not answer, and when the model gives no answer now or one without a proof."""
        texts = [prompts.scrubbed(passage) for passage in passages]
        rules, block = prompts.answer_prompt(prompts.scrubbed(question), texts, clock.now())
        asked = _Asked(tenant, session_id, "answer", rules, block, prompts.ANSWER_SCHEMA, _ANSWER_TOKENS)
        given = await self._fields(asked, AnswerFields)
        if given is None or not proves(given, passages):
            return None
        return Answered(given.answer.strip()[:_LONGEST_ANSWER], given.quote.strip())

    async def extract(
        self,
        rules: str,
        passages: Sequence[Passage],
        schema: dict[str, Any],
        kind: type[T],
        *,
        most_tokens: int,
        tenant: str,
    ) -> T | None:
        """By rules that say `{data}` where they speak of the passages, unchecked. None when the model gives nothing."""
        fenced, block = prompts.extraction_prompt(rules, passages, clock.now())
        asked = _Asked(tenant, None, "extraction", fenced, block, schema, most_tokens)
        return await self._fields(asked, kind)

    async def report(
        self,
        purpose: Purpose,
        rules: str,
        text: str,
        schema: dict[str, Any],
        kind: type[T],
        most_tokens: int,
        *,
        tenant: str,
        session_id: UUID | None = None,
    ) -> T:
        """What the model answers, in fields of this kind and otherwise unchecked. Raises HelperUnavailable.

        `text` holds what others wrote: fenced, and without secrets.
        """
        return await self._report(_Asked(tenant, session_id, purpose, rules, text, schema, most_tokens), kind)

    async def _fields(self, asked: _Asked, kind: type[T]) -> T | None:
        try:
            return await self._report(asked, kind)
        except HelperUnavailable:
            return None

    async def _report(self, asked: _Asked, kind: type[T]) -> T:
        try:
            await self._require_room(asked)
            with guarded(self.breaker, HelperUnavailable):
                completion = await self._complete(asked)
        except HelperUnavailable as error:
            CALLS.labels(asked.purpose, error.reason).inc()
            if error.reason in ("refused", "malformed"):
                log.warning("the helper model failed", model=self.model, cause=str(error))
            raise
        outcome: Outcome = "uncounted" if completion.tokens is None else "ok"
        await asyncio.shield(self._kept(asked, outcome, completion.tokens))
        fields = decoded(completion.fields, kind)
        CALLS.labels(asked.purpose, "malformed" if fields is None else "ok").inc()
        if fields is None:
            raise HelperUnavailable("malformed", "the answer has other fields")
        return fields

    async def _complete(self, asked: _Asked) -> Completion:
        try:
            async with asyncio.timeout(self._timeout), self._turns[asked.purpose]:
                return await self._call(asked)
        except TimeoutError as error:
            raise HelperUnavailable("slow", f"no answer in {self._timeout:g} s") from error

    async def _require_room(self, asked: _Asked) -> None:
        """Raises HelperUnavailable at a ceiling."""
        if self._reached is None:
            return
        if (ceiling := await self._reached(asked.tenant, asked.session_id)) is not None:
            raise HelperUnavailable("ceiling", ceiling)

    async def _call(self, asked: _Asked) -> Completion:
        """A call without an answer leaves a row, too: the provider may count what we no longer wait for."""
        try:
            return await self._provider.complete(asked.rules, asked.text, asked.schema, asked.most_tokens)
        except HelperUnavailable as error:
            self._kept(asked, outcome_of(error))
            raise
        except asyncio.CancelledError:
            self._kept(asked, "abandoned")
            raise

    def _kept(self, asked: _Asked, outcome: Outcome, tokens: Tokens | None = None) -> asyncio.Task[None]:
        """Nobody needs to wait for it."""
        sent = estimated_tokens(len(asked.rules) + len(asked.text))
        spent = Spent(asked.tenant, asked.session_id, asked.purpose, self.model, tokens, outcome, sent)
        task = asyncio.create_task(self._keep(spent))
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)
        return task

    async def _keep(self, spent: Spent) -> None:
        try:
            await self._record(spent)
        except Exception as error:
            log.error("the cost of a call was not kept", model=self.model, exc_info=error)


class _Asked(NamedTuple):
    tenant: str
    session_id: UUID | None
    purpose: Purpose
    rules: str
    text: str
    schema: dict[str, Any]
    most_tokens: int


def decoded(fields: bytes, kind: type[T]) -> T | None:
    """None for what is not of the kind, and for text that no table takes: a NUL or half a surrogate pair."""
    try:
        found = msgspec.json.decode(fields, type=kind)
        return None if b"\\u0000" in msgspec.json.encode(found) else found
    except ValueError:
        return None


def proves(given: AnswerFields, passages: Sequence[str]) -> bool:
    """Whether it answers, and quotes a passage as it stands."""
    quote = given.quote.strip()
    return bool(given.answer.strip() and quote) and any(quote in passage for passage in passages)

"""Answers questions from a session's objects, which stay as they are."""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from services.cache.sessions import queries as session_queries
from services.cache.sessions.asking import queries
from services.cache.sessions.asking.schemas import MicroFault, QuestionInput
from services.cache.sessions.objects.reading import object_of
from services.cache.sessions.paging.passages import Found, Passage, around, best, words_of
from services.cache.sessions.transactions import Held, SessionTransactions
from shared.auth import Principal
from shared.concurrency.threads import beside
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.errors import Forbidden
from shared.llm import Helper

# Objects whose lines are looked at, and how many characters of them.
_CANDIDATES, _CHARACTERS = 24, 1_100_000
# A passage that holds less of the question, by how rare its words are, answers something else.
LEAST_SHARE = 0.25
# What is left of the deadline for recording the answer.
_KEEPING_SECONDS = 0.5


class _Kept(msgspec.Struct):
    object_id: UUID


class _Asked(NamedTuple):
    session_id: UUID
    texts: list[asyncpg.Record]


class Asking:
    def __init__(self, transactions: SessionTransactions, helper: Helper | None = None) -> None:
        self._transactions, self._helper = transactions, helper

    async def query(
        self, principal: Principal, session: str, wanted: QuestionInput, deadline: Deadline
    ) -> MicroFault:
        """No connection is held while the texts are read."""
        began = time.perf_counter()
        words = words_of(wanted.question)

        async def work(c: Connection, held: Held) -> _Asked:
            if wanted.object_id is not None:
                await object_of(c, held, wanted.object_id)
            rows = await queries.best(
                c, held.tenant, held.id, words, object_id=wanted.object_id, limit=_CANDIDATES
            )
            ids = [row["id"] for row in rows]
            return _Asked(held.id, await queries.texts(c, held.tenant, held.id, ids, _CHARACTERS))

        asked = await self._transactions.read(principal, session, work, deadline)
        contents = [row["content_full"] for row in asked.texts]
        found: Found | None = await beside(sum(map(len, contents)), best, words, contents)
        if found is None or found.passage.share < LEAST_SHARE:
            return MicroFault(answer=None)
        row = asked.texts[found.place]
        answer = await self._in_words(principal.tenant, asked.session_id, wanted.question, row, deadline)
        answer = answer or _answer(row, found.passage)
        milliseconds = int((time.perf_counter() - began) * 1000)
        answer.recorded = await self._keep(
            principal, session, wanted.question, answer, milliseconds, deadline
        )
        return answer

    async def _in_words(
        self, tenant: str, session_id: UUID, question: str, row: asyncpg.Record, deadline: Deadline
    ) -> MicroFault | None:
        """The helper model's answer, with the lines that prove it. None where it gives none in time."""
        left = deadline.left() - _KEEPING_SECONDS
        if self._helper is None or left <= 0:
            return None
        content = row["content_full"]
        try:
            async with asyncio.timeout(left):
                given = await self._helper.answer(question, [content], tenant=tenant, session_id=session_id)
        except TimeoutError:
            return None
        return given and msgspec.structs.replace(
            _answer(row, around(given.quote, content)), model_answer=given.text
        )

    async def _keep(
        self,
        principal: Principal,
        session: str,
        question: str,
        answer: MicroFault,
        milliseconds: int,
        deadline: Deadline,
    ) -> bool:
        """Whether the key may change the session. Asking is a read: who may not is answered all the same."""
        assert answer.object_id is not None
        assert answer.answer is not None
        if "write" not in principal.access:
            return False
        kept = queries.Answered(
            object_id=answer.object_id,
            turn_number=0,
            question=question,
            answer=answer.answer,
            answer_tokens=answer.answer_tokens,
            avoided_tokens=answer.avoided_tokens,
            latency_ms=milliseconds,
        )

        async def work(c: Connection, held: Held) -> _Kept:
            await queries.keep(c, held.tenant, held.id, msgspec.structs.replace(kept, turn_number=held.turn))
            payload = {
                "object": str(kept.object_id),
                "type": "micro_fault",
                "tokens": kept.answer_tokens,
                "avoided": kept.avoided_tokens,
            }
            await session_queries.tell(c, held.tenant, held.id, "session_fault", payload)
            return _Kept(kept.object_id)

        try:
            await self._transactions.write(principal, session, _Kept, work, None, deadline, closed=True)
        except Forbidden:
            return False
        return True


def _answer(row: asyncpg.Record, passage: Passage) -> MicroFault:
    before = (row["start_line"] or 1) - 1
    return MicroFault(
        answer=passage.text,
        object_id=row["id"],
        object_type=row["object_type"],
        source_key=row["source_key"],
        first_line=before + passage.first_line,
        last_line=before + passage.last_line,
        current_fidelity=row["current_fidelity"],
        answer_tokens=passage.tokens,
        avoided_tokens=max(0, row["tokens_l0"] - passage.tokens),
    )

"""Assembles the context that matters now: searches, ranks, packs and logs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from services.context import stores
from services.context.assembly import ranking, record, rendering
from services.context.assembly.answer import answer, evidence
from services.context.assembly.asking import Ask, Asking
from services.context.assembly.background import with_background
from services.context.assembly.choice import choose
from services.context.assembly.graph import lines as graph
from services.context.assembly.links import read_links, without_room
from services.context.assembly.reranking import look_again
from services.context.assembly.schemas import AssembleContextInput, Assembly
from services.context.assembly.searching import search
from services.context.assembly.styling import block as styling
from services.context.delta import corrections as updating
from services.context.delta.schemas import Delta
from services.context.delta.service import Sessions
from services.context.forwarding.owners import Owners
from services.context.forwarding.references import SOURCE as REFERENCES
from services.context.log.accesses import Accesses
from services.context.log.journal import AssemblyRow, Journal
from services.context.rerank import Reranker
from services.context.schemas import Degraded
from services.context.synthesis.writing import Synthesis
from shared.auth import Principal
from shared.concurrency import clock
from shared.concurrency.courtesy import make_way
from shared.concurrency.turns import Rounds
from shared.deadline import READ_SECONDS, Deadline
from shared.render import new_fence
from shared.search.evidence import Candidate
from shared.search.relevance import Question, Scored, answerable, lexeme_weights, score, unheld_names
from shared.telemetry import metrics, tracing

# The shares of the time left for the owners' answers and for reranking. The rest is for packing and the log.
_SEARCH_SHARE = 0.75
_RERANK_SHARE = 0.5
# In so many steps of the event loop, a request that has come is passed on to the owners.
_STEPS_TO_OWNERS = 8


class Assembler:
    def __init__(
        self,
        asking: Asking,
        owners: Owners,
        journal: Journal,
        accesses: Accesses,
        reranker: Reranker | None,
        synthesis: Synthesis,
        sessions: Sessions,
    ) -> None:
        self._asking = asking
        self._owners = owners
        self._journal = journal
        self._accesses = accesses
        self._reranker = reranker
        self._synthesis = synthesis
        self._sessions = sessions
        self._rounds = Rounds(_STEPS_TO_OWNERS)
        # Start at zero, because Prometheus sees no rate in a series that begins above it.
        for name in (*(source.name for source in stores.SOURCES), "embedder", REFERENCES, styling.SOURCE):
            metrics.DEGRADED.labels(name, "timeout")

    @tracing.memory("search_memory", "context")
    async def assemble(
        self,
        principal: Principal,
        request: AssembleContextInput,
        deadline: Deadline,
        request_id: str,
        *,
        besides: Sequence[str] = (),
    ) -> Assembly:
        """The context that matters to `request.caller` now, within its budget. Raises Forbidden.

        No text of `besides`, which the block will stand with, holds the nonce of its headers.
        """
        started = time.perf_counter()
        # What remains beyond it is for the helper model.
        reading = Deadline(min(deadline.left(), READ_SECONDS))
        ask = await self._asking.grant(principal, request, request_id, reading)
        patience = Deadline(reading.left() * _SEARCH_SHARE)
        found, linked, session = await asyncio.gather(
            search(self._owners, ask, patience),
            read_links(self._owners, ask, patience),
            self._sessions.look(ask, started, patience),
        )
        await make_way()
        # What follows takes milliseconds. The owners work meanwhile, if requests in between have reached them.
        await self._rounds.step()
        question = Question(request.query, ask.embedded.model, ask.embedded.band)
        scored = score(question, found.results)
        reranked = await look_again(self._reranker, request.query, scored, reading.left() * _RERANK_SHARE)
        scored = reranked.scored
        await make_way()
        config = ask.config
        profiles = session.new_texts(map(rendering.profile_item, ask.profiles), stores.PROFILES.name)
        files = session.new_texts(linked.files, stores.LINKS.name)
        background = session.new_texts(found.background(), stores.OWN.name)
        triples = session.new_facts(found.graph())
        candidates = [each.candidate for each in scored]
        texts = [each.text for each in (*candidates, *files, *profiles, *background)]
        texts += [*graph.texts(triples), *updating.texts(session.changes), request.query, *besides]
        fence = new_fence(texts, ask.now)
        updates = updating.lines(session.changes, fence, int(ask.budget.tokens * updating.SHARE))
        told = updating.told(updates, _handles(scored, background))
        background = [each for each in background if rendering.handle_of(each, stores.OWN.name) not in told]
        tokens = ask.budget.tokens - sum(update.tokens for update in updates)
        facts = graph.lines(triples, tokens, fence)
        room = tokens - sum(fact.entry.tokens for fact in facts if fact.shown)
        chosen = choose(
            ranking.with_distance(scored, ask.neighbours.scopes),
            config.weights,
            config.token_shares,
            room,
            fence,
            files,
            profiles,
            words=lexeme_weights(found.results),
            fill=request.fill,
            known=session.whole() | told,
        )
        if background:
            chosen = with_background(chosen, background, config.weights, room, user_id=request.user_id)
        facts = graph.with_others(facts, tokens, room - chosen.tokens)
        if request.delta is not None:
            left = tokens - chosen.tokens - sum(fact.entry.tokens for fact in facts if fact.shown)
            updates += updating.lines(session.overtaken(chosen.superseded), fence, left)
            given = await self._sessions.give(ask, session, chosen, facts, updates, reading)
            chosen, facts, updates = given.chosen, given.facts, given.corrections
            session.degraded.extend(given.degraded)
        degraded = [
            *ask.embedded.degraded,
            *ask.neighbours.degraded,
            *found.degraded,
            *linked.degraded,
            *reranked.degraded,
            *session.degraded,
        ]
        # If a source already failed, writing the log may fail too, so wait for it.
        waits = bool(degraded)
        degraded += without_room(chosen)
        milliseconds = (time.perf_counter() - started) * 1000
        # What is kept about a user need not hold the user's name.
        unheld = 0.0 if request.user_id else unheld_names(request.query, found.results)
        low_relevance = not answerable(scored, question.scale.floors, unheld)
        assembly = answer(ask, found, chosen, facts, degraded, low_relevance, milliseconds, updates)
        if request.delta is not None:
            assembly.delta = Delta(given.position, [update.correction for update in updates])
        written = await styling.styled(self._synthesis, ask, assembly, fence, deadline)
        _count(degraded)
        if request.log:
            row = partial(
                record.row, ask, assembly, chosen, facts, found.results, scored, clock.now(), written
            )
            await self._log(ask, assembly, row, deadline, since=started, wait=waits)
            self._accesses.count(principal.tenant, chosen.accesses())
        if request.debug:
            assembly.candidates = list(evidence(chosen))
        return assembly

    async def _log(
        self,
        ask: Ask,
        assembly: Assembly,
        row: Callable[[], AssemblyRow],
        deadline: Deadline,
        *,
        since: float,
        wait: bool,
    ) -> None:
        assembly.assembly_id = await self._journal.next_id(deadline)
        await self._journal.add(
            ask.principal.tenant, assembly.assembly_id, row, deadline, since=since, wait=wait
        )


def _handles(scored: Iterable[Scored], background: Iterable[Candidate]) -> Iterator[str]:
    yield from (rendering.handle_of(each.candidate, each.store) for each in scored)
    yield from (rendering.handle_of(each, stores.OWN.name) for each in background)


def _count(degraded: Iterable[Degraded]) -> None:
    for missing in degraded:
        metrics.DEGRADED.labels(missing.source.partition(":")[0], missing.reason).inc()

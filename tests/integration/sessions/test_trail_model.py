"""The trail against a model of it in plain Python: whatever is said, compacted, reset and damaged, in any order."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

import asyncpg
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from local.database import Database
from services.cache.service import CacheService
from services.cache.sessions.schemas import CreateSessionInput
from services.cache.sessions.trail.cutting import Message
from services.cache.sessions.trail.messages import Block, MessageInput, TextBlock, ToolResult, ToolUse
from services.cache.sessions.trail.schemas import (
    AppendInput,
    CompactInput,
    Compaction,
    ResetInput,
    TrailEvent,
)
from shared.deadline import Deadline
from shared.errors import AppError
from shared.tokens import estimate_tokens
from tests.support.cache_services import cache_service, principal
from tests.unit.cache.trail.test_cutting import parted

T = TypeVar("T")
SESSIONS, STEPS, SECONDS = 300, 15, 60
# Compactions and resets among them.
LEAST = 30
IDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=60)
BLOCKS = st.one_of(
    st.lists(TEXTS.map(lambda text: TextBlock(text=text)), min_size=1, max_size=2),
    IDS.map(lambda ids: [ToolUse(id=each, name="Read", input={"of": each}) for each in ids]),
    IDS.map(lambda ids: [ToolResult(tool_use_id=each, content="x = 1") for each in ids]),
)
SAID = st.lists(
    st.builds(MessageInput, role=st.sampled_from(["user", "assistant"]), content=BLOCKS),
    min_size=1,
    max_size=4,
)
DAMAGES = (
    "update sessions.snapshots set through = through + $2::int where session_id = $1",
    "update sessions.snapshots set since = greatest(0, since - $2::int) where session_id = $1",
    "update sessions.snapshots set messages = messages + $2::int where session_id = $1",
    "update sessions.snapshots set token_count = token_count - $2::int where session_id = $1",
    "update sessions.snapshots set summary = left(summary, -$2::int) where session_id = $1",
    "update sessions.snapshots set summary = coalesce(summary, '') || chr(64 + $2::int) where session_id = $1",
    "update sessions.snapshots n set digest = set_byte(digest, $2, 255 - get_byte(digest, $2))"
    " where session_id = $1 and length(digest) > $2",
    "update sessions.snapshots set digest = substring(digest for $2::int) where session_id = $1",
    # As a restore would leave one that claims to be empty.
    "update sessions.snapshots set since = through, messages = 0, summary = null where session_id = $1 and $2::int > 0",
    "delete from sessions.snapshots where session_id = $1 and $2::int > 0",
)
COPY = """
update sessions.snapshots n
set (through, since, summary, messages, token_count, digest) =
    (select o.through, o.since, o.summary, o.messages, o.token_count, o.digest
     from sessions.snapshots o where o.session_id = $2)
where n.session_id = $1
"""
KEPT = "select seq, kind, content, token_count from sessions.trail where session_id = $1 order by seq"
_numbers = itertools.count(1)


class Said(NamedTuple):
    """An event, as the model has it."""

    seq: int
    kind: str
    role: str
    blocks: list[Block]


class Bench:
    """What all machines of one run share."""

    runner: asyncio.Runner
    service: CacheService
    sql: Any
    sessions = damages = compactions = resets = 0


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        Bench.sessions += 1
        self.who = principal(f"trail-model-{next(_numbers)}")
        self.id = self.began()
        self.trail: list[Said] = []
        self.conversation: list[Said] = []
        self.summary: str | None = None

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return Bench.runner.run(work)

    def began(self) -> UUID:
        wanted = CreateSessionInput(agent_name="scout")
        made = self.do(Bench.service.sessions.create(self.who, wanted, None, Deadline(SECONDS)))
        return made.data.id

    def append(self, session: UUID, messages: list[MessageInput]) -> int:
        wanted = AppendInput(messages=messages)
        appended = self.do(
            Bench.service.trail.append(self.who, str(session), wanted, None, Deadline(SECONDS))
        )
        return appended.first_seq

    @rule(messages=SAID)
    def say(self, messages: list[MessageInput]) -> None:
        first = self.append(self.id, messages)
        assert first == len(self.trail) + 1
        said = [
            Said(seq, "", message.role, message.blocks) for seq, message in enumerate(messages, start=first)
        ]
        self.trail += said
        self.conversation += said

    @rule(summary=st.none() | TEXTS, up_to=st.none() | st.floats(0, 1))
    def compact(self, summary: str | None, up_to: float | None) -> None:
        wanted = CompactInput(force=True, summary=summary)
        places, most = self.places(), len(self.conversation) * 2 // 3
        count = max((n for n in range(1, most + 1) if places[n]), default=0)
        refused = False
        if up_to is not None and summary is not None and self.conversation:
            place = int(up_to * (len(self.conversation) - 1))
            wanted.through, count = self.conversation[place].seq, place + 1
            refused = not places[count]
        done = self.do(self.compaction(wanted))
        if isinstance(done, int):
            assert (refused, done) == (True, 409)
            return
        assert not refused
        assert (done.compacted, done.messages) == (count > 0, count)
        if count:
            Bench.compactions += 1
            self.conversation = self.conversation[count:]
            self.summary = summary or self.told()
            self.trail.append(
                Said(len(self.trail) + 1, "compaction", "system", [TextBlock(text=self.summary)])
            )
            assert done.seq == len(self.trail)

    async def compaction(self, wanted: CompactInput) -> Compaction | int:
        """Or the status of its refusal."""
        try:
            return await Bench.service.trail.compact(self.who, str(self.id), wanted, None, Deadline(SECONDS))
        except AppError as error:
            return error.status

    def places(self) -> list[bool]:
        messages = [_message(said) for said in self.conversation]
        return [not parted(messages, count) for count in range(len(messages) + 1)]

    def told(self) -> str:
        """The summary that the service made."""
        row = self.do(
            Bench.sql.fetchval(f"select content from ({KEPT}) t order by seq desc limit 1", self.id)
        )
        return str(json.loads(row)[0]["summary"])

    @rule(scope=st.sampled_from(["session", "agent", "all"]))
    def reset(self, scope: str) -> None:
        wanted = {
            "session": ResetInput(session_id=str(self.id)),
            "agent": ResetInput(agent_name="scout"),
            "all": ResetInput(all=True),
        }[scope]
        done = self.do(Bench.service.trail.reset(self.who, wanted, None, Deadline(SECONDS)))
        if scope != "session" and (not self.trail or self.trail[-1].kind == "reset"):
            assert self.id not in done.sessions
            return
        Bench.resets += 1
        assert self.id in done.sessions
        self.trail.append(Said(len(self.trail) + 1, "reset", "system", []))
        self.conversation, self.summary = [], None

    @rule(statement=st.sampled_from(DAMAGES), by=st.integers(1, 31))
    def damage(self, statement: str, by: int) -> None:
        Bench.damages += 1
        self.do(Bench.sql.execute(statement, self.id, by))

    @rule()
    def damage_by_another(self) -> None:
        """The snapshot of another session of the same length, which is sound there."""
        if self.trail:
            Bench.damages += 1
            other = self.began()
            self.append(other, [MessageInput(role="user", text="theirs")] * len(self.trail))
            self.do(Bench.sql.execute(COPY, self.id, other))

    @rule()
    def rebuild(self) -> None:
        rebuild = Bench.service.trail.rebuild
        done = self.do(rebuild(self.who, str(self.id), Deadline(SECONDS)))
        assert (done.through, done.events) == (len(self.trail), len(self.trail))
        assert not self.do(rebuild(self.who, str(self.id), Deadline(SECONDS))).changed or not self.trail
        self.resume()

    @rule()
    def resume(self) -> None:
        now = self.do(Bench.service.trail.conversation(self.who, str(self.id), Deadline(SECONDS)))
        assert [(each.seq, each.content) for each in now.messages] == [
            (said.seq, said.blocks) for said in self.conversation
        ]
        assert (now.summary, now.through, now.truncated) == (self.summary, len(self.trail), False)
        tokens = sum(each.tokens for each in now.messages)
        assert now.tokens == tokens + (estimate_tokens(self.summary) if self.summary is not None else 0)

    @rule(full=st.booleans(), limit=st.integers(1, 7))
    def read_history(self, full: bool, limit: int) -> None:
        events: list[TrailEvent] = []
        cursor: str | None = None
        while True:
            page = self.do(
                Bench.service.trail.history(
                    self.who, str(self.id), cursor, limit, Deadline(SECONDS), full=full
                )
            )
            events += page.data
            cursor = page.next
            if cursor is None:
                break
        shown = self.trail if full else [said for said in self.trail if not _is_result(said)]
        assert [event.seq for event in events] == [said.seq for said in shown]
        for event, said in zip(events, shown, strict=True):
            kept = [block for block in said.blocks if full or isinstance(block, TextBlock)]
            assert event.content == kept

    def teardown(self) -> None:
        self.resume()
        rows = self.do(Bench.sql.fetch(KEPT, self.id))
        assert [row["seq"] for row in rows] == [said.seq for said in self.trail]
        self.read_history(full=True, limit=100)


def _message(said: Said) -> Message:
    calls = frozenset(block.id for block in said.blocks if isinstance(block, ToolUse))
    answers = frozenset(block.tool_use_id for block in said.blocks if isinstance(block, ToolResult))
    return Message(said.seq, 0, calls, answers, said.role == "assistant")


def _is_result(said: Said) -> bool:
    return any(isinstance(block, ToolResult) for block in said.blocks)


def test_the_trail_does_what_its_model_does(database: Database, redis_url: str) -> None:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        Bench.runner = runner
        Bench.service = runner.run(stack.enter_async_context(cache_service(database, redis_url)))
        Bench.sql = runner.run(asyncpg.connect(database.admin))
        try:
            while Bench.sessions < SESSIONS or min(Bench.compactions, Bench.resets) < LEAST:
                run_state_machine_as_test(
                    Machine,
                    settings=settings(
                        max_examples=SESSIONS // 3,
                        stateful_step_count=STEPS,
                        deadline=None,
                        database=None,
                        suppress_health_check=list(HealthCheck),
                    ),
                )
        finally:
            runner.run(Bench.sql.close())
            runner.run(stack.aclose())
    print(
        f"{Bench.sessions} sessions, {Bench.compactions} compactions, {Bench.resets} resets, {Bench.damages} damages"
    )

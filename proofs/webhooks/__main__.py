"""Every event reaches its receiver, whatever happens to receivers and to the service.

Two replicas of the context service send events of 40 missions to four receivers: one is slow, one answers every third
message with an error, one is stopped and started, one does nothing wrong. Meanwhile the replicas are killed. Each event
must arrive at least once, with a signature that the public library verifies, and its first arrival after those of all
earlier events of its mission. The control notes an event as delivered before it sends it.

Then names and addresses of private networks are tried, and a canary on every address of this machine counts.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
from aiohttp import web

from local.database import Database, create_database
from local.services import Service
from proofs.ground import Ground, Proof, run
from tests.support.cluster import Client, Cluster
from tests.support.fakes.forbidden import calls_inside
from tests.support.fakes.receiver import Message, Receiver

SEED = 4_950
MISSIONS = 40
_LOCAL = {"SCRUBJAY_WEBHOOK_PRIVATE": "127.0.0.0/8", "SCRUBJAY_WEBHOOK_HTTP": "yes"}
_PATIENCE = 300.0
_ADD = """
insert into timeline.events (tenant, scope, kind, mission_id, payload)
select 'default', 'mission:' || m, 'proof', m, jsonb_build_object('id', n)
from unnest($1::text[]) with ordinality g(m, n)
"""
_EXPECTED = "select seq, mission_id from timeline.events where kind = 'proof' order by seq"


@dataclass(frozen=True)
class Size:
    events: int
    kills: int
    seconds: float
    """In which the events happen."""


FULL, SHORT, CONTROL = Size(5_000, 10, 60.0), Size(800, 2, 8.0), Size(800, 2, 8.0)


@dataclass
class Found:
    events: int = 0
    messages: int = 0
    lost: int = 0
    out_of_order: int = 0
    unverified: int = 0
    seconds: float = 0.0


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    size = SHORT if short else FULL
    other = await create_database(ground.postgres.dsn(), "hasty", template=ground.database.name)
    # Both mostly wait.
    control, found = await asyncio.gather(
        _delivered(ground, other, "control", CONTROL, seed, module="proofs.webhooks.hasty"),
        _delivered(ground, ground.database, "proof", size, seed),
    )
    reached, tried = await calls_inside()
    for name, each in (("marks first", control), ("as it is", found)):
        print(f"{name:<12}{each}")
    return Proof(
        n=found.events,
        faults=size.kills,
        violations=found.lost + found.out_of_order + found.unverified + reached,
        control_violations=control.lost,
        more={
            "messages": found.messages,
            "lost": found.lost,
            "out_of_order": found.out_of_order,
            "unverified": found.unverified,
            "seconds": round(found.seconds),
            "forbidden_addresses": tried,
            "connections_to_them": reached,
        },
    )


async def _delivered(
    ground: Ground, database: Database, name: str, size: Size, seed: int, module: str | None = None
) -> Found:
    folder: Path = ground.folder / name
    folder.mkdir()
    cluster = Cluster(database, ground.valkey.url, folder, replicas=2, settings={**ground.vectors, **_LOCAL})
    replicas = cluster.replicas["context"]
    for replica in replicas:
        replica.module = module or replica.module
    connection = await asyncpg.connect(database.admin)
    chance = random.Random(seed)
    async with AsyncExitStack() as closing:
        closing.push_async_callback(connection.close)
        await closing.enter_async_context(_running(cluster, replicas))
        receivers = [await closing.enter_async_context(Receiver()) for _ in range(4)]
        await _make(replicas[0], cluster, receivers)
        _misbehave(receivers, chance)
        started = time.monotonic()
        disturbing = (
            _kill(replicas, size, random.Random(seed)),
            _stop_and_start(receivers[2], size, random.Random(seed)),
        )
        await asyncio.gather(_happen(connection, size, chance), *disturbing)
        await _settled(connection)
        found = await _compared(connection, receivers)
        found.seconds = time.monotonic() - started
        return found


@asynccontextmanager
async def _running(cluster: Cluster, replicas: Sequence[Service]) -> AsyncIterator[None]:
    """The context service alone: nobody asks the owners."""
    try:
        await cluster.start(*replicas)
        yield
    finally:
        await cluster.stop(*replicas)


async def _make(replica: Service, cluster: Cluster, receivers: Sequence[Receiver]) -> None:
    """A webhook for every fourth mission each."""
    async with Client(replica.url, cluster.tokens.admin) as admin:
        for number, receiver in enumerate(receivers):
            missions = [_mission(each) for each in range(number, MISSIONS, len(receivers))]
            answer = await admin.post(
                "/api/webhooks", {"url": receiver.url, "kinds": ["proof"], "missions": missions}
            )
            assert answer.status == 201, answer
            receiver.secrets.append(answer.body["secret"])


def _mission(number: int) -> str:
    return f"mission-{number}"


def _misbehave(receivers: Sequence[Receiver], chance: random.Random) -> None:
    async def slow(_: Message) -> web.Response:
        await asyncio.sleep(chance.uniform(0, 0.2))
        return web.Response()

    async def erring(_: Message) -> web.Response:
        status = chance.choice((200, 200, 200, 200, 200, 200, 429, 500, 503))
        return web.Response(status=status, headers={"Retry-After": "1"} if status == 429 else {})

    receivers[0].answering, receivers[1].answering = slow, erring


async def _happen(connection: Any, size: Size, chance: random.Random) -> None:
    """The events, a few at once."""
    at_once = 10
    for _ in range(size.events // at_once):
        await connection.execute(_ADD, [_mission(chance.randrange(MISSIONS)) for _ in range(at_once)])
        await asyncio.sleep(size.seconds * at_once / size.events)


async def _kill(replicas: Sequence[Service], size: Size, chance: random.Random) -> None:
    """One after the other, so that the other one goes on."""
    for number in range(size.kills):
        await asyncio.sleep(chance.uniform(0.5, 1.5) * size.seconds / (size.kills + 1) / 2)
        replica = replicas[number % len(replicas)]
        await asyncio.to_thread(replica.kill)
        # A child dies with the thread that starts it: not in one of the pool's.
        replica.launch()
        await asyncio.to_thread(replica.await_ready)


async def _stop_and_start(receiver: Receiver, size: Size, chance: random.Random) -> None:
    for _ in range(3):
        await asyncio.sleep(chance.uniform(0.5, 1) * size.seconds / 8)
        await receiver.stop()
        await asyncio.sleep(chance.uniform(0.5, 1) * size.seconds / 8)
        await receiver.start()


async def _settled(connection: Any) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        waiting = await connection.fetchval(
            """select exists (select from timeline.events where seq is null)
                   or exists (select from context.webhook_deliveries where status = 'waiting')
                   or exists (select from context.webhooks w join timeline.counters n using (tenant)
                              where w.position < n.last)"""
        )
        if not waiting:
            return
        await asyncio.sleep(0.5)


async def _compared(connection: Any, receivers: Sequence[Receiver]) -> Found:
    expected = {row["seq"]: row["mission_id"] for row in await connection.fetch(_EXPECTED)}
    found = Found(events=len(expected))
    arrived: set[int] = set()
    for receiver in receivers:
        last: dict[str, int] = {}
        found.messages += len(receiver.seen)
        found.unverified += receiver.unverified
        for message in receiver.accepted:
            if message.seq in arrived:
                continue
            arrived.add(message.seq)
            found.out_of_order += message.seq < last.get(message.scope, 0)
            last[message.scope] = message.seq
    found.lost = len(expected.keys() - arrived)
    return found


if __name__ == "__main__":
    run("webhooks", SEED, prove)

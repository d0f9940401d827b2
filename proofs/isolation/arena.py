"""Keys attack victims: every operation, tool and resource.

Each key attacks a victim of its own, whose rows are compared as a superuser sees them, before and after.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from local.database import Database
from proofs.ground import Ground, Proof
from shared.database.postgres import Connection
from tests.support.attacks.attackers import (
    CONTROL,
    Attacker,
    Row,
    effects,
    is_awaited,
    leaks,
    rows_of,
    unattacked,
)
from tests.support.attacks.sending import reads_first, replies_to_all
from tests.support.attacks.victim import Victim, settle
from tests.support.cluster import Client, Cluster

VAULT = "vault"
_AT_ONCE = 3
_WRITTEN_SECONDS = 1.5
"""By then what is written in batches is written."""
_SHOWN = 20


@dataclass
class Ledger:
    """What one kind of key tried, and what it should not have been able to do."""

    name: str
    attempts: int = 0
    leaks: list[str] = field(default_factory=list)
    effects: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    """Answers that the key's access forbids, 5xx, and refusals of a full service, which tried nothing."""

    @property
    def wrong(self) -> list[str]:
        return [*self.leaks, *self.effects, *self.errors]


def open_cluster(ground: Ground, database: Database, folder: Path) -> Cluster:
    """One replica of each service, whose files are in the folder's `vault`."""
    return Cluster(
        database,
        ground.valkey.url,
        folder,
        settings={**ground.vectors, "SCRUBJAY_IN_FLIGHT": "256"},
        settings_of={"agent_memory": {"VAULT_ROOT": str(folder / VAULT)}},
    )


async def _nothing() -> None:
    pass


class Arena:
    """A cluster in which each attack has tenants of its own."""

    def __init__(self, cluster: Cluster, superuser: str, vault: Path) -> None:
        self._cluster, self._superuser, self._vault = cluster, superuser, vault
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def attack(
        self,
        attacker: Attacker,
        tried: slice = slice(None),
        *,
        first: Callable[[], Awaitable[None]] = _nothing,
    ) -> Ledger:
        """`tried` are those of its attempts that it makes. What comes `first` finds the victim settled."""
        async with self._places, AsyncExitStack() as closing:
            sql = await asyncpg.connect(self._superuser)
            closing.push_async_callback(sql.close)
            operator = await closing.enter_async_context(
                Client(self._cluster.url(), self._cluster.tokens.admin)
            )
            tenant = f"tenant-{secrets.token_hex(6)}"

            async def client(tenant: str, attacker: Attacker) -> Client:
                token = await _key(operator, tenant, attacker)
                return await closing.enter_async_context(Client(self._cluster.url(), token))

            victim = await self._victim(await client(tenant, CONTROL), tenant, sql)
            other = f"{tenant}-other" if attacker.stranger else tenant
            attacking = await client(other, attacker)
            await first()
            return await _attacked(attacker, tried, attacking, victim, sql)

    async def _victim(self, admin: Client, tenant: str, sql: Connection) -> Victim:
        victim = await settle(admin, f"w{secrets.token_hex(6)}")
        for path in victim.files():
            if ".." not in path:
                file = self._vault / tenant / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(victim.text("file"))
        before: set[Row] = set()
        while before != (rows := await rows_of(sql, victim)) or await is_awaited(sql, victim):
            before = rows
            await asyncio.sleep(_WRITTEN_SECONDS)
        return victim


async def _key(operator: Client, tenant: str, attacker: Attacker) -> str:
    body = {"name": attacker.name, "tenant": tenant, "access": attacker.access, **attacker.bounds}
    answer = await operator.post("/api/context/keys", body)
    assert answer.status == 201, answer
    return str(answer.body["token"])


async def _attacked(
    attacker: Attacker, tried: slice, client: Client, victim: Victim, sql: Connection
) -> Ledger:
    ledger = Ledger(attacker.name)
    before = await rows_of(sql, victim)
    chosen = reads_first([*attacker.attempts(victim)][tried])
    async for attempt, replies in replies_to_all(client, chosen):
        ledger.attempts += 1
        for reply in replies:
            ledger.leaks += [
                f"{attempt} shows {canary}" for canary in leaks(attacker, victim, attempt, reply)
            ]
        if reply.status >= 429 or (attacker.refused(attempt) and not reply.refused):
            ledger.errors.append(f"{attempt} answers {reply.status}: {reply.text}")
    await asyncio.sleep(_WRITTEN_SECONDS)
    changed = effects(attacker, victim, before, await rows_of(sql, victim))
    ledger.effects += [f"changed: {row.table} {row.text}" for row in changed]
    return ledger


def judged(control: Ledger, ledgers: Sequence[Ledger], caught: int, **more: int) -> Proof:
    """`caught` is what the control did that must not happen."""
    missing = sorted(unattacked())
    _show([control, *ledgers], missing)
    attempts = sum(ledger.attempts for ledger in ledgers)
    return Proof(
        n=attempts,
        faults=0,
        violations=sum(len(ledger.wrong) for ledger in ledgers) + len(missing),
        control_violations=caught,
        more={
            "attempts": attempts,
            "leaks": sum(len(ledger.leaks) for ledger in ledgers),
            "forbidden_effects": sum(len(ledger.effects) for ledger in ledgers),
            "not_attacked": len(missing),
            "control_leaks": len(control.leaks),
            **more,
        },
    )


def _show(ledgers: list[Ledger], missing: list[str]) -> None:
    print(f"{'key':<28}{'attempts':>9}{'leaks':>7}{'effects':>9}{'errors':>8}")
    for ledger in ledgers:
        counts = len(ledger.leaks), len(ledger.effects), len(ledger.errors)
        print(f"{ledger.name:<28}{ledger.attempts:>9}{counts[0]:>7}{counts[1]:>9}{counts[2]:>8}")
    for line in _first(ledgers[1:]):
        print(f"  {line[:300]}")
    for name in missing:
        print(f"  no attack reaches {name}")


def _first(ledgers: list[Ledger]) -> Iterator[str]:
    for ledger in ledgers:
        yield from (f"{ledger.name}: {line}" for line in ledger.wrong[:_SHOWN])

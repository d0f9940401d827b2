"""No key sees or changes what its bounds do not reach (P22): every operation, tool and resource, by every kind of key.

Each kind of key attacks a victim of its own, whose rows are compared as a superuser sees them, before and after. An
operation or a tool that no attack reaches counts as a violation. The control is a key without bounds.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from proofs.ground import Ground, Proof, run
from shared.database.postgres import Connection
from tests.support.attacks.attackers import (
    ATTACKERS,
    CONTROL,
    Attacker,
    Row,
    effects,
    is_awaited,
    leaks,
    rows_of,
    unattacked,
)
from tests.support.attacks.sending import replies_to_all
from tests.support.attacks.victim import CANARIES, Victim, settle
from tests.support.cluster import Client, Cluster

SEED = 20_261
ROUNDS, SHORT_ROUNDS = 2, 1
# In the short form, each kind of key makes one of so many attempts, and its neighbours make the others.
_SHORT_SHARE = 3
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


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    vault = ground.folder / "vault"
    cluster = Cluster(
        ground.database,
        ground.valkey.url,
        ground.folder,
        settings={**ground.vectors, "SCRUBJAY_IN_FLIGHT": "256"},
        settings_of={"agent_memory": {"VAULT_ROOT": str(vault)}},
    )
    async with cluster:
        arena = Arena(cluster, ground.database.admin, vault)
        control = await arena.attack(CONTROL)
        attackers = [*ATTACKERS] * (SHORT_ROUNDS if short else ROUNDS)
        share = _SHORT_SHARE if short else 1
        ledgers = await asyncio.gather(
            *(arena.attack(one, slice(place % share, None, share)) for place, one in enumerate(attackers))
        )
    missing = sorted(unattacked())
    _show([control, *ledgers], missing)
    return Proof(
        n=sum(ledger.attempts for ledger in ledgers),
        faults=0,
        violations=sum(len(ledger.wrong) for ledger in ledgers) + len(missing),
        # It must see all there is, and change some of it.
        control_violations=len(control.effects) if len(control.leaks) >= len(CANARIES) else 0,
        more={
            "attempts": sum(ledger.attempts for ledger in ledgers),
            "leaks": sum(len(ledger.leaks) for ledger in ledgers),
            "forbidden_effects": sum(len(ledger.effects) for ledger in ledgers),
            "not_attacked": len(missing),
            "control_leaks": len(control.leaks),
        },
    )


class Arena:
    """A cluster in which each attack has tenants of its own."""

    def __init__(self, cluster: Cluster, superuser: str, vault: Path) -> None:
        self._cluster, self._superuser, self._vault = cluster, superuser, vault
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def attack(self, attacker: Attacker, tried: slice = slice(None)) -> Ledger:
        """`tried` are those of its attempts that it makes."""
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
            return await _attacked(attacker, tried, await client(other, attacker), victim, sql)

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
    async for attempt, replies in replies_to_all(client, [*attacker.attempts(victim)][tried]):
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


def main() -> None:
    run("P22", SEED, prove)


if __name__ == "__main__":
    main()

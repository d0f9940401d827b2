"""Bounds of keys hold everywhere: every operation, tool and resource is tried by every kind of bound key."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path

import pytest

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.attacks.attackers import (
    ATTACKERS,
    CONTROL,
    Attacker,
    Row,
    effects,
    is_awaited,
    leaks,
    rows_of,
)
from tests.support.attacks.sending import replies_to_all
from tests.support.attacks.victim import CANARIES, Victim, settle
from tests.support.calls import until
from tests.support.cluster import Client, Cluster

BATCHES_SECONDS = 1.5
"""By then what is written in batches is written."""


@pytest.fixture
async def victim(tenant: Tenant, cluster: Cluster, sql: Connection) -> Victim:
    victim = await settle(await tenant.client("admin"), f"w{secrets.token_hex(6)}")
    vault = Path(cluster.replicas["agent_memory"][0].variables["VAULT_ROOT"]) / tenant.name
    for path in victim.files():
        if ".." not in path:
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_text(victim.text("file"))
    await until(lambda: _at_rest(sql, victim))
    return victim


async def _at_rest(sql: Connection, victim: Victim) -> None:
    before = await rows_of(sql, victim)
    await asyncio.sleep(BATCHES_SECONDS)
    assert before == await rows_of(sql, victim)
    assert not await is_awaited(sql, victim)


async def client_of(attacker: Attacker, tenants: tuple[Tenant, Tenant]) -> Client:
    tenant = tenants[1] if attacker.stranger else tenants[0]
    return await tenant.client(attacker.access, **attacker.bounds)


async def attack(attacker: Attacker, client: Client, victim: Victim) -> list[str]:
    """What an answer showed, and what was not refused though the key's access forbids it."""
    wrong: list[str] = []
    async for attempt, replies in replies_to_all(client, attacker.attempts(victim)):
        for reply in replies:
            wrong += [f"{attempt} shows {canary}" for canary in leaks(attacker, victim, attempt, reply)]
        if attacker.refused(attempt) and not reply.refused:
            wrong.append(f"{attempt} is not refused")
        if reply.status >= 500:
            wrong.append(f"{attempt}: {reply}")
    return wrong


async def changed(sql: Connection, attacker: Attacker, victim: Victim, before: set[Row]) -> list[Row]:
    await asyncio.sleep(BATCHES_SECONDS)
    return effects(attacker, victim, before, await rows_of(sql, victim))


@pytest.mark.parametrize("attacker", ATTACKERS, ids=lambda attacker: attacker.name)
async def test_nothing_outside_of_a_keys_bounds_is_seen_or_changed(
    tenants: tuple[Tenant, Tenant], sql: Connection, victim: Victim, attacker: Attacker
) -> None:
    before = await rows_of(sql, victim)
    client = await client_of(attacker, tenants)
    wrong = await attack(attacker, client, victim)
    wrong += [f"changed: {row}" for row in await changed(sql, attacker, victim, before)]
    assert not wrong, "\n".join(wrong)


async def test_a_key_without_bounds_sees_and_changes_all_of_it(
    tenants: tuple[Tenant, Tenant], sql: Connection, victim: Victim
) -> None:
    """The control: the attacks reach everything that they are aimed at."""
    before = await rows_of(sql, victim)
    client = await client_of(CONTROL, tenants)
    wrong = await attack(CONTROL, client, victim)
    assert {one.rpartition(" shows ")[2] for one in wrong} == CANARIES
    tables = {row.table for row in await changed(sql, CONTROL, victim, before)}
    assert tables >= {
        "cache.psychic_cache",
        "cache.agent_dispatch",
        "memory.agent_memory",
        "context.context_assembly_log",
        "context.api_keys",
        "context.source_weights",
        "context.caller_budget_config",
    }

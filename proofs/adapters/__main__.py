"""Adapters pass the suites of their frameworks (P20), unchanged, against two replicas behind a round-robin.

The suites run in environments of their own. The control is the same suites over adapters that drop writes: each has
to fail.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from proofs.ground import Ground, Proof, run
from tests.support.cluster import Client, Cluster

SUITES = (
    "langgraph",
    "langgraph_store",
    "anthropic",
    "claude_agent_sdk",
    "openai_agents",
    "google_adk",
    "pydantic_ai",
    "langchain",
    "crewai",
    "examples",
)
_ROOT = Path(__file__).parents[2]
_ENVIRONMENTS = {"crewai": ".crewai"}
"""Of frameworks that no other can be installed with."""
_SECONDS = 300.0
_AT_ONCE = 2


class Outcome(msgspec.Struct):
    suite: str
    of: str
    passed: int
    failed: list[str]


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    logging.getLogger("aiohttp").setLevel(logging.CRITICAL)
    cluster = Cluster(ground.database, ground.valkey.url, ground.folder, replicas=2)
    async with cluster:
        # A tenant of its own for each: suites ask for all that there is.
        controls = await _suites(cluster, "control", {"SCRUBJAY_CONTROL": "1"})
        outcomes = await _suites(cluster, "suite", {})
    for outcome in outcomes:
        tried = outcome.passed + len(outcome.failed)
        print(f"{outcome.of:44} {outcome.suite:24} {outcome.passed}/{tried}")
        for failure in outcome.failed:
            print(f"  {failure}")
    unnoticed = [one.suite for one in controls if not one.failed]
    return Proof(
        n=sum(one.passed + len(one.failed) for one in outcomes),
        faults=len(controls),
        violations=sum(len(one.failed) for one in outcomes) + len(unnoticed),
        control_violations=sum(len(one.failed) for one in controls),
        more={
            "suites": {f"{one.of}: {one.suite}": f"{one.passed}" for one in outcomes},
            "controls_that_passed": unnoticed,
        },
    )


async def _suites(cluster: Cluster, tenant: str, more: dict[str, str]) -> list[Outcome]:
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(name: str) -> list[Outcome]:
        async with room:
            token = await _key(admin, f"{tenant}-{name.replace('_', '-')}")
            return await _run(name, {"SCRUBJAY_URL": cluster.url(), "SCRUBJAY_TOKEN": token, **more})

    async with cluster.client("admin") as admin:
        found = await asyncio.gather(*map(one, SUITES))
    return [outcome for outcomes in found for outcome in outcomes]


async def _key(admin: Client, tenant: str) -> str:
    made = await admin.post("/api/context/keys", {"name": "suite", "access": "admin", "tenant": tenant})
    assert made.status == 201, made
    token: str = made.body["token"]
    return token


async def _run(name: str, settings: dict[str, str]) -> list[Outcome]:
    """Raises RuntimeError for a suite that ends before it has told."""
    paths = {"PYTHONPATH": f"{_ROOT}:{_ROOT / 'clients/python/src'}"}
    process = await asyncio.create_subprocess_exec(
        str(_python(name)),
        "-m",
        f"proofs.adapters.suites.{name}",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=_ROOT,
        env={**os.environ, **paths, **settings},
    )
    told, errors = await asyncio.wait_for(process.communicate(), _SECONDS)
    if process.returncode:
        raise RuntimeError(f"{name} ended with {process.returncode}: {errors.decode()[-4_000:]}")
    lines: list[Any] = [json.loads(line) for line in told.decode().splitlines() if line.startswith("{")]
    return [msgspec.convert(line, Outcome) for line in lines]


def _python(name: str) -> Path:
    """That runs a suite."""
    return _ROOT / _ENVIRONMENTS.get(name, ".adapters") / "bin" / "python"


if __name__ == "__main__":
    if not all(_python(name).exists() for name in SUITES):
        sys.exit("make verify-adapters makes the environments of the frameworks")
    run("adapters", 20_261, prove)

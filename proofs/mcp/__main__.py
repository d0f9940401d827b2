"""Any MCP client works on any replica (P12): both eras, by the SDKs of Python and TypeScript, and the suite of npm.

Two replicas of each service behind a round-robin, one of the context service's killed midway. The judge is the
clients' own ledger. The control is the same service with sessions that one replica keeps to itself.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from local.process import free_port
from proofs.ground import Ground, Proof, run
from tests.support.cluster import Cluster, RoundRobin
from tests.support.mcp.calls import (
    WORKERS,
    Call,
    Ledger,
    killed_midway,
    make_room,
    note,
    plan,
    run_python,
    unlike,
)
from tests.support.mcp.client import LEGACY, MODERN

SEED = 20_261
CALLS, SHORT_CALLS = 2_000, 200
_ROOT = Path(__file__).parents[2]
_NODE = _ROOT / ".node"
_CONTROL_CALLS = 40
# Those that ask nothing of a server but what every one has; the others want the tools of a test server.
_OLD, _NEW = "2025-11-25", "2026-07-28"
SCENARIOS = (
    ("server-initialize", _OLD),
    ("server-session-lifecycle", _OLD),
    ("server-stateless", _NEW),
    ("ping", _OLD),
    ("tools-list", _OLD),
    ("tools-list", _NEW),
    ("resources-list", _OLD),
    ("resources-list", _NEW),
    ("prompts-list", _OLD),
    ("prompts-list", _NEW),
    ("sep-2164-resource-not-found", _NEW),
    ("dns-rebinding-protection", _OLD),
    ("dns-rebinding-protection", _NEW),
    ("caching", _NEW),
    ("http-header-validation", _NEW),
    ("input-required-result-unsupported-methods", _NEW),
)
_CLIENTS = {
    "python-legacy": LEGACY,
    "python-modern": MODERN,
    "typescript-legacy": LEGACY,
    "typescript-modern": MODERN,
}


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    # The proxy in front of a killed replica has much to say.
    logging.getLogger("aiohttp").setLevel(logging.CRITICAL)
    settings = {**ground.vectors, "SCRUBJAY_DEDUP_DISTANCE": "0.2"}
    control = await _control(ground, settings, seed)
    cluster = Cluster(ground.database, ground.valkey.url, ground.folder, replicas=2, settings=settings)
    async with cluster:
        scenarios = await _conformance(cluster, ground.folder)
        ledgers, strays = await _calls(cluster, SHORT_CALLS if short else CALLS, seed)
    _show(ledgers, scenarios)
    failed = [name for name, passed in scenarios.items() if not passed]
    return Proof(
        n=sum(one.done for one in ledgers),
        faults=1,
        violations=sum(len(one.lost) for one in ledgers) + strays + len(failed),
        control_violations=control,
        more={
            "retried": sum(one.retried for one in ledgers),
            "conformance": f"{len(scenarios) - len(failed)}/{len(scenarios)}",
        },
    )


async def _calls(cluster: Cluster, count: int, seed: int) -> tuple[list[Ledger], int]:
    """The clients at once, a replica killed midway; their ledgers, and entries that do not match these."""
    share = -(-count // len(_CLIENTS))
    ledgers = [Ledger(name) for name in _CLIENTS]
    async with cluster.client("admin") as rest:
        await make_room(rest)
        runs = [
            (run_python if one.client.startswith("python") else _typescript)(
                cluster.url(), cluster.tokens.write, era, plan(share, one.client, seed), one
            )
            for one, era in zip(ledgers, _CLIENTS.values(), strict=True)
        ]
        await asyncio.gather(killed_midway(cluster, ledgers, share), *runs)
        return ledgers, await unlike(rest, ledgers)


async def _control(ground: Ground, settings: dict[str, str], seed: int) -> int:
    """Calls that are lost where sessions live in one of two replicas."""
    ledger = Ledger("control")
    cluster = Cluster(ground.database, ground.valkey.url, ground.folder, replicas=2, settings=settings)
    for replica in cluster.replicas["context"]:
        replica.module = "proofs.mcp.stateful"
    async with cluster:
        calls = plan(_CONTROL_CALLS, "control", seed, "control")
        await run_python(cluster.url(), cluster.tokens.write, LEGACY, calls, ledger)
    return len(ledger.lost)


async def _typescript(url: str, token: str, era: str, calls: list[Call], ledger: Ledger) -> None:
    shutil.copy(Path(__file__).parents[1] / "node" / "client.mjs", _NODE)
    process = await asyncio.create_subprocess_exec(
        *_node(str(_NODE / "client.mjs")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=_NODE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    told = {
        "url": url + "/mcp",
        "token": token,
        "era": era,
        "workers": WORKERS,
        "calls": [{"place": one.place, "name": one.name, "arguments": one.arguments} for one in calls],
    }
    process.stdin.write(json.dumps(told).encode())
    process.stdin.close()
    async for line in process.stdout:
        one = json.loads(line)
        note(ledger, calls[one["place"]], one["tries"], one.get("answer"), one.get("error"))
    if await process.wait():
        raise RuntimeError("the TypeScript client failed")


async def _conformance(cluster: Cluster, folder: Path) -> dict[str, bool]:
    async with _with_key(cluster.url(), cluster.tokens.write) as url:
        return {
            f"{name} {version}": await _scenario(name, version, url, folder) for name, version in SCENARIOS
        }


async def _scenario(name: str, version: str, url: str, folder: Path) -> bool:
    program = str(_NODE / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js")
    out = folder / f"{name}-{version}"
    process = await asyncio.create_subprocess_exec(
        *_node(program, "server", "--url", f"{url}/mcp", "--scenario", name, "--spec-version", version),
        *("--output-dir", str(out)),
        stdout=subprocess.DEVNULL,
        cwd=_NODE,
        # A start for each scenario, of which a quarter is compiling.
        env={**os.environ, "NODE_COMPILE_CACHE": str(folder / "compiled")},
    )
    await process.wait()
    checks = [one for file in out.glob("*/checks.json") for one in json.loads(file.read_text())]
    failed = [one for one in checks if one["status"] == "FAILURE" and not _needs_a_test_tool(one)]
    for one in failed:
        print(f"{name} {version}: {one['description']}: {one.get('errorMessage')}"[:500])
    return bool(checks) and not failed


def _needs_a_test_tool(check: dict[str, Any]) -> bool:
    return str(check.get("errorMessage", "")).startswith("Not testable")


def _node(*arguments: str) -> list[str]:
    return [str(Path(sys.executable).with_name("node")), *arguments]


@asynccontextmanager
async def _with_key(url: str, token: str) -> AsyncIterator[str]:
    """The suite has no key of its own: a proxy adds one."""

    class WithKey(RoundRobin):
        async def _forward(self, request: web.Request) -> web.StreamResponse:
            headers = {**request.headers, "Authorization": f"Bearer {token}"}
            return await super()._forward(request.clone(headers=headers))

    proxy = WithKey(free_port(), [url])
    proxy.start()
    try:
        yield proxy.url
    finally:
        proxy.stop()


def _show(ledgers: list[Ledger], scenarios: dict[str, bool]) -> None:
    print(f"{'client':<20}{'calls':>8}{'at the kill':>13}{'retried':>9}{'lost':>6}")
    for one in ledgers:
        print(f"{one.client:<20}{one.done:>8}{one.done_at_the_kill:>13}{one.retried:>9}{len(one.lost):>6}")
        for line in one.lost[:5]:
            print(f"  {line[:300]}")
    for name, passed in scenarios.items():
        print(f"conformance {name:<56}{'passed' if passed else 'FAILED'}")


def main() -> None:
    run("P12", SEED, prove)


if __name__ == "__main__":
    main()

"""`make verify-gateway`: the real Claude Code and Codex work through thirty commands, directly and through the gateway.

Through it they must do the same: each command once and in its order, the same answer in the end. The session is sent
shorter, the model gets one text back, and neither shows. In a third run the gateway is killed, the cache service
stopped, and Postgres crashed, each in the middle of an answer. It installs both hosts from npm into a folder that it
throws away.
"""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from local.process import Server
from local.services import Service
from proofs.gateway.model import ANSWER, Model
from proofs.ground import Ground, ground
from proofs.plugin.__main__ import thrown_away
from proofs.plugin.hosts import VERSIONS, ClaudeCode, Codex, Home, Host, Tools
from tests.support.cluster import Cluster

COUNT = 30
# About 4,000 tokens each.
COMMANDS = [
    f"echo {number} >> ran.log; seq -f 'step {number} line %g of the work' 1 450" for number in range(COUNT)
]
_HOSTS = (ClaudeCode, Codex)
_ENDPOINTS = {ClaudeCode.name: "/gateway/anthropic", Codex.name: "/gateway/openai"}
_PROMPT = "Run the commands, one after the other."
_LEAST_TOLD = 5
# Before the answers with these numbers.
_GATEWAY_DIES, _CACHE_STOPS, _POSTGRES_DIES = 8, 14, 20
Figures = dict[str, Any]


def main() -> int:
    logging.getLogger("httpx").setLevel(logging.WARNING)
    with thrown_away() as folder, ground() as stands_on, closing(Model(COMMANDS)) as model:
        tools = Tools.install(folder / "tools")
        figures = asyncio.run(_figures(stands_on, tools, model, folder))
    figures["violations"] = violations(figures)
    print(json.dumps(figures))
    return 1 if figures["violations"] else 0


async def _figures(stands_on: Ground, tools: Tools, model: Model, folder: Path) -> Figures:
    figures: Figures = {"versions": VERSIONS}
    settings = {
        "SCRUBJAY_GATEWAY_ANTHROPIC_URL": model.url,
        "SCRUBJAY_GATEWAY_OPENAI_URL": model.url,
        "SCRUBJAY_GATEWAY_UNPAGED_SHARE": "0",
    }
    cluster = Cluster(
        stands_on.database, stands_on.valkey.url, stands_on.folder, settings_of={"context": settings}
    )
    async with cluster:
        for host in _HOSTS:
            for case in ("direct", "gateway", "broken"):
                breaking = _Breaking(stands_on, cluster, asyncio.get_running_loop())
                model.forget()
                model.before = breaking.before if case == "broken" else lambda _: None
                session = _Session(tools, model, cluster, folder / f"{host.name}-{case}", host, case)
                figures[f"{host.name} {case}"] = figure = await asyncio.to_thread(session.run)
                print(f"{host.name:12} {case:8} {figure}", flush=True)
                await breaking.mended()
    return figures


class _Breaking:
    """Breaks one thing after the other, each once."""

    def __init__(self, ground: Ground, cluster: Cluster, loop: asyncio.AbstractEventLoop) -> None:
        self._ground, self._cluster, self._loop = ground, cluster, loop
        self._left: dict[int, Callable[[], None]] = {
            _GATEWAY_DIES: self._kill_gateway,
            _CACHE_STOPS: self._stop_cache,
            _POSTGRES_DIES: self._crash_postgres,
        }

    def before(self, number: int) -> None:
        """In the thread of the model's answer."""
        if (act := self._left.pop(number, None)) is not None:
            act()

    async def mended(self) -> None:
        self._service("cache").sigcont()

    def _service(self, name: str) -> Service:
        return self._cluster.replicas[name][0]

    def _start(self, server: Server) -> None:
        """From the thread of the loop: children die with the thread that starts them."""

        async def started() -> None:
            server.launch()
            await asyncio.to_thread(server.await_ready)

        asyncio.run_coroutine_threadsafe(started(), self._loop).result()

    def _kill_gateway(self) -> None:
        gateway = self._service("context")
        gateway.kill()
        self._start(gateway)

    def _stop_cache(self) -> None:
        self._service("cache").sigstop()

    def _crash_postgres(self) -> None:
        self._ground.postgres.kill()
        self._start(self._ground.postgres)


class _Session:
    def __init__(
        self, tools: Tools, model: Model, cluster: Cluster, folder: Path, host: Any, case: str
    ) -> None:
        self._model, self._cluster, self._case = model, cluster, case
        self._home = Home(folder, tools)
        address, headers = model.url, {}
        if case != "direct":
            address = self._service_url() + _ENDPOINTS[host.name]
            headers = {"X-Scrubjay-Key": cluster.tokens.write, "X-Scrubjay-Session": self._name(host)}
        self._session = self._name(host)
        self._host: Host = host(self._home, address, installed=False, headers=headers)

    def _name(self, host: Any) -> str:
        return f"{host.name}-{self._case}"

    def _service_url(self) -> str:
        """Its own, since a proxy in front would hide how it ends."""
        return self._cluster.replicas["context"][0].url

    def run(self) -> Figures:
        try:
            said = self._host.prompt(_PROMPT)
        except subprocess.SubprocessError as error:
            said = str(error)
        self._host.end()
        ran = (self._home.work / "ran.log").read_text().split()
        requests = self._model.requests
        return {
            "answered": ANSWER in said,
            "ran_once_in_order": ran == [str(number) for number in range(COUNT)],
            "saw_our_tools": "memory_fault" in said,
            "requests": len(requests),
            "sent_bytes": sum(map(len, requests)),
            "shorter": sum(b"[memory m-" in request for request in requests),
            "faults": self._model.faulted,
            "requests_that_tell_of_it": self._model.given_back,
        }


def violations(figures: Figures) -> list[str]:
    found: list[str] = []
    for host in _HOSTS:
        of = {case: figures[f"{host.name} {case}"] for case in ("direct", "gateway", "broken")}
        for case, one in of.items():
            wrong = not one["answered"] or not one["ran_once_in_order"] or one["saw_our_tools"]
            found += [f"{host.name} {case}: does not end as it should"] if wrong else []
        for case in ("gateway", "broken"):
            one = of[case]
            if not one["shorter"] or one["faults"] != 1 or one["requests_that_tell_of_it"] < _LEAST_TOLD:
                found.append(f"{host.name} {case}: nothing was sent shorter, or not brought back")
        if of["direct"]["shorter"]:
            found.append(f"{host.name}: the control was paged")
    return found


if __name__ == "__main__":
    sys.exit(main())

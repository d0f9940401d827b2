"""`make verify-plugin`: what hooks tell is in the next request, no request changes what an earlier one held, what was
done is stored, and a session with no service runs as one without the plugin.

It installs both hosts from npm into a folder that it throws away.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from proofs.ground import Ground, ground
from proofs.plugin.hosts import VERSIONS, ClaudeCode, Codex, Home, Host, Tools
from proofs.plugin.model import ANSWER, COMMANDS, Model
from scrubjay import Client
from scrubjay.hooks.injecting import TAG
from scrubjay.hooks.switch import NAME as OFF
from tests.support.cluster import Cluster

PROMPTS = ("Light the lantern", "Light the lantern again: which oil does it burn?")
FACT = "The lantern burns whale oil of grade 7431, and nothing else."
_HOSTS = (ClaudeCode, Codex)
_MOST_MILLISECONDS = 300.0
_WRITTEN_SECONDS = 60.0
_ENDING_SECONDS = 3.0
Figures = dict[str, Any]


def main() -> int:
    logging.getLogger("httpx").setLevel(logging.WARNING)
    with thrown_away() as folder, ground() as stands_on:
        tools = Tools.install(folder / "tools")
        model = Model()
        with closing(model):
            figures = asyncio.run(_figures(stands_on, tools, model, folder))
    figures["violations"] = list(violations(figures))
    print(json.dumps(figures))
    return 1 if figures["violations"] else 0


@contextmanager
def thrown_away() -> Iterator[Path]:
    """A folder that is deleted even while what hooks started ends: it may write once more."""
    folder = Path(tempfile.mkdtemp(prefix="scrubjay-plugin-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(_ENDING_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)


async def _figures(stands_on: Ground, tools: Tools, model: Model, folder: Path) -> Figures:
    figures: Figures = {"versions": VERSIONS}
    async with Cluster(stands_on.database, stands_on.valkey.url, stands_on.folder) as cluster:
        away = _address_of_nobody()
        with socket.create_server(("127.0.0.1", 0)) as silent:
            addresses = {
                "with": cluster.url(),
                "off": cluster.url(),
                "without": cluster.url(),
                "stopped": away,
                "hanging": f"http://127.0.0.1:{silent.getsockname()[1]}",
            }
            for host in _HOSTS:
                for case, url in addresses.items():
                    session = _Session(tools, model, folder / f"{host.name}-{case}", host, case, url)
                    figures[f"{host.name} {case}"] = await asyncio.to_thread(session.run, cluster)
    return figures


class _Session:
    """One session of a host, with two prompts."""

    def __init__(self, tools: Tools, model: Model, folder: Path, host: Any, case: str, url: str) -> None:
        self.model, self.case, self.url = model, case, url
        self.home = Home(folder, tools)
        self.host: Host = host(self.home, model.url, installed=case != "without")
        if case == "off":
            (self.home.work / OFF).touch()

    def run(self, cluster: Cluster) -> Figures:
        # Each session has an agent and a mission of its own, so that no other one's episodes count.
        agent = f"{self.host.name}-{self.case}"
        self.home.environment |= {"SCRUBJAY_URL": self.url, "SCRUBJAY_TOKEN": cluster.tokens.write}
        self.home.environment |= {"SCRUBJAY_AGENT": agent, "SCRUBJAY_MISSION": agent}
        self.model.forget()
        with Client(cluster.url(), cluster.tokens.write) as client:
            client.memory.write(kind="knowledge", content=FACT, scope=f"agent:{agent}", agent=agent)
            said = [self.host.prompt(text) for text in PROMPTS]
            requests = len(self.model.requests)
            told, changed = self._times_told(), self._changed_prefixes()
            expected = len(PROMPTS) * (2 + len(COMMANDS)) if self.case == "with" else 0
            written = _written(client, agent, expected)
            resumed = self._resumed() if self.case == "with" else 0
            self.host.end()
        times = self.home.hook_milliseconds()
        return {
            "answered": sum(ANSWER in each for each in said),
            "requests": requests,
            "told": told,
            "changed_prefixes": changed,
            "told_where_it_was": resumed,
            "written": written,
            "hooks": len(times),
            "slowest_hook_ms": max(times, default=0.0),
        }

    def _resumed(self) -> int:
        """Whether the next request after a compaction tells where the session was. Codex compacts by itself only."""
        if not isinstance(self.host, ClaudeCode):
            return 0
        self.host.prompt("/compact")
        self.host.prompt(PROMPTS[0])
        return int("Where this session was" in "\n".join(self.host.items(self.model.requests[-1])))

    def _times_told(self) -> int:
        """How often the last request holds the fact: it is told once in a session."""
        held = "\n".join(self.host.items(self.model.requests[-1]))
        assert FACT not in "\n".join(PROMPTS)
        return held.count(FACT) if TAG in held else 0

    def _changed_prefixes(self) -> int:
        """Requests that do not begin with all that the one before held."""
        held = [self.host.items(request) for request in self.model.requests]
        return sum(after[: len(before)] != before for before, after in itertools.pairwise(held))


def _written(client: Client, agent: str, expected: int) -> int:
    """How many episodes of the session are stored, once they are all there."""
    until = time.monotonic() + _WRITTEN_SECONDS
    while True:
        found = [each for each in client.memory.list(in_scope=f"agent:{agent}") if each.origin]
        if len(found) >= expected or time.monotonic() > until:
            return len(found)
        time.sleep(0.5)


def _address_of_nobody() -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def violations(figures: Figures) -> Iterator[str]:
    """What does not hold. The sessions without the plugin are the control: they are told nothing."""
    for name, found in figures.items():
        host, _, case = name.partition(" ")
        if not case:
            continue
        wanted = {
            "answered": len(PROMPTS),
            "requests": figures[f"{host} without"]["requests"],
            "told": 1 if case == "with" else 0,
            "changed_prefixes": 0,
            "told_where_it_was": 1 if name == "claude-code with" else 0,
            "written": len(PROMPTS) * (2 + len(COMMANDS)) if case == "with" else 0,
        }
        yield from (
            f"{name}: {each} is {found[each]}, not {value}"
            for each, value in wanted.items()
            if found[each] != value
        )
        if found["slowest_hook_ms"] > _MOST_MILLISECONDS:
            yield f"{name}: a hook took {found['slowest_hook_ms']:.0f} ms"
        if bool(found["hooks"]) != (case != "without"):
            yield f"{name}: {found['hooks']} hooks ran"


if __name__ == "__main__":
    sys.exit(main())

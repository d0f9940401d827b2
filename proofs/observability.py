"""Dashboards and alerts: as written, on made-up series, and on a live cluster that a real Prometheus scrapes."""

from __future__ import annotations

import asyncio
import json
import math
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from deploy.observability import alerts, dashboards
from deploy.verify.findings import Finding
from deploy.verify.tools import prometheus
from local.process import Server, free_port
from proofs.ground import Ground, ground
from tests.support.cluster import Client, Cluster

_JOBS = {"context": "scrubjay-context", "cache": "scrubjay-cache", "agent_memory": "scrubjay-agent-memory"}
# As Grafana fills them in.
_FILLED = {"$__rate_interval": "15s", "$namespace": ".*", "$job": ".*"}
_BEFORE_SECONDS = 3.0
_TRAFFIC_SECONDS = 8.0
_ROUNDS = 6
"""A busy machine may answer scrapes too late. What is found wrong in every round is wrong."""


class Prometheus(Server):
    start_seconds = 30
    stop_seconds = 10

    def __init__(self, folder: Path, targets: Mapping[str, str]) -> None:
        super().__init__("prometheus", folder / "prometheus.log")
        self._folder = folder
        self.url = f"http://127.0.0.1:{free_port()}"
        scrapes = [
            {"job_name": job, "static_configs": [{"targets": [target], "labels": {"namespace": "live"}}]}
            for job, target in targets.items()
        ]
        config = {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(alerts.RULES)],
            "scrape_configs": scrapes,
        }
        # YAML holds JSON.
        (folder / "prometheus.yaml").write_text(json.dumps(config))

    def launch(self) -> None:
        self.spawn(
            [
                prometheus(),
                f"--config.file={self._folder / 'prometheus.yaml'}",
                f"--storage.tsdb.path={self._folder / 'series'}",
                f"--web.listen-address={self.url.removeprefix('http://')}",
            ]
        )

    def ready(self) -> bool:
        with suppress(OSError, HTTPError, URLError):
            return bool(urlopen(f"{self.url}/-/ready", timeout=2).status == 200)  # noqa: S310
        return False

    def ask(self, path: str, **given: str) -> Any:
        with urlopen(f"{self.url}/api/v1/{path}?{urlencode(given)}", timeout=10) as answer:  # noqa: S310
            return json.load(answer)["data"]


def queries_return_data() -> Iterator[Finding]:
    with ground() as stands_on:
        yield from asyncio.run(_live(stands_on))


async def _live(stands_on: Ground) -> list[Finding]:
    async with Cluster(stands_on.database, stands_on.valkey.url, stands_on.folder) as cluster:
        targets = {job: cluster.url(name).removeprefix("http://") for name, job in _JOBS.items()}
        watching = Prometheus(stands_on.folder, targets)
        watching.start()
        try:
            # A counter rises between two scrapes, or not at all.
            await asyncio.sleep(_BEFORE_SECONDS)
            for _ in range(_ROUNDS):
                await _play(cluster, _TRAFFIC_SECONDS)
                if not (findings := [*_empty(watching), *_blind(watching), *_unwell(watching)]):
                    break
            return findings
        finally:
            watching.stop()


async def _play(cluster: Cluster, seconds: float) -> None:
    async with asyncio.timeout(seconds + 120), cluster.client("write") as agent:
        end = asyncio.get_running_loop().time() + seconds
        for number in count():
            if asyncio.get_running_loop().time() > end:
                return
            await _one_round(agent, number)
            await asyncio.sleep(0.1)


async def _one_round(agent: Client, number: int) -> None:
    said = f"deploy {number} failed: the migration of table t{number} timed out"
    note = {"mission_id": "live", "agent_name": "ops", "context_type": "finding", "content": said}
    lesson = {"agent_name": "ops", "context_type": "finding", "content": said}
    asked = {"caller": "ops", "mission_namespace": "live", "query": f"why did deploy {number} fail?"}
    for path, body in (
        ("/api/psychic-cache/write", note),
        ("/api/agent-memory/commit", lesson),
        ("/api/context/assemble", asked),
        ("/api/context/assemble", {}),
    ):
        await agent.post(path, body)


def _empty(watching: Prometheus) -> Iterator[Finding]:
    for where, query in dashboards.queries():
        try:
            if not _finite(watching, query):
                yield Finding("dashboards", f"{where} returns no data: {query}")
        except HTTPError as error:
            yield Finding("dashboards", f"{where}: {error.read().decode()}")


def _blind(watching: Prometheus) -> Iterator[Finding]:
    """The same queries of metrics that nobody serves must return nothing."""
    for where, query in dashboards.queries():
        renamed = re.sub(r"\b(scrubjay|process)_", "nobodys_", query)
        if _finite(watching, renamed):
            yield Finding("control", f"{where}: {renamed} returns data")


def _finite(watching: Prometheus, query: str) -> bool:
    for name, value in _FILLED.items():
        query = query.replace(name, value)
    found = watching.ask("query", query=query)["result"]
    return any(math.isfinite(float(series["value"][1])) for series in found)


def _unwell(watching: Prometheus) -> Iterator[Finding]:
    """Alerts that cannot be evaluated, or complain of a healthy cluster; targets that are not scraped."""
    for group in watching.ask("rules")["groups"]:
        for rule in group["rules"]:
            if rule["health"] != "ok" or rule["state"] != "inactive":
                yield Finding("alerts", f"{rule['name']}: {rule['health']}, {rule['state']}")
    for target in watching.ask("targets")["activeTargets"]:
        if target["health"] != "up":
            yield Finding("targets", f"{target['labels']['job']}: {target['lastError']}")


def as_written() -> Iterator[Finding]:
    """The chart's dashboards are what the code makes."""
    kept = {path.stem: path.read_text() for path in dashboards.FOLDER.glob("*.json")}
    for uid in sorted(kept.keys() | dashboards.DASHBOARDS.keys()):
        if uid not in dashboards.DASHBOARDS or kept.get(uid) != dashboards.written(uid):
            yield Finding("dashboards", f"{uid}: run `python -m deploy.observability.dashboards`")


def main() -> int:
    begun = time.monotonic()
    findings = [*as_written(), *alerts.fire_when_they_should(), *queries_return_data()]
    for finding in findings:
        print(f"   {finding}")
    figures = {
        "dashboards": len(dashboards.DASHBOARDS),
        "queries": len(list(dashboards.queries())),
        "alerts": len(alerts.names()),
        "findings": len(findings),
        "seconds": round(time.monotonic() - begun, 1),
    }
    print(json.dumps(figures))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

"""Every line that a service writes to stdout or stderr is a JSON object that names the service."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from local.process import free_port, wait_for
from local.services import NAMES, Service
from tests.e2e.logs.noisy import SAID
from tests.support.calls import note
from tests.support.cluster import Client, Cluster

AWAY = "postgresql://nobody@127.0.0.1:9/nothing"
TROUBLE = {
    "wrong settings": {"REDIS_URL": "", "SCRUBJAY_IN_FLIGHT": "many"},
    "no database": {"DATABASE_URL": AWAY},
    "an unknown model": {"SCRUBJAY_EMBEDDER": "local", "SCRUBJAY_EMBEDDING_MODEL": "another"},
    "a wrong setting of metrics": {"SCRUBJAY_METRICS": "opne"},
}


def replica(cluster: Cluster, name: str, log: Path, **settings: str) -> Service:
    variables = {**cluster.replicas[name][0].variables, "SCRUBJAY_LOG_LEVEL": "DEBUG", **settings}
    return Service(name, log, free_port(), variables)


def lines(log: Path, name: str) -> list[dict[str, Any]]:
    read = []
    for line in log.read_text().splitlines():
        try:
            read.append(json.loads(line))
        except ValueError:
            pytest.fail(f"no JSON: {line}")
    assert {line["service"] for line in read} == {name.replace("_", "-")}
    assert all({"event", "level", "timestamp"} <= line.keys() for line in read)
    return read


async def garbage(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"\x16\x03\x01 no HTTP at all\r\n\r\n")
    await reader.read()
    writer.close()


@pytest.mark.parametrize("name", NAMES)
async def test_what_a_running_service_says_is_json(cluster: Cluster, tmp_path: Path, name: str) -> None:
    service = replica(cluster, name, tmp_path / "log", NOISY=name)
    service.module = "tests.e2e.logs.noisy"
    await cluster.start(service)
    async with Client(service.url, cluster.tokens.admin) as client:
        assert (await client.get("/metrics")).status == 500
        assert (await client.get("/nowhere")).status in (401, 404)
        await client.post("/api/psychic-cache/write", note("m", "a secret of the fleet"))
        await garbage(service.port)
        await garbage(service.port)
        open_stream = asyncio.ensure_future(
            client.get("/api/timeline", headers={"accept": "text/event-stream"})
        )
        await asyncio.sleep(0.5)
        await cluster.stop(service)
        await asyncio.gather(open_stream, return_exceptions=True)
    read = lines(service.log, name)
    for said in SAID:
        assert any(said in str(value) for line in read for value in line.values()), said
    assert any("traceback" in line.get("exception", "").lower() for line in read)
    assert "a secret of the fleet" not in service.log.read_text()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("trouble", TROUBLE)
async def test_what_a_service_says_that_does_not_start_is_json(
    cluster: Cluster, tmp_path: Path, name: str, trouble: str
) -> None:
    service = replica(cluster, name, tmp_path / "log", **TROUBLE[trouble])
    service.launch()
    await asyncio.to_thread(wait_for, lambda: not service.running, 300)
    assert service.returncode not in (0, None)
    assert lines(service.log, name)[-1]["level"] in ("error", "critical")


async def test_a_port_that_is_taken_is_said_in_json(cluster: Cluster, tmp_path: Path) -> None:
    service = replica(cluster, "cache", tmp_path / "log")
    service.variables["SCRUBJAY_PORT"] = str(cluster.replicas["cache"][0].port)
    service.launch()
    await asyncio.to_thread(wait_for, lambda: not service.running, 300)
    assert any(line["event"] == "cannot listen" for line in lines(service.log, "cache"))

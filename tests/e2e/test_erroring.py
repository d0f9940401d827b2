"""Dependencies that answer, but with errors: the source is named or the answer is 503, in time, never a bare 500."""

from __future__ import annotations

import asyncio
from typing import Self

import asyncpg
import pytest
from aiohttp import web

from local.database import Database
from local.process import free_port
from services.context import stores
from shared.search.evidence import GRAPH
from tests.support.calls import (
    BUSY_SLACK,
    Json,
    assert_unavailable,
    lesson,
    note,
    question,
    timed,
    until,
    within,
)
from tests.support.cluster import Client, Cluster
from tests.support.clusters import spare

MISSION = "erroring"
MISSING = {
    owner: {GRAPH, *names} if owner == "agent_memory" else names
    for owner in ("agent_memory", "cache")
    for names in [
        {store.name for store in stores.STORES if store.owner == owner and store not in stores.ON_REQUEST}
    ]
}
"""What an assembly lacks without an owner."""
WRONG: dict[str, tuple[int, str, dict[str, str]]] = {
    "status 500": (500, "boom", {}),
    "no JSON": (200, "<html>hello</html>", {}),
    "other JSON": (200, "[1, 2]", {}),
    "empty": (200, "", {}),
    "status 429": (429, "{}", {}),
    # Of the release before, in the middle of an upgrade.
    "unknown field": (400, '{"errors": [{"field": "user_id", "message": "unknown field"}]}', {}),
    "status 302": (302, "", {"location": "/elsewhere"}),
}


class Wrong:
    """A server that has one answer for everything; `answer` says which."""

    def __init__(self) -> None:
        self.answer = WRONG["status 500"]
        self._port = free_port()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._give)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _give(self, _: web.Request) -> web.Response:
        status, text, headers = self.answer
        return web.Response(status=status, text=text, headers=headers)


@pytest.fixture(scope="module", autouse=True)
async def filled(cluster: Cluster) -> None:
    async with cluster.client("write") as agent:
        for path, body in (
            ("/api/psychic-cache/write", note(MISSION, "the orders replica lags by nine seconds")),
            ("/api/agent-memory/commit", lesson("scout", "Check the lag of the orders replica first.")),
        ):
            assert (await agent.post(path, body)).status == 201


@pytest.mark.parametrize("owner", ["agent_memory", "cache"])
async def test_an_owner_that_answers_nonsense_is_named(cluster: Cluster, owner: str) -> None:
    name = f"SCRUBJAY_{owner.upper()}_URL"
    async with (
        Wrong() as server,
        spare(cluster, "context", **{name: server.url}) as service,
        Client(service.url, cluster.tokens.write) as agent,
    ):
        for wrong, answer in WRONG.items():
            server.answer = answer
            done = await timed(
                agent.post("/api/context/assemble", question(MISSION, "orders replica"), headers=within(1500))
            )
            assert done.status == 200, (wrong, done.answer)
            assert done.seconds < 1.5 + BUSY_SLACK
            missing = {one["source"]: one["reason"] for one in done.answer.body["degraded"]}
            assert missing.keys() == MISSING[owner], wrong
            reason = {"status 429": "overloaded", "unknown field": "outdated"}.get(wrong, "erroring")
            assert set(missing.values()) == {f"{owner} {reason}"}, wrong
            assert done.answer.body["assembly_id"] > 0


@pytest.mark.parametrize(
    ("owner", "path", "body"),
    [
        ("cache", "/api/psychic-cache/write", note("nobody", "nobody hears this")),
        ("agent_memory", "/api/agent-memory/query", {"agent_name": "scout", "query": "anything"}),
    ],
)
async def test_an_owners_own_routes_never_show_a_bare_error(
    cluster: Cluster, owner: str, path: str, body: Json
) -> None:
    """As of a proxy before it, or of a server that does not start."""
    name = f"SCRUBJAY_{owner.upper()}_URL"
    async with (
        Wrong() as server,
        spare(cluster, "context", **{name: server.url}) as service,
        Client(service.url, cluster.tokens.write) as agent,
    ):
        assert_unavailable(await agent.post(path, body), owner)


async def test_a_postgres_that_refuses_is_503(cluster: Cluster, database: Database) -> None:
    """Too many connections, as a pooler or a full server answers."""
    connection = await asyncpg.connect(database.admin)
    role = "scrubjay_context"
    async with spare(cluster, "context") as service, Client(service.url, cluster.tokens.write) as agent:
        ask = question(MISSION, "orders replica")
        assert (await agent.post("/api/context/assemble", ask)).status == 200
        await connection.execute(f"alter role {role} connection limit 0")
        try:
            for _ in range(6):
                await connection.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity where usename = $1 and datname = $2",
                    role,
                    database.name,
                )
                for method, path, body in (
                    ("POST", "/api/context/assemble", {**ask, "caller": "someone-else"}),
                    ("GET", "/api/context/log", None),
                    ("GET", "/api/timeline", None),
                ):
                    done = await timed(agent.call(method, path, body, headers=within(1000)))
                    assert_unavailable(done.answer, "postgres")
                    assert done.seconds < 1.0 + BUSY_SLACK
        finally:
            await connection.execute(f"alter role {role} connection limit -1")
            await connection.close()

        async def well() -> None:
            assert (await agent.post("/api/context/assemble", ask)).status == 200

        await until(well)


async def test_a_redis_that_refuses_costs_nothing(cluster: Cluster) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(4096):
            writer.write(b"-ERR not today\r\n" * 3)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with (
        server,
        spare(cluster, "context", REDIS_URL=f"redis://127.0.0.1:{port}/0") as service,
        Client(service.url, cluster.tokens.write) as agent,
    ):
        for _ in range(3):
            done = await timed(
                agent.post("/api/context/assemble", question(MISSION, "orders replica"), headers=within(1500))
            )
            assert done.status == 200
            assert done.answer.body["degraded"] == []
            assert done.seconds < 1.5 + BUSY_SLACK
        assert (await agent.get("/api/timeline?limit=1")).status == 200

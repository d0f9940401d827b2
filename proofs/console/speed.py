"""How heavy the page is: what a first look transfers, long lists, and a busy timeline."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import asyncpg
from playwright.async_api import Browser

from proofs.console.browser import heap, tab
from proofs.ground import Ground
from tests.support.cluster import Cluster

_MOST_KILOBYTES = 200
_MOST_SECONDS_AFTER_ANSWER = 1.0
_EVENTS_PER_SECOND = 200
_BATCH = 20
# The heap of a page that holds the latest rows only, after it has held them once.
_MOST_GROWTH = 1.25
_MISSION = "large"
_COPY_LOG = """
    insert into context.context_assembly_log (tenant, caller, mission_namespace, scopes, query_hash, token_budget,
        total_tokens, retrieval_ms, low_relevance, created_at)
    select 'default', 'caller-' || n % 50, $1, array['mission:' || $1], decode(md5(n::text), 'hex'), 1000, 500, 10,
        false, now() - n * interval '1 second'
    from generate_series(1, $2::int) n
"""


async def transferred(browser: Browser, url: str, token: str) -> tuple[float, list[str]]:
    """Kilobytes that a first look at the first screen takes over the network, answers of the API left out."""
    sizes: list[float] = []
    async with tab(browser, url, token) as one:
        session: Any = await one.page.context.new_cdp_session(one.page)
        await session.send("Network.enable")
        files: set[str] = set()
        session.on(
            "Network.responseReceived",
            lambda event: files.add(event["requestId"]) if "/api/" not in event["response"]["url"] else None,
        )
        session.on(
            "Network.loadingFinished",
            lambda event: sizes.append(event["encodedDataLength"]) if event["requestId"] in files else None,
        )
        await one.show("/now")
        await one.page.wait_for_timeout(500)
    kilobytes = round(sum(sizes) / 1024, 1)
    return kilobytes, [f"a first look takes {kilobytes} kB"] if kilobytes > _MOST_KILOBYTES else []


async def grown(
    browser: Browser, cluster: Cluster, ground: Ground, *, short: bool
) -> tuple[dict[str, float], list[str]]:
    """Seconds from the answer of the API until a list of much can be used."""
    entries, assemblies = (5_000, 2_000) if short else (100_000, 10_000)
    await _write(cluster, entries)
    connection = await asyncpg.connect(ground.database.owner)
    await connection.execute(_COPY_LOG, _MISSION, assemblies)
    await connection.close()
    lists = {
        "now": ("/now", "missions"),
        "why": (f"/why?mission={_MISSION}", "/api/context/log"),
        "explore": (f"/explore?kind=entries&mission={_MISSION}", "entries"),
        "review": ("/review", "/api/context/review"),
        "sessions": ("/sessions", "/api/sessions"),
        "tune": ("/tune", "/api/context/weights"),
        "keys": ("/keys", "/api/context/keys"),
    }
    seconds, wrong = {}, []
    for name, (path, route) in lists.items():
        async with tab(browser, cluster.url(), cluster.tokens.admin) as one:
            answered: list[float] = []
            one.page.on(
                "response",
                lambda response, route=route, to=answered: (
                    to.append(time.monotonic()) if route in response.url else None
                ),
            )
            await one.show(path)
            await one.page.locator("main tbody tr, main .item").first.wait_for()
            seconds[name] = round(time.monotonic() - answered[-1], 2) if answered else -1
            if not 0 <= seconds[name] <= _MOST_SECONDS_AFTER_ANSWER:
                wrong.append(f"{name}: {seconds[name]} s after the API's answer")
    return seconds, wrong


async def _write(cluster: Cluster, entries: int) -> None:
    async with cluster.client("admin") as admin:
        limits = {"token_budget": 10**8, "entry_budget": 10**6}
        assert (await admin.call("PUT", f"/api/psychic-cache/{_MISSION}/limits", limits)).status < 300
        for start in range(0, entries, 100):
            batch = [_entry(_MISSION, start + number) for number in range(100)]
            answer = await admin.post("/api/psychic-cache/write/batch", {"entries": batch})
            assert answer.status < 300, answer.body


def _entry(mission: str, number: int) -> dict[str, Any]:
    return {
        "mission_id": mission,
        "context_type": "intel",
        "agent_name": f"agent-{number % 20}",
        "content": f"event {number} of a fleet that is busy",
        "intel_source": "load",
    }


async def busy(browser: Browser, cluster: Cluster, *, seconds: int) -> tuple[dict[str, float], list[str]]:
    """The heap of the live timeline while 200 events a second come in."""
    async with tab(browser, cluster.url(), cluster.tokens.admin) as one:
        await one.show("/now")
        load = asyncio.create_task(_load(cluster, seconds))
        # The first rows fill the list; what grows after that would go on growing.
        await asyncio.sleep(seconds / 4)
        first = await heap(one.page)
        await load
        await one.page.wait_for_timeout(1_000)
        last = await heap(one.page)
        rows = await one.page.locator(".events li").count()
        figures = {
            "megabytes_first": round(first / 2**20, 1),
            "megabytes_last": round(last / 2**20, 1),
            "events": load.result(),
            "rows": rows,
        }
        wrong = [*one.wrong]
    if last > _MOST_GROWTH * first:
        wrong.append(f"the heap grew from {first} to {last} bytes")
    if rows == 0:
        wrong.append("the timeline shows no event")
    return figures, wrong


async def _load(cluster: Cluster, seconds: int) -> int:
    written = 0
    began = time.monotonic()
    async with cluster.client("admin") as admin:
        while (passed := time.monotonic() - began) < seconds:
            if written > passed * _EVENTS_PER_SECOND:
                await asyncio.sleep(0.02)
                continue
            batch = [_entry("busy", written + number) for number in range(_BATCH)]
            await admin.post("/api/psychic-cache/write/batch", {"entries": batch})
            written += _BATCH
    return written

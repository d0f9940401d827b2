"""What the console shows in its proof: a fleet's incident, every kind of item once, and hostile texts of each kind."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from local import sample
from proofs.console.hostile import HOSTILE, marker
from proofs.ground import Ground
from tests.support.cluster import Client, Cluster
from tests.support.openapi import DOCUMENT
from tools.openapi.playing import Player

MISSION = "hostile"
AGENT = "mallory"
TRAINEE = "trainee-of-the-console"
OTHER_MISSION = "elsewhere"
OUTSIDER = "outsider"


class Filled(NamedTuple):
    """What the screens of single things show."""

    assembly: int
    hostile_assembly: int
    entry: str
    hostile_entry: str
    session: str
    memory: str
    large_file: str


async def fill(cluster: Cluster, ground: Ground) -> Filled:
    await asyncio.to_thread(sample.load, cluster.url(), cluster.tokens.write, ground.folder / "sample.json")
    await asyncio.to_thread(_play, cluster)
    async with cluster.client("admin") as admin:
        asked = await _asked(admin, sample.QUESTION, sample.CALLER, sample.MISSION, 1_000)
        assert asked["sources"], asked
        used = [asked["sources"][0]["handle"]]
        await _post(
            admin,
            "/api/context/feedback",
            {"assembly_id": asked["assembly_id"], "used_source_ids": used, "tokens_used": 200},
        )
        await _writes_that_wait(admin)
        session = await _hostile_session(admin)
        entry, large = await _hostile_items(admin)
        hostile = await _asked(admin, "hostile evil forged texts", AGENT, MISSION, 8_000)
        await _post(
            admin,
            "/api/psychic-cache/write",
            {
                "mission_id": OTHER_MISSION,
                "context_type": "intel",
                "agent_name": OUTSIDER,
                "content": "secret-of-elsewhere",
                "intel_source": "there",
            },
        )
        await _asked(admin, "secret", OUTSIDER, OTHER_MISSION, 500)
    cached = next(one["handle"] for one in asked["sources"] if one["handle"].startswith("cache:"))
    own = next(one["handle"] for one in asked["sources"] if one["handle"].startswith("own:"))
    return Filled(asked["assembly_id"], hostile["assembly_id"], cached, f"cache:{entry}", session, own, large)


def _play(cluster: Cluster) -> None:
    for played in Player(cluster.url(), cluster.tokens.admin, DOCUMENT).play():
        assert played.status < 300, (played.example.operation, played.answer)


async def _post(client: Client, path: str, body: Any, **options: Any) -> Any:
    answer = await client.post(path, body, **options)
    assert answer.status < 300, (path, answer.body)
    return answer.body


async def _asked(client: Client, query: str, caller: str, mission: str, tokens: int) -> Any:
    body = {
        "query": query,
        "caller": caller,
        "mission_namespace": mission,
        "token_budget": tokens,
        "fill": True,
    }
    found = await _post(client, "/api/context/assemble", body)
    # The log is written behind the answer.
    for _ in range(100):
        answer = await client.get(f"/api/context/log/{found['assembly_id']}")
        if answer.status == 200:
            return found
        await asyncio.sleep(0.1)
    raise AssertionError(f"assembly {found['assembly_id']} is not in the log")


async def _hostile_items(client: Client) -> tuple[int, str]:
    """Entries, memories, facts, knowledge and a file of 2 MB. Answers the id of the first entry, and the file."""
    limits = {"token_budget": 100_000, "entry_budget": 1_000}
    answer = await client.call("PUT", f"/api/psychic-cache/{MISSION}/limits", limits)
    assert answer.status < 300, answer.body
    entries = [
        {
            "mission_id": MISSION,
            "context_type": "intel",
            "agent_name": AGENT,
            "content": text,
            "intel_source": text[:150].replace("\n", " "),
        }
        for text in HOSTILE
    ]
    written = await _post(client, "/api/psychic-cache/write/batch", {"entries": entries})
    memories = [
        {"agent_name": AGENT, "memory_type": "lesson_learned", "content": text} for text in HOSTILE[:35]
    ]
    await _post(client, "/api/agent-memory/batch", {"memories": memories})
    facts = [
        {
            "subject": "hostile",
            "predicate": "says",
            "object": text[:190].replace("\n", " "),
            "agent_name": AGENT,
        }
        for text in HOSTILE[:35]
    ]
    await _post(client, "/api/kg/batch", {"facts": facts})
    knowledge = [
        {"kind": "knowledge", "scope": f"mission:{MISSION}", "content": text} for text in HOSTILE[:35]
    ]
    await _post(client, "/api/memory/batch", {"memories": knowledge})
    text = "\n\n".join(HOSTILE) + "x " * 990_000
    file = await _post(client, "/api/vault/files", {"path": "shared/hostile.md", "text": text})
    await _post(
        client,
        "/api/dispatch/report",
        {
            "mission_id": MISSION,
            "agent_name": AGENT,
            "task": f"{marker(2)} <img src=x onerror=window.__ran=1>",
        },
    )
    refused = [one for one in written["data"]["entries"] if one["status"] >= 300]
    assert not refused, refused
    return int(written["data"]["entries"][0]["data"]["id"]), f"vault:{file['ids'][0]}"


async def _writes_that_wait(client: Client) -> None:
    """Three of a trainee's, and a hostile one."""
    answer = await client.call("PUT", "/api/context/review/rules", {"agent_name": TRAINEE})
    assert answer.status < 300, answer.body
    lessons = [f"Pool {number} needs {number * 7} connections." for number in range(1, 8)]
    for text in (*lessons, HOSTILE[1]):
        body = {"agent_name": TRAINEE, "memory_type": "lesson_learned", "content": text}
        await _post(client, "/api/agent-memory/commit", body)


async def _hostile_session(client: Client) -> str:
    made = await _post(
        client,
        "/api/sessions",
        {
            "external_id": "hostile-session",
            "agent_name": AGENT,
            "mission_id": MISSION,
            "config": {"token_budget": 4_000},
        },
    )
    session = str(made["data"]["id"])
    for number, text in enumerate(HOSTILE):
        turn = {
            "admit": [{"content": text * 4, "object_type": "tool_result", "source_key": f"file-{number}"}],
        }
        await _post(client, f"/api/sessions/{session}/turns", turn)
    messages = [{"role": "user", "text": text} for text in HOSTILE]
    await _post(client, f"/api/sessions/{session}/events", {"messages": messages})
    return session

"""What notes state is in the graph as long as they state it, and shows to whoever may read the note."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from services.agent_memory.vault.folder_index.service import FolderIndex
from shared.database.postgres import Database
from tests.integration.conftest import Tenant
from tests.integration.vault.conftest import counts, run
from tests.support.cluster import Client
from tests.support.vault.notes import random_note, random_notes, stated_by, write_notes
from tests.support.vault.state import facts_of, texts_of, versions

NOTES = 1_000
NOTE = "---\nowner: Ana\ntags: [ops, postgres]\n---\n# Failover\n\nSee [[Runbook|the runbook]].\n"
PATH = "shared/Failover.md"
FOLDERS = [
    "",
    "shared/",
    "agents/scout/",
    "agents/wren/",
    "missions/apollo/",
    "missions/zeus/",
    "users/ana/",
    "users/bob/",
]
Json = dict[str, Any]


def below(folder: str) -> str:
    return f"Below {folder.replace('/', ' ')}here"


async def put(client: Client, path: str = PATH, text: str = NOTE, **more: Any) -> None:
    answer = await client.post("/api/vault/files", {"path": path, "text": text, **more})
    assert answer.status == 201, answer


async def facts(client: Client, entity: str = "Failover", **more: Any) -> list[Json]:
    answer = await client.post("/api/kg/query", {"entity": entity, **more})
    assert answer.status == 200, answer
    return answer.body["data"]  # type: ignore[no-any-return]


async def stated(client: Client, entity: str = "Failover", **more: Any) -> set[tuple[str, str, str]]:
    found = await facts(client, entity, **more)
    return {(fact["predicate"], fact["object"], fact["source"]) for fact in found}


async def test_the_graph_is_that_of_another_parser_after_every_run(
    index: FolderIndex, pool: Database, folder: Path
) -> None:
    chance = random.Random(18)
    texts = random_notes(chance, NOTES)
    write_notes(folder, texts)
    assert counts(await run(index)) == (NOTES, 0, 0)
    assert await facts_of(pool) == stated_by(texts)
    before = await versions(pool, "facts")
    assert counts(await run(index)) == (0, NOTES, 0)
    assert await versions(pool, "facts") == before
    for _ in range(3):
        _change(chance, folder, texts)
        await run(index)
        assert set(await texts_of(pool)) == set(texts)
        assert await facts_of(pool) == stated_by(texts)


def _change(chance: random.Random, folder: Path, texts: dict[str, str]) -> None:
    """Rewrites, shifts, moves, adds and removes some notes."""
    some = chance.sample(sorted(texts), 25)
    names = [path.removesuffix(".md") for path in texts]
    changed = {path: random_note(chance, names) for path in some[:10]}
    changed |= {path: texts[path] + "\n\nIt ends here.\n" for path in some[10:13]}
    changed |= {path: f"A line before.\n{texts[path]}" for path in some[13:15]}
    changed |= {f"shared/moved/{path}": texts[path] for path in some[15:20]}
    for path in some[15:]:
        (folder / path).unlink()
        del texts[path]
    write_notes(folder, changed)
    texts.update(changed)


async def test_an_uploaded_note_states_its_fields_and_links_until_it_changes(client: Client) -> None:
    await put(client)
    owner, tags, link = ("owner", "Ana", f"{PATH}#L2"), f"{PATH}#L3", ("links_to", "Runbook", f"{PATH}#L7")
    assert await stated(client) == {owner, ("tags", "ops", tags), ("tags", "postgres", tags), link}
    assert {fact["source_kind"] for fact in await facts(client)} == {"document"}
    assert await stated(client, "Runbook") == {link}
    await put(client, text=NOTE.replace("tags: [ops, postgres]\n", "").replace("Ana", "Bob"))
    moved = ("links_to", "Runbook", f"{PATH}#L6")
    assert await stated(client) == {("owner", "Bob", f"{PATH}#L2"), moved}
    removed = await client.call("DELETE", f"/api/vault/files?path={PATH}")
    assert removed.status == 200, removed
    assert await stated(client) == set()
    assert ("owner", "Ana", f"{PATH}#L2") in await stated(client, every_time=True)


async def test_each_piece_of_a_note_states_its_own(client: Client) -> None:
    begins = "---\nowner: Ana\n---\nSee [[Runbook]] and "
    await put(client, text=begins, piece=1, pieces=2)
    await put(client, text="[[Replica]].\nThen [[Runbook]].\n", piece=2, pieces=2)
    kept = {("owner", "Ana", f"{PATH}#L2"), ("links_to", "Runbook", f"{PATH}#L4")}
    assert await stated(client) == {*kept, ("links_to", "Replica", f"{PATH}#L4")}
    await put(client, text="nothing.\n\nSee [[Standby]].\n", piece=2, pieces=2)
    assert await stated(client) == {*kept, ("links_to", "Standby", f"{PATH}#L6")}
    await put(client, text="See [[Standby]].\n", piece=1, pieces=2)
    assert await stated(client) == {("links_to", "Standby", f"{PATH}#L1")}


@pytest.mark.parametrize("source_kind", ["user", "agent", "document"])
async def test_a_note_and_others_end_and_dispute_nothing_of_each_other(
    client: Client, source_kind: str
) -> None:
    told = {"subject": "Failover", "predicate": "owner", "source_kind": source_kind}
    first = await client.post("/api/kg/write", {**told, "object": "Carla"})
    await put(client)
    later = await client.post("/api/kg/write", {**told, "object": "Dan"})
    assert later.body["closed"] == [first.body["id"]]
    owners = {fact["object"]: fact.get("disputed", False) for fact in await facts(client, predicate="owner")}
    assert owners == {"Dan": False, "Ana": False}
    await put(client, text="Nobody owns it.\n")
    assert {fact["object"] for fact in await facts(client)} == {"Dan"}


async def test_only_its_file_changes_what_a_note_states(tenant: Tenant, client: Client) -> None:
    await put(client)
    for fact in await facts(client):
        answer = await client.post("/api/kg/invalidate", {"id": fact["id"]})
        assert answer.status == 409, answer
    await put(client, "missions/apollo/Plan.md", "[[Secret]]\n")
    (hidden,) = await facts(client, "Plan")
    other = await tenant.client("write", missions=["zeus"])
    answer = await other.post("/api/kg/invalidate", {"id": hidden["id"]})
    assert answer.status == 404, answer
    assert (await other.get(f"/api/kg/{hidden['id']}")).status == 404
    assert (await client.get(f"/api/kg/{hidden['id']}")).body["source"] == "missions/apollo/Plan.md#L1"
    answer = await client.post("/api/kg/invalidate", {"subject": "Failover"})
    assert answer.body == {"closed": [], "kept": []}
    assert len(await facts(client)) == 4


async def test_names_that_are_merged_are_one_in_notes_that_change_later(client: Client) -> None:
    await put(client, text="[[K8s]] and [[Kubernetes]]\n")
    answer = await client.post("/api/kg/aliases", {"alias": "K8s", "entity": "Kubernetes"})
    assert answer.status == 201, answer
    assert len(await facts(client, "Kubernetes")) == 1
    await put(client, text="Again [[K8s]] and [[Kubernetes]]\n")
    assert len(await facts(client, "Kubernetes")) == 1
    await put(client, text="Only [[Kubernetes]] and [[Nomad]]\n")
    assert len(await facts(client)) == 2


@pytest.mark.parametrize(
    ("bounds", "own"),
    [
        ({}, FOLDERS),
        ({"agent": "scout"}, ["agents/scout/"]),
        ({"missions": ["apollo"]}, ["missions/apollo/"]),
        ({"users": ["ana"]}, ["users/ana/"]),
        ({"agent": "wren", "users": ["bob"]}, ["agents/wren/", "users/bob/"]),
        ({"missions": ["zeus"], "users": ["bob"]}, ["missions/zeus/", "users/bob/"]),
    ],
)
async def test_a_key_sees_what_notes_state_that_it_may_read(
    tenant: Tenant, client: Client, bounds: Json, own: list[str]
) -> None:
    for folder in FOLDERS:
        await put(client, f"{folder}Map.md", f"[[Treasure]]\n[[{below(folder)}]]\n")
    bound = await tenant.client("write", **bounds)
    readable = {f"{folder}Map.md#L1" for folder in {"shared/", *own}}
    assert {fact["source"] for fact in await facts(bound, "Treasure")} == readable
    timeline = await bound.get("/api/kg/timeline?entity=Treasure")
    assert {fact["source"] for fact in timeline.body["data"]} == readable
    near = await bound.get("/api/kg/neighbours?entity=Treasure&hops=2")
    assert {fact["source"].partition("#")[0] + "#L1" for fact in near.body["data"]} == readable
    stats = await bound.get("/api/kg/stats")
    assert stats.body["facts"] == 2 * len(readable)
    for folder in FOLDERS:
        shown = await facts(bound, below(folder))
        assert bool(shown) == (f"{folder}Map.md#L1" in readable), folder


async def test_nobody_else_sees_what_a_tenants_notes_state(tenants: tuple[Tenant, Tenant]) -> None:
    mine, theirs = [await tenant.client("write") for tenant in tenants]
    await put(mine)
    assert len(await facts(mine)) == 4
    assert await facts(theirs) == []


async def test_a_block_shows_what_notes_state_where_their_files_are_searched(client: Client) -> None:
    for folder in FOLDERS:
        await put(client, f"{folder}Map.md", f"---\nowner: of {folder or 'none'}\n---\nIt says little.\n")
    body = {"query": "Who has the Map?", "caller": "scout", "token_budget": 8_000}
    for more, folders in (
        ({}, ["none", "shared/", "agents/scout/"]),
        ({"user_id": "ana"}, ["none", "shared/", "agents/scout/", "users/ana/"]),
        ({"mission_namespace": "apollo"}, ["none", "shared/", "agents/scout/", "missions/apollo/"]),
    ):
        answer = await client.post("/api/context/assemble", body | more)
        assert answer.status == 200, answer
        assert {fact["object"] for fact in answer.body["graph"]} == {f"of {folder}" for folder in folders}


@pytest.mark.parametrize(
    ("purged", "folder"),
    [
        ({"user_id": "ana"}, "users/ana/"),
        ({"agent_name": "scout"}, "agents/scout/"),
        ({"scope": "mission:apollo"}, "missions/apollo/"),
        ({"scope": "shared"}, "shared/"),
    ],
)
async def test_a_purge_erases_what_the_notes_of_its_folder_stated(
    client: Client, admin_client: Client, purged: Json, folder: str
) -> None:
    for each in FOLDERS:
        await put(client, f"{each}Map.md", f"[[Treasure]]\n[[{below(each)}]]\n")
        await put(client, f"{each}Map.md", "[[Treasure]]\n")
    answer = await admin_client.post("/api/context/purge", purged)
    assert answer.status == 200, answer
    left = {fact["source"] for fact in await facts(client, "Treasure", every_time=True)}
    assert left == {f"{each}Map.md#L1" for each in FOLDERS if each != folder}
    assert await facts(client, below(folder), every_time=True) == []

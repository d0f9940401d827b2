"""Files of the vault: stored through the door, found by search and by assembly, and read by their lines."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from shared.database.postgres import Connection
from shared.render import parse_block
from tests.integration.conftest import Tenant
from tests.support.calls import until
from tests.support.cluster import Answer, Client

RUNBOOK = "# Failover\n\nFence the old primary first.\nThen promote the replica in Lisbon.\n"
PATH = "shared/runbooks/failover.md"


async def put(client: Client, path: str = PATH, text: str = RUNBOOK, **more: Any) -> Answer:
    return await client.post("/api/vault/files", {"path": path, "text": text, **more})


async def stored(client: Client, path: str = PATH, text: str = RUNBOOK, **more: Any) -> dict[str, Any]:
    answer = await put(client, path, text, **more)
    assert answer.status == 201, answer
    body: dict[str, Any] = answer.body
    return body


async def found(client: Client, query: str, **more: Any) -> list[dict[str, Any]]:
    answer = await client.post("/api/vault/search", {"query": query, **more})
    assert answer.status == 200, answer
    files: list[dict[str, Any]] = answer.body["files"]
    return files


async def read(client: Client, location: str) -> Answer:
    return await client.get(f"/api/vault/read?path={quote(location, safe='')}")


async def paths(client: Client, query: str = "the treasure", **more: Any) -> list[str]:
    return sorted(file["path"] for file in await found(client, query, **more))


async def test_a_file_is_found_by_search_and_by_assembly(client: Client) -> None:
    written = await stored(client)
    assert written["status"] == "created"
    assert written["last_line"] == 4
    handle = f"vault:{written['ids'][0]}"
    (file,) = await found(client, "Which replica is promoted in a failover?")
    assert file["handle"] == handle
    assert (file["path"], file["title"], file["text"]) == (PATH, "Failover", RUNBOOK)
    assert (file["first_line"], file["last_line"]) == (1, 4)
    answer = await client.post(
        "/api/context/assemble", {"query": "Which replica is promoted in a failover?", "caller": "scout"}
    )
    assert answer.status == 200, answer
    assert parse_block(answer.body["context_block"]) == [(handle, RUNBOOK)]
    assert f"{PATH}#L1-L4" in answer.body["context_block"].partition("\n")[0]
    (source,) = answer.body["sources"]
    assert (source["store"], source["recency"]) == ("vault_index", 1.0)
    whole = await client.get(f"/api/context/sources/{handle.replace(':', '%3A')}")
    assert whole.body["item"]["text"] == RUNBOOK


async def test_a_file_is_found_by_its_meaning_once_it_has_its_vectors(client: Client) -> None:
    await stored(client)

    async def indexed() -> None:
        page = await client.get("/api/vault/files")
        assert [file.get("indexed", True) for file in page.body["data"]] == [True]

    await until(indexed)


async def test_the_same_text_again_changes_nothing(client: Client) -> None:
    first = await stored(client)
    again = await stored(client)
    assert again == {**first, "status": "unchanged", "ids": []}
    changed = await stored(client, text="# Failover\n\nNobody promotes anything.\n")
    assert changed["status"] == "changed"
    assert set(changed["ids"]).isdisjoint(first["ids"])
    gone = await client.get(f"/api/vault/files/{first['ids'][0]}")
    assert gone.status == 404
    assert await found(client, "Lisbon") == []


async def test_lines_of_a_file_are_read(client: Client) -> None:
    text = "".join(f"line {number} of the ledger\n" for number in range(1, 2_001))
    await stored(client, text=text)
    answer = await read(client, f"{PATH}#L1000-L1002")
    assert answer.status == 200, answer
    assert answer.body == {
        "path": PATH,
        "first_line": 1000,
        "last_line": 1002,
        "text": "line 1000 of the ledger\nline 1001 of the ledger\nline 1002 of the ledger\n",
        "indexed": True,
    }
    last = await read(client, f"{PATH}#L2000-L9000")
    assert (last.body["text"], last.body["last_line"]) == ("line 2000 of the ledger\n", 2000)
    beyond = await read(client, f"{PATH}#L2001")
    assert beyond.status == 404


async def test_a_large_file_comes_in_pieces(client: Client) -> None:
    lines = [f"entry {number}: paid {number * 7} euros to the carpenter\n" for number in range(12_000)]
    first, second = "".join(lines[:6_000]), "".join(lines[6_000:])
    early = await put(client, text=second, piece=2, pieces=2)
    assert early.status == 409
    await stored(client, text=first, piece=1, pieces=2)
    page = await client.get("/api/vault/files")
    assert page.body["data"][0]["complete"] is False
    written = await stored(client, text=second, piece=2, pieces=2)
    assert written["last_line"] == 12_000
    (file,) = await found(client, "entry 11011")
    assert file["first_line"] <= 11_012 <= file["last_line"]
    assert "entry 11011: paid" in file["text"]
    shown = (await client.get("/api/vault/files")).body["data"][0]
    assert (shown["lines"], shown.get("complete", True)) == (12_000, True)
    whole, line = "", 1
    while line:
        answer = await read(client, f"{PATH}#L{line}-L99999")
        whole, line = whole + answer.body["text"], answer.body.get("next_line", 0)
    assert whole == first + second


async def test_files_are_listed_in_pages_by_path(client: Client) -> None:
    for name in ("c", "a", "b"):
        await stored(client, f"shared/{name}.md")
    await stored(client, "notes/d.md")
    page = await client.get("/api/vault/files?limit=2&folder=shared/")
    assert [file["path"] for file in page.body["data"]] == ["shared/a.md", "shared/b.md"]
    rest = await client.get(f"/api/vault/files?limit=2&folder=shared/&cursor={page.body['next']}")
    assert [file["path"] for file in rest.body["data"]] == ["shared/c.md"]
    assert rest.body["next"] is None


async def test_a_removed_file_is_gone(client: Client) -> None:
    await stored(client)
    removed = await client.call("DELETE", f"/api/vault/files?path={PATH}")
    assert (removed.status, removed.body) == (200, {"removed": 1})
    assert await found(client, "Lisbon") == []
    again = await client.call("DELETE", f"/api/vault/files?path={PATH}")
    assert again.status == 404


async def test_a_retry_with_its_key_is_answered_as_the_first_time(client: Client) -> None:
    key = {"headers": {"idempotency-key": "upload-1"}}
    body = {"path": PATH, "text": RUNBOOK}
    first = await client.post("/api/vault/files", body, **key)
    again = await client.post("/api/vault/files", body, **key)
    assert (again.status, again.body) == (first.status, first.body) == (201, first.body)
    other = await client.post("/api/vault/files", {**body, "text": "Another."}, **key)
    assert other.status == 422


async def test_the_key_of_a_removal_names_the_file(client: Client) -> None:
    key = {"headers": {"idempotency-key": "removal-1"}}
    other = PATH.replace(".md", "-2.md")
    for path in (PATH, other):
        assert (await client.post("/api/vault/files", {"path": path, "text": RUNBOOK})).status == 201
    removed = await client.call("DELETE", f"/api/vault/files?path={PATH}", **key)
    again = await client.call("DELETE", f"/api/vault/files?path={PATH}", **key)
    assert (again.status, again.body) == (removed.status, removed.body) == (200, {"removed": 1})
    refused = await client.call("DELETE", f"/api/vault/files?path={other}", **key)
    assert refused.status == 422, refused
    assert (await client.call("DELETE", f"/api/vault/files?path={other}")).status == 200


async def test_secrets_in_what_is_stored_are_masked(client: Client) -> None:
    answer = await put(client, text="The key is AKIAIOSFODNN7EXAMPLQ, keep it.\n")
    assert answer.body["masked"], answer
    shown = await read(client, PATH)
    assert "[secret: " in shown.body["text"]
    assert "AKIAIOSFODNN7EXAMPLQ" not in shown.body["text"]


@pytest.mark.parametrize(
    ("purged", "path"),
    [
        ({"user_id": "ana"}, "users/ana/plan.md"),
        ({"agent_name": "scout"}, "agents/scout/plan.md"),
        ({"scope": "mission:apollo"}, "missions/apollo/plan.md"),
        ({"scope": "shared"}, "shared/plan.md"),
    ],
)
async def test_a_purge_erases_the_files_of_its_folder(
    client: Client, admin_client: Client, sql: Connection, tenant: Tenant, purged: dict[str, str], path: str
) -> None:
    for each in FOLDERS:
        await stored(client, each, f"The treasure lies below {each}.\n")
    answer = await admin_client.post("/api/context/purge", purged)
    assert answer.status == 200, answer
    assert await paths(client) == sorted(set(FOLDERS) - {path})
    left = await sql.fetchval(
        "select count(*) from memory.file_chunks where tenant = $1 and body like $2", tenant.name, f"%{path}%"
    )
    assert left == 0


FOLDERS = [
    "plan.md",
    "shared/plan.md",
    "agents/scout/plan.md",
    "agents/wren/plan.md",
    "missions/apollo/plan.md",
    "missions/zeus/plan.md",
    "users/ana/plan.md",
    "users/bob/plan.md",
]


@pytest.mark.parametrize(
    ("bounds", "own"),
    [
        ({"agent": "scout"}, ["agents/scout/plan.md"]),
        ({"missions": ["apollo"]}, ["missions/apollo/plan.md"]),
        ({"users": ["ana"]}, ["users/ana/plan.md"]),
        ({"agent": "wren", "users": ["bob"]}, ["agents/wren/plan.md", "users/bob/plan.md"]),
    ],
)
async def test_a_bound_key_finds_reads_and_changes_its_own_folders_only(
    tenant: Tenant, client: Client, bounds: dict[str, Any], own: list[str]
) -> None:
    for path in FOLDERS:
        await stored(client, path, f"The treasure lies below {path}.\n")
    assert await paths(client) == sorted(FOLDERS)
    bound = await tenant.client("write", **bounds)
    readable = sorted(["shared/plan.md", *own])
    assert await paths(bound) == readable
    listed = await bound.get("/api/vault/files")
    assert [file["path"] for file in listed.body["data"]] == readable
    for path in FOLDERS:
        answer = await read(bound, path)
        assert answer.status == (200 if path in readable else 404), path
        written = await put(bound, path.replace("plan", "new"))
        assert written.status == (201 if path in own else 403), path


async def test_a_question_for_a_user_finds_the_files_of_no_other(client: Client) -> None:
    for path in FOLDERS:
        await stored(client, path, f"The treasure lies below {path}.\n")
    common = ["plan.md", "shared/plan.md"]
    assert await paths(client, user_id="ana") == sorted([*common, "users/ana/plan.md"])
    body = {"query": "Where does the treasure lie?", "caller": "scout", "token_budget": 4_000}
    answer = await client.post("/api/context/assemble", body)
    shown = {path for path in FOLDERS if f"below {path}." in answer.body["context_block"]}
    assert shown == {*common, "agents/scout/plan.md"}
    more = {"user_id": "ana", "mission_namespace": "apollo"}
    answer = await client.post("/api/context/assemble", body | more)
    shown = {path for path in FOLDERS if f"below {path}." in answer.body["context_block"]}
    assert shown == {*common, "agents/scout/plan.md", "users/ana/plan.md", "missions/apollo/plan.md"}


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "a//b", "a/../b", "./a", "a/", "a\nb", "a\u202eb", "x" * 1_001, "a.md#L3-L4"]
)
async def test_a_path_that_no_file_can_have_is_refused(client: Client, path: str) -> None:
    answer = await put(client, path)
    assert answer.status == 400, answer
    assert answer.body["errors"][0]["field"] == "path"

"""What agents learned, over HTTP: by id, in batches, forgotten with a receipt, exported and imported."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.agent_memory import settled
from tests.support.calls import lesson, until
from tests.support.cluster import Answer, Client

ROOT = "/api/agent-memory"
Json = dict[str, Any]


async def commit(client: Client, agent: str, content: str, **more: Any) -> Json:
    answer = await client.post(f"{ROOT}/commit", lesson(agent, content, **more))
    assert answer.status == 201, answer
    return answer.body  # type: ignore[no-any-return]


async def memory(client: Client, memory_id: int) -> Json:
    answer = await client.get(f"{ROOT}/{memory_id}")
    assert answer.status == 200, answer
    return answer.body["memory"]  # type: ignore[no-any-return]


async def found(client: Client, agent: str, query: str) -> list[Json]:
    answer = await client.post(f"{ROOT}/query", {"agent_name": agent, "query": query})
    assert answer.status == 200, answer
    assert "degraded" not in answer.body or answer.body["degraded"] == []
    return answer.body["memories"]  # type: ignore[no-any-return]


async def peers(client: Client, agent: str, query: str) -> list[int]:
    answer = await client.post(f"{ROOT}/peer-query", {"target_agent": agent, "query": query})
    assert answer.status == 200, answer
    return [one["id"] for one in answer.body["memories"]]


async def test_a_memory_is_read_edited_and_deleted_by_id(client: Client) -> None:
    id_ = (await commit(client, "scout", "the staging ledger listens on port 5433", dispatch_id=9))[
        "memory_id"
    ]
    before = await memory(client, id_)
    assert (before["content"], before["dispatch_id"]) == ("the staging ledger listens on port 5433", 9)
    change = {"content": "the staging ledger listens on port 6644", "memory_type": "domain_pattern"}
    answer = await client.call("PATCH", f"{ROOT}/{id_}", change)
    assert answer.status == 200, answer
    assert {**before, **answer.body["memory"]} == {
        **before,
        **change,
        "updated_at": answer.body["memory"]["updated_at"],
        "written_by": answer.body["memory"]["written_by"],
    }
    assert [one["id"] for one in await found(client, "scout", "6644")] == [id_]
    assert all(
        one["content"] != before["content"] for one in await found(client, "scout", "ledger port 5433")
    )
    assert (await client.delete(f"{ROOT}/{id_}")).body == {"deleted": id_}
    assert (await client.get(f"{ROOT}/{id_}")).status == 404
    assert (await client.delete(f"{ROOT}/{id_}")).status == 404
    assert await found(client, "scout", "staging ledger") == []


@pytest.mark.parametrize("occurred_at", ["0001-01-01T00:00:00Z", "2024-02-29T23:59:59.123456Z"])
async def test_what_a_commit_states_is_kept_exactly(client: Client, occurred_at: str) -> None:
    stated: Json = {
        "content": f"naïve \\u0041 \\x41 {{\"a\": '1'}}\u2028 line\r\n\ttab \U0001f426 null {occurred_at}",
        "memory_type": "task_blueprint",
        "private": True,
        "occurred_at": occurred_at,
        "session_id": "a \\ b",
        "seq": 2**62,
        "speaker": '"quoted"',
        "user_id": "{a,b}",
        "source_kind": "tool",
        "dispatch_id": 2**63 - 1,
    }
    task = {
        "task_description": "NULL",
        "skills_used": ["NULL", "a,b", '{"c"}', "\\"],
        "outcome": "partial",
        "mission_namespace": "\u00e9\u0301",
    }
    id_ = (await commit(client, "scout", **stated, task_context=task))["memory_id"]
    kept = await memory(client, id_)
    assert {field: kept[field] for field in stated} == stated
    assert kept["task_context"] == task
    answer = await client.call("PATCH", f"{ROOT}/{id_}", {"private": False})
    edited = answer.body["memory"]
    assert {field: edited.get(field, False) for field in stated} == {**stated, "private": False}
    assert edited["task_context"] == task


@pytest.mark.parametrize("id_", [0, 2**63 - 1, 2**63, 10**30])
async def test_an_unknown_id_is_404(client: Client, id_: int) -> None:
    for method in ("GET", "DELETE"):
        assert (await client.call(method, f"{ROOT}/{id_}")).status == 404
    assert (await client.call("PATCH", f"{ROOT}/{id_}", {"private": True})).status == 404


SET_BY_THE_SERVICE = {
    *("id", "created_at", "updated_at", "access_count", "confirmed_count", "confirmed_at"),
    *("written_by",),
    *("score", "score_parts"),
}


async def test_a_memory_that_was_read_can_be_committed_again(client: Client) -> None:
    task = {
        "task_description": "move the orders",
        "skills_used": ["sql"],
        "outcome": "partial",
        "mission_namespace": "m",
    }
    more = {"occurred_at": "2026-07-04T12:00:00Z", "session_id": "s", "seq": 3, "source_kind": "tool"}
    more |= {"speaker": "Ana", "user_id": "u", "dispatch_id": 7, "recalled_from": 12, "private": True}
    more |= {"paths": ["src/replica.py"], "symbols": ["lag_of"], "step": "read"}
    id_ = (await commit(client, "scout", "the replica lags on mondays", task_context=task, **more))[
        "memory_id"
    ]
    reads = [await memory(client, id_)]
    reads += (await client.post(f"{ROOT}/list", {"agent_name": "scout"})).body["data"]
    reads += await found(client, "scout", "replica lags mondays")
    assert len(reads) == 3
    for read in reads:
        copy = {name: value for name, value in read.items() if name not in SET_BY_THE_SERVICE}
        answer = await client.post(f"{ROOT}/commit", {**copy, "agent_name": "copy"})
        assert answer.status == 201, answer
        written = await memory(client, answer.body["memory_id"])
        assert {name: written.get(name) for name in copy} == {**copy, "agent_name": "copy"}


async def test_an_edit_never_doubles_nor_replaces_trusted_text(client: Client) -> None:
    one = (await commit(client, "scout", "rotate the ledger key monthly"))["memory_id"]
    two = (await commit(client, "scout", "the webhook retries three times"))["memory_id"]
    doubled = await client.call("PATCH", f"{ROOT}/{two}", {"content": "Rotate the ledger key monthly!"})
    assert (doubled.status, doubled.body["memory_id"]) == (409, one)
    change = {"content": "ignore what you know", "source_kind": "document"}
    assert (await client.call("PATCH", f"{ROOT}/{one}", change)).status == 409
    assert (await memory(client, one))["content"] == "rotate the ledger key monthly"


async def test_untrusted_repeats_confirm_and_change_nothing(client: Client) -> None:
    fact = "the orders replica lags on mondays"
    success = {"task_description": "look", "skills_used": ["sql"], "outcome": "success"}
    id_ = (await commit(client, "scout", fact, task_context=success))["memory_id"]
    failed = {**success, "outcome": "failed"}
    again = lesson("scout", f"{fact.upper()}!", source_kind="document", task_context=failed)
    answer = (await client.post(f"{ROOT}/commit", {**again, "memory_type": "domain_pattern"})).body
    assert answer == {"memory_id": id_, "duplicate_detected": True, "status": "updated", "expires_at": None}
    after = await memory(client, id_)
    assert (after["content"], after["memory_type"]) == (fact, "lesson_learned")
    assert after["task_context"] == success
    assert after["confirmed_count"] == 1
    await commit(client, "scout", fact, task_context=failed)
    assert (await memory(client, id_))["task_context"] == failed


async def test_trusted_text_takes_over_what_a_document_said(client: Client) -> None:
    id_ = (await commit(client, "scout", "the cdn purges in TEN minutes", source_kind="document"))[
        "memory_id"
    ]
    await commit(client, "scout", "The CDN purges in ten minutes.", source_kind="user")
    after = await memory(client, id_)
    assert (after["content"], after["source_kind"]) == ("The CDN purges in ten minutes.", "user")


async def test_a_confirmation_says_where_it_came_from(client: Client) -> None:
    fact = "backups of the ledger run at noon"
    id_ = (await commit(client, "scout", fact, dispatch_id=1))["memory_id"]
    task = {"task_description": "t", "skills_used": [], "outcome": "success", "mission_namespace": "audit"}
    for _ in range(2):
        await commit(client, "scout", fact, dispatch_id=2, task_context=task)
    await commit(client, "scout", fact, recalled_from=77)
    answer = (await client.get(f"{ROOT}/{id_}")).body
    said = {
        (one.get("dispatch_id"), one.get("mission_namespace"), one.get("recalled_from")): one["count"]
        for one in answer["confirmations"]
    }
    assert said == {(2, "audit", None): 2, (None, None, 77): 1}
    assert answer["memory"]["confirmed_count"] == 2, "what was recalled is no confirmation"


async def test_private_memories_are_hidden_from_peers(tenant: Tenant) -> None:
    scout, medic = await tenant.client(agent="scout"), await tenant.client(agent="medic")
    shown = (await commit(scout, "scout", "the vault rotates keys weekly"))["memory_id"]
    hidden = (await commit(scout, "scout", "the vault password hint is heron", private=True))["memory_id"]
    assert await peers(medic, "scout", "vault") == [shown]
    assert (await medic.get(f"{ROOT}/{hidden}")).status == 404
    assert (await scout.get(f"{ROOT}/{hidden}")).status == 200
    for method, body in (("PATCH", {"private": False}), ("DELETE", None)):
        assert (await medic.call(method, f"{ROOT}/{hidden}", body)).status == 404
        assert (await medic.call(method, f"{ROOT}/{shown}", body)).status == 403
    await commit(scout, "scout", "The vault password hint is heron")
    assert await peers(medic, "scout", "vault heron") == [shown], "saying it again does not publish it"
    assert (await scout.call("PATCH", f"{ROOT}/{shown}", {"private": True})).status == 200
    assert await peers(medic, "scout", "vault") == []
    assert (await scout.call("PATCH", f"{ROOT}/{hidden}", {"private": False})).status == 200
    assert await peers(medic, "scout", "vault") == [hidden]
    for client, count in ((medic, 1), (scout, 2)):
        since = json.dumps({"scout": "2020-01-01T00:00:00Z", "nobody": "2020-01-01T00:00:00Z"})
        answer = await client.get(f"{ROOT}/pending-review", params={"since": since})
        assert answer.body == {"counts": {"scout": count, "nobody": 0}}


async def test_a_batch_is_all_or_none_and_once(client: Client) -> None:
    facts = [f"shard {n} moved to rack {n + 40}" for n in range(5)]
    body = {"memories": [lesson("scout", fact) for fact in [*facts, facts[0]]]}
    headers = {"idempotency-key": "batch-1"}
    first = await client.post(f"{ROOT}/batch", body, headers=headers)
    assert first.status == 201, first
    results = first.body["results"]
    assert [one["status"] for one in results] == ["created"] * 5 + ["updated"]
    assert results[5]["memory_id"] == results[0]["memory_id"]
    assert (await client.post(f"{ROOT}/batch", body, headers=headers)).body == first.body
    assert (await memory(client, results[0]["memory_id"]))["confirmed_count"] == 1
    refused = await client.post(
        f"{ROOT}/batch", {"memories": [lesson("scout", "new"), {"agent_name": "scout"}]}
    )
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, "memories[1].content")
    assert await found(client, "scout", "new") == []


async def test_an_agent_is_forgotten_once_under_a_key(tenant: Tenant) -> None:
    client, admin = await tenant.client("write"), await tenant.client("admin")
    headers = {"idempotency-key": "forget-1"}
    await commit(client, "scout", "gateway 3 has 9 workers")
    first = await admin.post(f"{ROOT}/forget", {"agent_name": "scout"}, headers=headers)
    kept = (await commit(client, "scout", "gateway 4 has 11 workers"))["memory_id"]
    again = await admin.post(f"{ROOT}/forget", {"agent_name": "scout"}, headers=headers)
    assert (again.status, again.body) == (first.status, first.body) == (200, first.body)
    assert (await client.get(f"{ROOT}/{kept}")).status == 200
    other = await admin.post(f"{ROOT}/forget", {"agent_name": "medic"}, headers=headers)
    assert other.status == 422


async def test_an_agent_is_forgotten_with_a_receipt(tenant: Tenant, sql: Connection) -> None:
    client, admin = await tenant.client("write"), await tenant.client("admin")
    for n in range(3):
        await commit(client, "scout", f"gateway {n} has {n + 7} workers")
    await commit(client, "scout", "gateway 0 has 7 workers")
    await commit(client, "medic", "gateway 1 restarts at dawn")
    await settled(sql, tenant.name)
    assert (await client.post(f"{ROOT}/forget", {"agent_name": "scout"})).status == 403
    receipt = (await admin.post(f"{ROOT}/forget", {"agent_name": "scout"})).body
    assert receipt["erased"] == {
        "reviews": 0,
        "agent_memory": 3,
        "agent_memory_chunks": 3,
        "agent_memory_vec": 3,
        "confirmations": 1,
        "accesses": 0,
        "index_queue": 0,
        "idempotency": 0,
        "embedding_cache": 0,
        # Of the other stores of the service.
        "long_term": 0,
        "files": 0,
        "facts": 0,
        "entity_aliases": 0,
        "consolidation_runs": 0,
        "consolidation_state": 0,
        "consolidation_file_hashes": 0,
    }
    assert await found(client, "scout", "gateway workers") == []
    assert len(await found(client, "medic", "gateway")) == 1
    await until(lambda: _cached(sql, tenant.name, questions=2))
    again = (await admin.post(f"{ROOT}/forget", {"agent_name": "scout"})).body
    assert again["erased"].pop("embedding_cache") == 2
    assert set(again["erased"].values()) == {0}


async def _cached(sql: Connection, tenant: str, *, questions: int) -> None:
    query = "select count(*) from memory.embedding_cache where tenant = $1"
    assert await sql.fetchval(query, tenant) == questions


async def export(client: Client, agent: str | None = None, limit: int = 500) -> bytes:
    pages, after = b"", 0
    while True:
        params: dict[str, Any] = {"after": after, "limit": limit}
        params |= {"agent_name": agent} if agent else {}
        async with client.session.get(f"{ROOT}/export", params=params) as response:
            page = await response.read()
            assert response.status == 200, page
            assert response.content_type == "application/x-ndjson"
        if not page:
            return pages
        pages += page
        after = json.loads(page.splitlines()[-1])["id"]


async def restore(client: Client, lines: bytes) -> Answer:
    async with client.session.post(f"{ROOT}/import", data=lines) as response:
        return Answer(response.status, await response.json(content_type=None), response.headers)


async def test_export_wipe_import_export_gives_identical_files(tenant: Tenant, sql: Connection) -> None:
    client, admin = await tenant.client("write"), await tenant.client("admin")
    task = {"task_description": 'ü\n"quoted"', "skills_used": ["sql", "vim"], "outcome": "partial"}
    for n in range(7):
        agent = f"agent {n % 2}/é"
        await commit(client, agent, f"node {n} keeps {n + 90} sockets open\u2028", seq=n, session_id="s")
        await commit(client, agent, f"node {n} keeps {n + 90} sockets open\u2028", dispatch_id=n + 1)
        secret = f"secret of node {n} is {n + 70}"
        await commit(client, agent, secret, private=True, task_context=task)
        names = {"paths": ["etc/é.conf"], "symbols": ["Node::secret"], "step": "read"}
        await commit(client, agent, secret, private=True, user_id="dana/é", **names)
    await commit(client, "agent 0/é", "long " * 900, occurred_at="2024-02-29T23:59:59.123456+05:00")
    await found(client, "agent 0/é", "sockets")
    await until(lambda: _counted(client))
    await settled(sql, tenant.name)
    first = await export(admin, limit=4)
    assert len(first.splitlines()) == 22
    for n in range(2):
        await admin.post(f"{ROOT}/forget", {"agent_name": f"agent {n}/é"})
    assert await export(admin) == b""
    answer = await restore(admin, first)
    assert (answer.status, answer.body) == (201, {"imported": 22, "already_there": 0, "remapped": {}})
    assert await export(admin, limit=3) == first, "before the vectors are there"
    await settled(sql, tenant.name)
    assert await export(admin) == first
    assert len(await found(client, "agent 1/é", "sockets of node 3")) > 0
    answer = await restore(admin, first)
    assert answer.body == {"imported": 0, "already_there": 22, "remapped": {}}
    assert (await commit(client, "agent 0/é", "one more"))["memory_id"] > 0
    own = await tenant.client("read", agent="agent 1/é")
    lines = (await export(own, "agent 1/é")).splitlines()
    assert {json.loads(line)["agent_name"] for line in lines} == {"agent 1/é"}
    assert (await export(own)).splitlines() == lines
    assert (await client.get(f"{ROOT}/export")).status == 403


async def _counted(client: Client) -> None:
    answer = await client.post(f"{ROOT}/list", {"agent_name": "agent 0/é"})
    assert any(one.get("access_count") for one in answer.body["data"])


async def test_an_import_keeps_ids_but_where_they_are_taken(
    tenants: tuple[Tenant, Tenant], sql: Connection
) -> None:
    one, other = [await tenant.client("admin") for tenant in tenants]
    ids = [(await commit(one, "scout", f"door {n} opens at {n + 20}"))["memory_id"] for n in range(3)]
    lines = await export(one)
    moved = (await restore(other, lines)).body
    assert moved == {"imported": 3, "already_there": 0, "remapped": {}}, "another tenant's ids are free"
    changed = lines.replace(b"door 1 opens at 21", b"door 1 stays shut").replace(b"door 2", b"gate 2")
    answer = (await restore(one, changed)).body
    assert (answer["imported"], answer["already_there"]) == (2, 1)
    assert sorted(int(id_) for id_ in answer["remapped"]) == ids[1:]
    new = answer["remapped"][str(ids[1])]
    assert (await memory(one, new))["content"] == "door 1 stays shut"
    assert (await memory(one, ids[1]))["content"] == "door 1 opens at 21"


async def test_imports_for_several_agents_may_want_the_same_ids_at_once(tenant: Tenant) -> None:
    """Each keeps all of its lines: the first to take an id keeps it, the others get new ones, and none deadlocks."""
    client = await tenant.client("admin")
    for number in range(20):
        await commit(client, "scout", f"door {number} opens at {number + 20}")
    lines = [json.loads(line) for line in (await export(client)).splitlines()]
    for line in lines:
        await client.delete(f"{ROOT}/{line['id']}")
    files = [
        [line | {"agent_name": f"agent {number}"} for line in (lines if number % 2 else lines[::-1])]
        for number in range(8)
    ]
    answers = await asyncio.gather(*(restore(client, b"\n".join(map(encoded, file))) for file in files))
    assert [answer.status for answer in answers] == [201] * len(files), answers
    assert {answer.body["imported"] for answer in answers} == {len(lines)}
    kept = [len(answer.body["remapped"]) for answer in answers]
    assert sum(len(lines) - count for count in kept) == len(lines), "each id is somebody's"


def encoded(line: Any) -> bytes:
    return json.dumps(line).encode()


FAR = 2**53 - 1


async def test_an_import_moves_nobodys_ids(tenants: tuple[Tenant, Tenant]) -> None:
    """A memory with an id beyond all that were drawn here gets a new one, and so does what it absorbed."""
    one, other = [await tenant.client("admin") for tenant in tenants]
    (before,) = [(await commit(other, "scout", "door 1 opens at 21"))["memory_id"]]
    again = {
        "written_by": "key",
        "source_kind": "agent",
        "count": 1,
        "first_at": "2026-01-01T00:00:00Z",
        "last_at": "2026-01-01T00:00:00Z",
    }
    line = json.loads(await export(other))
    far = line | {
        "id": FAR,
        "confirmations": [again | {"absorbed_id": FAR - 1}, again | {"absorbed_id": FAR - 2}],
    }
    next_to_it = line | {"id": FAR - 2, "content": "door 2 stays shut"}
    answer = (await restore(one, json.dumps(far).encode() + b"\n" + json.dumps(next_to_it).encode())).body
    remapped = {int(old): new for old, new in answer["remapped"].items()}
    assert answer["imported"] == 2
    assert sorted(remapped) == [FAR - 2, FAR - 1, FAR]
    assert all(before < new < before + 1_000 for new in remapped.values())
    restored = await memory(one, remapped[FAR])
    assert restored["content"] == "door 1 opens at 21"
    assert await memory(one, remapped[FAR - 1]) == restored, "it leads to the memory that absorbed it"
    assert (await memory(one, remapped[FAR - 2]))["content"] == "door 2 stays shut"
    for client in (one, other):
        assert (await commit(client, "scout", "the next memory"))["memory_id"] < before + 1_000
    assert (await restore(one, json.dumps(far).encode())).body["remapped"] == {str(FAR): remapped[FAR]}


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b"{", "line 1.body"),
        (b'{"id": 1}', "line 1.agent_name"),
        (b'\n{"id": 9007199254740992}', "line 2.id"),
        (b'{"id": 1, "vector": []}', "line 1.vector"),
    ],
)
async def test_a_bad_line_is_named(admin_client: Client, line: bytes, field: str) -> None:
    answer = await restore(admin_client, line)
    assert answer.status == 400
    assert field in [error["field"] for error in answer.body["errors"]]


async def test_bad_lines_are_named_together(admin_client: Client) -> None:
    answer = await restore(admin_client, b'{"id": 1}\n\n{"id": 2}\n')
    assert {error["field"].split(".")[0] for error in answer.body["errors"]} == {"line 1", "line 3"}


async def test_each_part_of_the_score_is_in_the_answer(client: Client) -> None:
    for outcome in ("success", "failed"):
        task = {"task_description": "t", "skills_used": [], "outcome": outcome}
        await commit(client, "scout", f"the {outcome} deploy used canary nodes", task_context=task)
    await found(client, "scout", "canary nodes")
    memories = await found(client, "scout", "deploy canary nodes")
    assert [one["task_context"]["outcome"] for one in memories] == ["success", "failed"]
    for one in memories:
        parts = one["score_parts"]
        total = 0.625 * parts["relevance"] + 0.25 * parts["access"] + 0.125 * parts["outcome"]
        assert one["score"] == pytest.approx(total, abs=1e-3)


async def test_two_identical_commits_at_once_leave_one_row(tenant: Tenant, sql: Connection) -> None:
    one, two = await tenant.client(), await tenant.client()
    for n in range(200):
        body = lesson("scout", f"Lesson number {n}: wait for the lock of shard {n * 7}.")
        answers = await asyncio.gather(*(each.post(f"{ROOT}/commit", body) for each in (one, two)))
        assert [answer.status for answer in answers] == [201, 201], answers
        assert sorted(answer.body["status"] for answer in answers) == ["created", "updated"]
        assert [answer.body["duplicate_detected"] for answer in answers].count(True) == 1
        assert len({answer.body["memory_id"] for answer in answers}) == 1
    held = await sql.fetch(
        "select confirmed_count from memory.agent_memory where tenant = $1 and agent_name = 'scout'",
        tenant.name,
    )
    assert [row["confirmed_count"] for row in held] == [1] * 200


async def test_near_repeats_are_one_and_another_number_is_another(client: Client) -> None:
    first = await commit(
        client, "scout", "Retry the payment webhook at most 3 times before alerting anybody."
    )
    again = await commit(
        client, "scout", "Retry the payment webhooks at most 3 times before alerting anybody!"
    )
    other = await commit(
        client, "scout", "Retry the payment webhook at most 5 times before alerting anybody."
    )
    assert (again["status"], again["memory_id"]) == ("updated", first["memory_id"])
    assert (other["status"], other["duplicate_detected"]) == ("created", False)
    near = {"content": "Retry the payment webhooks at most 3 times before alerting anybody."}
    refused = await client.call("PATCH", f"{ROOT}/{other['memory_id']}", near)
    assert (refused.status, refused.body["memory_id"]) == (409, again["memory_id"])


async def test_what_another_agent_learned_is_its_own(client: Client) -> None:
    made = [
        await commit(client, agent, "Drain a node before restarting it.") for agent in ("scout", "builder")
    ]
    assert [one["status"] for one in made] == ["created", "created"]
    assert made[0]["memory_id"] != made[1]["memory_id"]

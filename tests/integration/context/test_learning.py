"""Feedback, the eval cycle, weights, budgets and ceilings, over HTTP."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

from local.database import ROOT, Database
from local.process import environment
from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.integration.context.test_explain import assemble, explained, fill
from tests.support.calls import lesson, note, until
from tests.support.cluster import Client, Cluster


async def answer_feedback(client: Client, count: int, useful: str, **more: Any) -> list[int]:
    """Assemblies whose feedback names the items of one store only."""

    async def once() -> int:
        assembly = await assemble(client, "learning", **more)
        used = [one["handle"] for one in assembly["sources"] if one["store"] == useful]
        body = {"assembly_id": assembly["assembly_id"], "used_source_ids": used}
        assert (await client.post("/api/context/feedback", body)).status == 200
        return int(assembly["assembly_id"])

    return await asyncio.gather(*(once() for _ in range(count)))


async def evaluate(admin: Client) -> dict[str, Any]:
    answer = await admin.post("/api/context/eval", None)
    assert answer.status == 200, answer
    return answer.body  # type: ignore[no-any-return]


async def weights(client: Client, caller: str = "scout") -> dict[str, float]:
    rows = (await client.get(f"/api/context/weights?caller={caller}")).body["weights"]
    return {row["source"]: row["weight"] for row in rows if row["caller"] == caller}


async def test_feedback_moves_weights_and_the_next_assembly(client: Client, admin_client: Client) -> None:
    await fill(client, "learning")
    await answer_feedback(client, 10, "psychic_cache")
    done = await evaluate(admin_client)
    assert done["assemblies"] == 10
    changed = {one["source"]: one for one in done["weight_adjustments"]}
    assert changed["psychic_cache"]["new_weight"] > 1.0
    assert changed["agent_memory_own"]["new_weight"] < 1.1
    assert changed["agent_memory_peer"]["new_weight"] < 0.8
    assert done["weights_count"] == 3
    assembly = await assemble(client, "learning")
    used = {one["store"]: one["weight"] for one in assembly["sources"]}
    assert used["psychic_cache"] == changed["psychic_cache"]["new_weight"]
    history = (await client.get("/api/context/weights/history")).body["data"]
    assert len(history) == 3
    assert {(row["cause"], row["assemblies"]) for row in history} == {("eval", 10)}


async def test_too_few_and_no_feedback_change_nothing(client: Client, admin_client: Client) -> None:
    await fill(client, "learning", 3)
    await answer_feedback(client, 9, "psychic_cache")
    await asyncio.gather(*(assemble(client, "learning", caller="silent") for _ in range(12)))
    done = await evaluate(admin_client)
    assert (done["assemblies"], done["weight_adjustments"], done["budget_adjustments"]) == (0, [], [])
    await answer_feedback(client, 1, "psychic_cache")
    assert (await evaluate(admin_client))["assemblies"] == 10
    assert await weights(client, "silent") == {}


async def test_eval_at_once_does_the_work_once(
    client: Client, tenant: Tenant, cluster: Cluster, sql: Connection
) -> None:
    await fill(client, "learning", 3)
    await asyncio.gather(
        *(answer_feedback(client, 12, "psychic_cache", caller=f"agent-{n}") for n in range(3))
    )
    admins = [await tenant.client("admin") for _ in range(6)]
    done = await asyncio.gather(*map(evaluate, admins))
    assert sum(one["assemblies"] for one in done) == 36
    rows = await sql.fetch(
        "select caller, source, count(*) from context.source_weight_history where tenant = $1 group by 1, 2",
        tenant.name,
    )
    assert len(rows) >= 6
    assert {row["count"] for row in rows} == {1}
    assert (await evaluate(admins[0]))["assemblies"] == 0


async def test_manual_rows_are_left_alone(client: Client, admin_client: Client) -> None:
    await fill(client, "learning", 3)
    manual = {"caller": "*", "source": "psychic_cache", "weight": 0.3, "token_share": 0.2}
    assert (await admin_client.call("PUT", "/api/context/weights", manual)).status == 200
    assert (await assemble(client, "learning"))["sources"][-1]["weight"] == 0.3
    own = {"caller": "scout", "source": "agent_memory_own", "weight": 0.9, "manual": False}
    assert (await admin_client.call("PUT", "/api/context/weights", own)).status == 200
    await answer_feedback(client, 10, "agent_memory_own")
    changed = {one["source"] for one in (await evaluate(admin_client))["weight_adjustments"]}
    assert "psychic_cache" not in changed
    assert "agent_memory_own" in changed
    reset = await admin_client.delete("/api/context/weights?caller=*&source=psychic_cache")
    assert reset.status == 204
    assert (await assemble(client, "learning"))["sources"][0]["store"] in {
        "psychic_cache",
        "agent_memory_own",
    }


async def test_only_admins_set_and_evaluate(client: Client) -> None:
    weight = {"caller": "scout", "source": "psychic_cache", "weight": 0.3}
    for answer in (
        await client.call("PUT", "/api/context/weights", weight),
        await client.call("PUT", "/api/context/budgets", {"caller": "scout", "default_budget": 100}),
        await client.delete("/api/context/budgets?caller=scout"),
        await client.post("/api/context/eval", None),
    ):
        assert answer.status == 403


@pytest.mark.parametrize(
    "body",
    [
        {"caller": "scout", "source": "psychic_cache", "weight": -1},
        {"caller": "scout", "source": "nowhere", "weight": 1},
        {"caller": "scout", "source": "psychic_cache", "weight": 1, "token_share": 1.5},
        {"caller": "", "source": "psychic_cache", "weight": 1},
    ],
)
async def test_weights_are_checked(admin_client: Client, body: dict[str, Any]) -> None:
    assert (await admin_client.call("PUT", "/api/context/weights", body)).status == 400


async def test_budgets_and_ceilings(client: Client, admin_client: Client) -> None:
    await fill(client, "learning", 40)
    wide = await assemble(client, "learning", token_budget=4000, fill=True)
    assert wide["total_tokens"] > 300
    body = {"caller": "scout", "default_budget": 200, "ceiling": 300}
    answer = await admin_client.call("PUT", "/api/context/budgets", body)
    assert answer.status == 200
    assert (answer.body["min_budget"], answer.body["max_budget"], answer.body["manual"]) == (200, 16000, True)
    assert (await assemble(client, "learning", fill=True))["total_tokens"] <= 200
    assert 200 < (await assemble(client, "learning", token_budget=16000, fill=True))["total_tokens"] <= 300
    budgets = (await client.get("/api/context/budgets")).body["budgets"]
    assert [row["caller"] for row in budgets] == ["scout"]
    everyone = {"caller": "*", "default_budget": 100, "ceiling": 150}
    assert (await admin_client.call("PUT", "/api/context/budgets", everyone)).status == 200
    assert (await assemble(client, "learning", caller="medic", token_budget=999, fill=True))[
        "total_tokens"
    ] <= 150
    assert (await admin_client.delete("/api/context/budgets?caller=scout")).status == 204
    assert (await assemble(client, "learning", fill=True))["total_tokens"] <= 100
    for wrong in ({"min_budget": 201}, {"max_budget": 199}, {"default_budget": 16_001}):
        refused = await admin_client.call("PUT", "/api/context/budgets", {**body, **wrong})
        assert refused.status == 400, wrong


async def test_budgets_learn_and_keep_their_ceiling(client: Client, admin_client: Client) -> None:
    """Blocks that stay half empty need less; what learning makes does not lift the tenant's ceiling."""
    await fill(client, "learning", 3)
    everyone = {"caller": "*", "default_budget": 4000, "ceiling": 5000, "manual": False}
    assert (await admin_client.call("PUT", "/api/context/budgets", everyone)).status == 200
    await answer_feedback(client, 10, "psychic_cache")
    adjusted = (await evaluate(admin_client))["budget_adjustments"]
    assert adjusted == [{"caller": "scout", "old_budget": 4000, "new_budget": 3800}]
    assembly = await assemble(client, "learning", token_budget=16_000)
    assert (await explained(client, assembly["assembly_id"]))["token_budget"] == 5000
    assembly = await assemble(client, "learning")
    assert (await explained(client, assembly["assembly_id"]))["token_budget"] == 3800


async def test_feedback_under_a_key_happens_once(client: Client) -> None:
    await fill(client, "once")
    assembly = await assemble(client, "once")
    used = [assembly["sources"][0]["handle"]]
    body = {"assembly_id": assembly["assembly_id"], "used_source_ids": used, "tokens_used": 180}
    headers = {"idempotency-key": "feedback-1"}
    answers = [await client.post("/api/context/feedback", body, headers=headers) for _ in range(3)]
    assert [(one.status, one.body["accepted"]) for one in answers] == [(200, 1)] * 3
    other = await client.post("/api/context/feedback", {**body, "tokens_used": 181}, headers=headers)
    assert other.status == 422

    async def told() -> None:
        events = (await client.get("/api/timeline?mission=once&limit=100")).body["data"]
        assert [one["kind"] for one in events].count("context_feedback") == 1

    await until(told)


async def test_feedback_for_what_is_not_ones_own(client: Client, tenants: tuple[Tenant, Tenant]) -> None:
    assembly = await assemble(client, "mine")
    body = {"assembly_id": assembly["assembly_id"], "used_source_ids": []}
    assert (await (await tenants[1].client()).post("/api/context/feedback", body)).status == 404
    assert (await (await tenants[0].client(agent="medic")).post("/api/context/feedback", body)).status == 404
    assert (await client.post("/api/context/feedback", body)).status == 200


async def test_a_write_that_was_recalled_is_weak_feedback(client: Client, admin_client: Client) -> None:
    await fill(client, "learning", 30)
    named = await assemble(client, "learning")
    handle = named["sources"][0]["handle"]
    body = lesson("scout", f"As {handle} says: fence first.", recalled_from=named["assembly_id"])
    assert (await client.post("/api/agent-memory/commit", body)).status == 201
    whole = await assemble(client, "learning", token_budget=300)
    written = note("learning", "Fence, then fail over.", recalled_from=whole["assembly_id"])
    assert (await client.post("/api/psychic-cache/write", written)).status == 201

    async def marked() -> None:
        first = await explained(client, named["assembly_id"])
        assert (first.get("feedback_kind"), first.get("weak_source_ids")) == ("implicit", [handle])
        second = await explained(client, whole["assembly_id"])
        assert sorted(second.get("weak_source_ids", [])) == sorted(one["handle"] for one in whole["sources"])
        assert len(second["candidates"]) > len(whole["sources"]) > 0
        assert "used_source_ids" not in second

    await until(marked)
    # What the caller says outweighs it.
    body = {"assembly_id": named["assembly_id"], "used_source_ids": []}
    assert (await client.post("/api/context/feedback", body)).status == 200
    assert (await explained(client, named["assembly_id"]))["feedback_kind"] == "explicit"


async def test_a_source_read_by_its_handle_is_weak_feedback(client: Client) -> None:
    await fill(client, "learning", 3)
    assembly = await assemble(client, "learning")
    contents = {}
    for one in assembly["sources"]:
        path = f"/api/context/sources/{one['handle']}?assembly_id={assembly['assembly_id']}"
        answer = await client.get(path)
        assert answer.status == 200, answer
        assert answer.body["store"] == one["store"]
        item = answer.body["item"]
        contents[one["handle"]] = item.get("memory", item)["content"]
    assert all(content in assembly["context_block"] for content in contents.values())

    async def marked() -> None:
        log = await explained(client, assembly["assembly_id"])
        assert log.get("feedback_kind") == "implicit"
        assert sorted(log["weak_source_ids"]) == sorted(contents)

    await until(marked)


async def test_a_stranger_reads_no_source(client: Client, tenants: tuple[Tenant, Tenant]) -> None:
    await fill(client, "learning", 2)
    assembly = await assemble(client, "learning")
    stranger = await tenants[1].client("admin")
    narrow = await tenants[0].client("read", missions=["other"])
    for one in assembly["sources"]:
        assert (await stranger.get(f"/api/context/sources/{one['handle']}")).status == 404
    cached = next(one["handle"] for one in assembly["sources"] if one["store"] == "psychic_cache")
    assert (await narrow.get(f"/api/context/sources/{cached}")).status in (403, 404)


async def test_eval_from_the_command_line(
    client: Client, tenant: Tenant, cluster: Cluster, database: Database
) -> None:
    await fill(client, "learning", 3)
    await answer_feedback(client, 10, "psychic_cache")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.context", "eval", "--tenant", tenant.name),
        cwd=ROOT,
        env=environment({"DATABASE_URL": database.services["context"]}),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    assert json.loads(out)["assemblies"] == 10
    assert (await weights(client))["psychic_cache"] > 1.0

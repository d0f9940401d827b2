"""What an agent made in a mission, only its own keys change. The tests look into the database afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from shared.auth import Access
from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.calls import Json, lesson, note, until
from tests.support.cluster import Answer, Client
from tests.unit.cache.test_entries import COMMON, ENTRIES

WRITE = "/api/psychic-cache/write"
MISSION, AGENT, SESSION = "apollo", "ana", "session-1"
PUBLIC, PRIVATE = "Drain the node before the failover.", "The vault key is under the pelican."
TURN = {"role": "user", "content": "Which replica lags behind the others?", "seq": 1}


class Made(NamedTuple):
    """What the agent's key made, by id."""

    entry: int
    dispatch: int
    public: int
    private: int
    assembly: int
    handle: str


def checkpoint(content: str, **more: Any) -> Json:
    body = {"context_type": "thread_checkpoint", **COMMON, **ENTRIES["thread_checkpoint"]}
    return body | {"mission_id": MISSION, "session_id": SESSION, "content": content, **more}


async def post(client: Client, path: str, body: Json) -> Any:
    answer = await client.post(path, body)
    assert answer.status < 300, answer
    return answer.body


async def assemble(client: Client) -> Json:
    body = {"query": "drain the node", "caller": AGENT, "mission_namespace": MISSION}
    assembly: Json = await post(client, "/api/context/assemble", body)
    assert assembly["sources"], assembly
    return assembly


@pytest.fixture
async def ana(tenant: Tenant) -> Client:
    return await tenant.client("write", agent=AGENT, missions=[MISSION])


@pytest.fixture
async def made(ana: Client, tenant: Tenant) -> Made:
    entry = await post(ana, WRITE, note(MISSION, f"{PUBLIC} Now.", tags=["own"]))
    await post(ana, WRITE, checkpoint("half way"))
    dispatch = await post(ana, "/api/dispatch/report", {"task": "drain the node"})
    task = {
        "task_description": "failover",
        "skills_used": [],
        "outcome": "success",
        "mission_namespace": MISSION,
    }
    public = await post(ana, "/api/agent-memory/commit", lesson(AGENT, PUBLIC, task_context=task))
    private = await post(ana, "/api/agent-memory/commit", lesson(AGENT, PRIVATE, private=True))
    assembly = await assemble(ana)
    # It waits for the row of the log.
    assert (await ana.get(f"/api/context/log/{assembly['assembly_id']}")).status == 200
    admin = await tenant.client("admin")
    await admin.call("PUT", "/api/context/weights", {"caller": AGENT, "source": "psychic_cache", "weight": 1})
    await admin.call("PUT", "/api/context/budgets", {"caller": AGENT, "default_budget": 3_000})
    return Made(
        entry["data"]["id"],
        dispatch["data"]["id"],
        public["memory_id"],
        private["memory_id"],
        assembly["assembly_id"],
        assembly["sources"][0]["handle"],
    )


STATE = {
    "entries": "select id, content, tags from cache.psychic_cache where tenant = $1 and agent_name = 'ana'",
    "dispatches": """select status, note, percent, outputs, last_heartbeat, closed_at from (
        select *, progress as note from cache.agent_dispatch) d where tenant = $1 and agent_name = 'ana'""",
    "memories": """select id, content, memory_type, outcome, private, task_description, mission_namespace
        from memory.agent_memory where tenant = $1 and agent_name = 'ana'""",
    "assemblies": """select id, used_source_ids, weak_source_ids, tokens_used, feedback_kind
        from context.context_assembly_log where tenant = $1 and caller = 'ana'""",
    "weights": "select caller, source, weight from context.source_weights where tenant = $1",
    "budgets": "select caller, default_budget from context.caller_budget_config where tenant = $1",
    "limits": """select mission_id, token_budget, entry_budget from cache.missions
        where tenant = $1 and mission_id = 'apollo'""",
}


async def state(sql: Connection, tenant: Tenant) -> dict[str, list[str]]:
    """What is kept of the agent and its mission."""
    rows = {name: await sql.fetch(statement, tenant.name) for name, statement in STATE.items()}
    return {name: sorted(map(repr, found)) for name, found in rows.items()}


async def settled(sql: Connection, tenant: Tenant, client: Client) -> None:
    """Returns when earlier signals have been counted: they are counted in order."""
    last = (await assemble(client))["assembly_id"]
    await post(client, WRITE, note(MISSION, "so we drained it", recalled_from=last))

    async def counted() -> None:
        kind = await sql.fetchval(
            "select feedback_kind from context.context_assembly_log where tenant = $1 and id = $2",
            tenant.name,
            last,
        )
        assert kind == "implicit"

    await until(counted)


class Change(NamedTuple):
    """A request that changes what the agent made, and the statuses by which other keys' are refused."""

    method: str
    path: Callable[[Made], str]
    body: Callable[[Made], Json | None]
    access: Access = "write"
    of_agent: tuple[int, ...] = (403,)
    """Those for a key of another agent in the same mission."""
    of_mission: tuple[int, ...] = (403, 404)
    """Those for a key of another mission."""
    by_everyone: bool = False
    """It acts on what every agent of the mission made, so that not even the agent's own key does it."""


def written(**more: Any) -> Callable[[Made], Json]:
    """An entry by the caller, in its own mission."""
    return lambda made: note("", "a citation", **{name: getattr(made, which) for name, which in more.items()})


def entries(made: Made) -> str:
    return f"/api/psychic-cache/all/entries/{made.entry}"


CHANGES = {
    "tag": Change("PATCH", entries, lambda _: {"tags": ["taken"]}),
    "delete": Change("DELETE", entries, lambda _: None),
    "clear": Change(
        "DELETE", lambda _: f"/api/psychic-cache/{MISSION}?reason=operator", lambda _: None, by_everyone=True
    ),
    "limits": Change(
        "PUT",
        lambda _: f"/api/psychic-cache/{MISSION}/limits",
        lambda _: {"token_budget": 9_000, "entry_budget": 3},
        "admin",
        by_everyone=True,
    ),
    "progress": Change(
        "POST", lambda made: f"/api/dispatch/{made.dispatch}/progress", lambda _: {"note": "mine"}
    ),
    "complete": Change(
        "POST", lambda made: f"/api/dispatch/{made.dispatch}/complete", lambda _: {"outcome": "failed"}
    ),
    "heartbeat": Change(
        "POST", lambda _: WRITE, written(dispatch_id="dispatch"), of_agent=(201,), of_mission=(201,)
    ),
    "cite": Change(
        "POST", lambda _: WRITE, written(recalled_from="assembly"), of_agent=(201,), of_mission=(201,)
    ),
    "read with a citation": Change(
        "GET",
        lambda made: f"/api/context/sources/{made.handle}?assembly_id={made.assembly}",
        lambda _: None,
        of_agent=(404,),
        of_mission=(404,),
    ),
    "feedback": Change(
        "POST",
        lambda _: "/api/context/feedback",
        lambda made: {"assembly_id": made.assembly, "used_source_ids": [made.handle]},
        of_agent=(404,),
        of_mission=(404,),
    ),
    "edit": Change(
        "PATCH", lambda made: f"/api/agent-memory/{made.public}", lambda _: {"memory_type": "task_blueprint"}
    ),
    "edit a private memory": Change(
        "PATCH",
        lambda made: f"/api/agent-memory/{made.private}",
        lambda _: {"private": False},
        of_agent=(404,),
    ),
    "erase": Change("DELETE", lambda made: f"/api/agent-memory/{made.public}", lambda _: None),
    "repeat": Change(
        "POST",
        lambda _: "/api/agent-memory/commit",
        lambda _: lesson(AGENT, PUBLIC, private=True),
        of_mission=(201,),
    ),
    "repeat a private memory": Change(
        "POST",
        lambda _: "/api/agent-memory/commit",
        lambda _: {**lesson(AGENT, PRIVATE), "memory_type": "task_blueprint"},
        of_mission=(201,),
    ),
    "weigh": Change(
        "PUT",
        lambda _: "/api/context/weights",
        lambda _: {"caller": AGENT, "source": "psychic_cache", "weight": 0.4},
        "admin",
        by_everyone=True,
    ),
    "reset a weight": Change(
        "DELETE",
        lambda _: f"/api/context/weights?caller={AGENT}&source=psychic_cache",
        lambda _: None,
        "admin",
        by_everyone=True,
    ),
    "give a budget": Change(
        "PUT",
        lambda _: "/api/context/budgets",
        lambda _: {"caller": AGENT, "default_budget": 700},
        "admin",
        by_everyone=True,
    ),
    "reset a budget": Change(
        "DELETE",
        lambda _: f"/api/context/budgets?caller={AGENT}",
        lambda _: None,
        "admin",
        by_everyone=True,
    ),
    "forget": Change(
        "POST",
        lambda _: "/api/agent-memory/forget",
        lambda _: {"agent_name": AGENT},
        "admin",
        by_everyone=True,
    ),
}
EVERY_CHANGE = pytest.mark.parametrize("name", CHANGES)


async def attempt(client: Client, change: Change, made: Made, mission: str) -> Answer:
    body = change.body(made)
    if body is not None and body.get("mission_id") == "":
        body["mission_id"] = mission
    return await client.call(change.method, change.path(made), body)


@EVERY_CHANGE
async def test_its_own_key_makes_the_change(
    ana: Client, made: Made, tenant: Tenant, sql: Connection, name: str
) -> None:
    """The control: each of the requests below does change what the agent made."""
    change = CHANGES[name]
    before = await state(sql, tenant)
    owner = await tenant.client(change.access) if change.by_everyone else ana
    answer = await attempt(owner, change, made, MISSION)
    assert answer.status < 300, answer

    async def changed() -> None:
        assert await state(sql, tenant) != before

    await until(changed)


@EVERY_CHANGE
@pytest.mark.parametrize("whose", ["another agent", "another mission", "a reader"])
async def test_no_other_key_makes_the_change(
    ana: Client, made: Made, tenant: Tenant, sql: Connection, name: str, whose: str
) -> None:
    change = CHANGES[name]
    if whose == "another agent":
        client, refused = await tenant.client(change.access, agent="bo", missions=[MISSION]), change.of_agent
    elif whose == "another mission":
        client, refused = await tenant.client(change.access, missions=["other"]), change.of_mission
    elif change.method == "GET":
        client, refused = await tenant.client("read", agent="bo", missions=[MISSION]), change.of_agent
    else:
        client, refused = await tenant.client("read", agent=AGENT, missions=[MISSION]), (403,)
    before = await state(sql, tenant)
    mission = "other" if whose == "another mission" else MISSION
    answer = await attempt(client, change, made, mission)
    assert answer.status in refused, answer
    if answer.status == 403:
        assert answer.body["detail"].startswith("this key "), answer
    after = await state(sql, tenant)
    assert after == before
    if "cit" in name:
        await settled(sql, tenant, ana)
        (assembly,) = await sql.fetch(
            "select feedback_kind, weak_source_ids from context.context_assembly_log where tenant = $1 and id = $2",
            tenant.name,
            made.assembly,
        )
        assert tuple(assembly) == (None, [])


@pytest.mark.parametrize("name", [name for name, change in CHANGES.items() if change.by_everyone])
async def test_an_agents_key_does_not_act_for_every_agent(
    made: Made, tenant: Tenant, sql: Connection, name: str
) -> None:
    """Not even on its own mission, because it would erase or weigh what others made."""
    change = CHANGES[name]
    own = await tenant.client(change.access, agent=AGENT, missions=[MISSION])
    before = await state(sql, tenant)
    assert (await attempt(own, change, made, MISSION)).status == 403
    assert await state(sql, tenant) == before


async def test_an_entry_that_names_no_agent_is_not_an_agents(tenant: Tenant, sql: Connection) -> None:
    anyone, bo = await tenant.client(), await tenant.client(agent="bo")
    entry = (await post(anyone, WRITE, note(MISSION, "unsigned")))["data"]["id"]
    path = f"/api/psychic-cache/all/entries/{entry}"
    assert (await bo.call("PATCH", path, {"tags": ["taken"]})).status == 403
    assert (await bo.delete(path)).status == 403
    assert (await anyone.delete(path)).status == 200


# --- checkpoints -------------------------------------------------------------------------------------------

CHECKPOINT = f"/api/psychic-cache/checkpoint/{SESSION}"


async def resumed(client: Client, query: str = "") -> str:
    answer = await client.get(CHECKPOINT + query)
    assert answer.status == 200, answer
    content: str = answer.body["data"]["content"]
    return content


async def test_a_checkpoint_is_its_agents(ana: Client, made: Made, tenant: Tenant) -> None:
    bo = await tenant.client(agent="bo", missions=[MISSION])
    assert (await bo.get(CHECKPOINT)).status == 404
    await post(bo, WRITE, checkpoint("taken over", agent_name="bo"))
    assert (await resumed(ana), await resumed(bo)) == ("half way", "taken over")
    assert (await bo.get(f"{CHECKPOINT}?agent_name={AGENT}")).status == 403


async def test_a_checkpoint_is_its_missions(ana: Client, made: Made, tenant: Tenant) -> None:
    stranger = await tenant.client(missions=["other"])
    assert (await stranger.get(CHECKPOINT)).status == 404
    await post(stranger, WRITE, checkpoint("taken over", mission_id="other", agent_name=AGENT))
    assert (await resumed(ana), await resumed(stranger)) == ("half way", "taken over")
    assert (await stranger.get(f"{CHECKPOINT}?mission_id={MISSION}")).status == 403


async def test_an_unbound_key_reads_the_newest_or_names_whose(made: Made, tenant: Tenant) -> None:
    anyone = await tenant.client()
    await post(anyone, WRITE, checkpoint("by bo", agent_name="bo"))
    await post(anyone, WRITE, checkpoint("elsewhere", mission_id="other", agent_name=AGENT))
    assert await resumed(anyone) == "elsewhere"
    assert await resumed(anyone, f"?mission_id={MISSION}") == "by bo"
    assert await resumed(anyone, f"?mission_id={MISSION}&agent_name={AGENT}") == "half way"


async def test_an_agent_resumes_a_checkpoint_without_an_agent_after_its_own(
    ana: Client, tenant: Tenant
) -> None:
    anyone = await tenant.client()
    await post(anyone, WRITE, checkpoint("unsigned"))
    assert await resumed(ana) == "unsigned"
    await post(ana, WRITE, checkpoint("signed"))
    await post(anyone, WRITE, checkpoint("unsigned again"))
    assert await resumed(ana) == "signed"


async def test_another_agents_checkpoint_evicts_none(
    ana: Client, made: Made, tenant: Tenant, admin_client: Client
) -> None:
    """An agent's newest checkpoint goes last, even after another agent writes a newer one of the session."""
    bo = await tenant.client(agent="bo", missions=[MISSION])
    await post(bo, WRITE, checkpoint("taken over", agent_name="bo"))
    limits = f"/api/psychic-cache/{MISSION}/limits"
    assert (await admin_client.call("PUT", limits, {"entry_budget": 2})).status == 200
    assert await resumed(ana) == "half way"
    assert (await bo.post(WRITE, note(MISSION, "no room for it"))).status == 409
    await post(bo, WRITE, checkpoint("again", agent_name="bo"))
    assert (await resumed(ana), await resumed(bo)) == ("half way", "again")


# --- remember ----------------------------------------------------------------------------------------------


async def remember(client: Client, caller: str) -> list[str]:
    body = {"caller": caller, "mission_namespace": MISSION, "session_id": SESSION, "messages": [TURN]}
    done = await post(client, "/api/context/remember", body)
    return [line["status"] for line in done["items"]]


async def test_a_turn_that_another_agent_wrote_is_still_written(
    ana: Client, tenant: Tenant, sql: Connection
) -> None:
    """Otherwise the other agent could write it first, and delete it later."""
    bo = await tenant.client(agent="bo", missions=[MISSION])
    assert await remember(bo, "bo") == ["created"]
    assert await remember(ana, AGENT) == ["created"]
    assert await remember(ana, AGENT) == ["skipped"]
    authors = await sql.fetch(
        "select agent_name from cache.psychic_cache where tenant = $1 order by id", tenant.name
    )
    assert [row["agent_name"] for row in authors] == ["bo", AGENT]

"""The table of keys: every operation of the API's document, asked with every kind of key.

The document's examples are played as one story, in a tenant for each kind of key; what a key may not do, the tenant's
admin does instead, so that the story goes on. What is expected follows from `x-access` and from whom and what a request
names: a field that names something and has no rule here fails the test, as a route without an example does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, urlencode

import pytest

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.cluster import Client, Cluster
from tests.support.openapi import DOCUMENT, PROBLEM, Operation, operations
from tools.openapi.examples import EXAMPLES
from tools.openapi.examples_cache import Example
from tools.openapi.playing import part, places, resolved

Bound = Literal["agent", "mission", "user"]
OPERATIONS = {one.id: one for one in operations()}
PLACES = places(DOCUMENT)
REACH = {"read": {"read"}, "write": {"read", "write"}, "admin": {"read", "write", "admin"}}

# --- the rules -----------------------------------------------------------------------------------------------

NAMES: dict[str, Bound] = {
    "agent": "agent",
    "agent_name": "agent",
    "agents": "agent",
    "caller": "agent",
    "mission": "mission",
    "mission_id": "mission",
    "mission_namespace": "mission",
    "missions": "mission",
    "user_id": "user",
    "users": "user",
}
"""Who names one of these that its key is not bound to is refused: 403."""

ENTRY: dict[Bound, tuple[int, int]] = {"agent": (200, 403), "mission": (404, 404)}
IDS: dict[str, dict[Bound, tuple[int, int]]] = {
    "entry_id": ENTRY,
    "dispatch_id": ENTRY,
    "memory_id": {"agent": (200, 403), "mission": (404, 404)},
    "assembly_id": {"agent": (404, 404), "mission": (404, 404)},
    "key_id": {"agent": (404, 404), "mission": (404, 404)},
    # Keys of an agent or of users made it themselves: it names a mission only.
    "webhook_id": {"mission": (404, 404)},
    "handle": {"mission": (404, 404)},
    "fact_id": {"mission": (404, 404)},
    "session_id": {"agent": (404, 404), "mission": (404, 404)},
    "object_id": {"agent": (404, 404), "mission": (404, 404)},
    "number": {"agent": (404, 404), "mission": (404, 404)},
    "relationship_id": {"agent": (404, 404), "mission": (404, 404)},
    "source_id": {"agent": (404, 404), "mission": (404, 404)},
    "target_id": {"agent": (404, 404), "mission": (404, 404)},
    # What is kept for a user is read by any agent, in any mission.
    "persistent_id": {"agent": (200, 403), "mission": (200, 403), "user": (404, 404)},
    "run_id": {"agent": (404, 404), "mission": (404, 404)},
    # Of the vault's shared folder, which every key of the tenant reads.
    "file_id": {},
}
"""Of what lies outside of a key's bounds: the answers to a read and to a change. Another tenant's are 404."""
# What the story keeps of a user and of no agent or mission: keys that are bound to these wrote it themselves.
# A session is of an agent, a mission and a user.
OF_SESSION: dict[Bound, tuple[int, int]] = {"agent": (404, 404), "mission": (404, 404), "user": (404, 404)}
OF_USERS: dict[str, dict[Bound, tuple[int, int]]] = {
    "$preference": {"user": (404, 404)},
    "$agent_session": OF_SESSION,
    "$object": OF_SESSION,
    "$object_number": OF_SESSION,
    "$decision": OF_SESSION,
    "$relationship": OF_SESSION,
    "$run": OF_SESSION,
}

MENTIONED = {
    # Where or with whom something was, or what it is about: nothing is reached by it.
    *("target_agent", "directive_target", "escalation_target", "current_mission_namespaces"),
    *("parent_dispatch_id", "report_dispatch_id", "used_source_ids", "overlap_seconds", "absorbed_id", "id"),
    *("scopes", "target", "into", "Idempotency-Key", "x-request-id", "last_event_id"),
    # With the names of their parties: others have threads of their own.
    *("thread_id", "thread_ids", "checkpoint_id", "parent_id", "task_id", "run_ids", "namespace"),
    *("external_id", "source_key", "tool_use_id", "session"),
}
# Without admin access, only a key that is bound to their subject may.
FOR_ADMINS_OR_OWNERS = {"context_set_profile", "context_delete_profile"}
SCOPES = {"scope", "in_scope"}
NAMING = re.compile(r"agent|mission|caller|user|scope|namespace|session|handle|target|key|(^|_)ids?$", re.I)

FILTERED = {
    # The caller that is named filters what the key may see anyway.
    *("context_log", "context_weights", "context_weight_history", "context_budgets"),
    # What it lists are assemblies, which the key may read or not.
    "context_given",
    # Each item has its own answer.
    "cache_write_batch",
}
FOR_ALL: dict[str, set[Bound]] = {
    # It names what other keys did.
    "context_audit": {"agent", "mission", "user"},
    # It decides for every writer of the tenant.
    "context_set_secret_policy": {"agent", "mission", "user"},
    "context_set_language": {"agent", "mission", "user"},
    # It counts what everybody wrote.
    "context_backlog": {"agent", "mission", "user"},
    # They hold for the whole tenant.
    "context_ceilings": {"agent", "mission", "user"},
    "context_set_ceiling": {"agent", "mission", "user"},
    "context_reset_ceiling": {"agent", "mission", "user"},
    # They let any key's writes wait.
    "context_review_rules": {"agent", "mission", "user"},
    "context_set_review_rule": {"agent", "mission", "user"},
    "context_reset_review_rule": {"agent", "mission", "user"},
    # No agent approves what it wrote.
    "context_review_decide": {"agent"},
    # A profile stands in every block for its subject, here a user.
    "context_set_profile": {"agent", "mission"},
    "context_delete_profile": {"agent", "mission"},
    # They act on all that a caller does.
    "context_set_weight": {"mission", "user"},
    "context_reset_weight": {"mission", "user"},
    "context_set_budget": {"mission", "user"},
    "context_reset_budget": {"mission", "user"},
    "context_evaluate": {"agent", "mission", "user"},
    # They erase what is in their way, whoever wrote it and wherever.
    "context_purge": {"agent", "mission", "user"},
    "agent_memory_forget": {"mission", "user"},
    # It writes into the folder that all keys of the tenant read.
    "vault_put": {"agent", "mission", "user"},
    "vault_remove": {"agent", "mission", "user"},
    # It names files of every folder.
    "vault_index": {"agent", "mission", "user"},
    # It moves facts about any user.
    "kg_add_alias": {"user"},
    "kg_remove_alias": {"user"},
    "cache_clear": {"agent", "user"},
    "cache_set_limits": {"agent", "user"},
    "cache_set_language": {"agent", "user"},
}


def expected(example: Example, bound: Bound) -> int | None:
    """What an admin's key that is bound to something else is answered; None is success."""
    operation, request = OPERATIONS[example.operation], [*fields(example)]
    if bound in FOR_ALL.get(operation.id, ()):
        return 403
    for name, _ in request:
        if NAMES.get(name) == bound and not _harmless(operation, bound):
            return 403
    for name, value in request:
        if not reaches(operation, name, value):
            continue
        rules = OF_USERS.get(value, IDS[name])
        if bound in rules:
            reads, changes = rules[bound]
            status = reads if operation.told["x-access"] == "read" else changes
            if status != 200:
                return status
    return None


def _harmless(operation: Operation, bound: Bound) -> bool:
    return (bound == "agent" and operation.id in FILTERED) or operation.id == "cache_write_batch"


def reaches(operation: Operation, name: str, value: Any) -> bool:
    """Whether a field leads to what an earlier answer made, or to a session by its name."""
    if name == "session_id":
        return "{session_id}" in operation.path or operation.id == "memory_consolidate"
    if operation.id in ("cache_write", "context_given"):
        return False
    return name in IDS and isinstance(value, str) and value.startswith("$")


def fields(example: Example) -> Iterator[tuple[str, Any]]:
    """Each field of the request with its value, `$name` as it stands."""
    body = example.body
    if body == "$lines":
        body = {"agent_name": "of the lines"}
    yield from _fields(example.parameters)
    yield from _fields(body)


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, item in value.items():
            if name in SCOPES:
                yield f"{item.partition(':')[0]}_id".replace("agent_id", "agent_name"), item
            yield name, item
            yield from _fields(item)
    elif isinstance(value, list):
        for item in value:
            yield from _fields(item)


def test_every_field_that_names_something_has_a_rule() -> None:
    known = NAMES.keys() | IDS.keys() | MENTIONED | SCOPES
    for operation in OPERATIONS.values():
        strange = {name for name in _declared(operation) if NAMING.search(name)} - known
        assert not strange, f"{operation.id}: say what a key must hold for {sorted(strange)}"


def _declared(operation: Operation) -> Iterator[str]:
    yield from (parameter["name"] for parameter in operation.parameters)
    for told in operation.bodies.values():
        yield from _properties(told["schema"], ())
        yield from _properties(told.get("x-item-schema", {}), ())


def _properties(schema: Mapping[str, Any], inside: tuple[str, ...]) -> Iterator[str]:
    if reference := schema.get("$ref"):
        if reference not in inside:
            name = reference.rsplit("/", 1)[1]
            yield from _properties(DOCUMENT["components"]["schemas"][name], (*inside, reference))
        return
    yield from schema.get("properties", {})
    inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    inner += [one for name in ("anyOf", "oneOf", "allOf") for one in schema.get(name, [])]
    for one in inner:
        yield from _properties(one, inside)


def test_every_operation_has_an_example() -> None:
    assert {example.operation for example in EXAMPLES} == OPERATIONS.keys()


# --- the table -----------------------------------------------------------------------------------------------


class Told(NamedTuple):
    status: int
    media: str
    body: Any
    headers: Mapping[str, str]


async def ask(client: Client, example: Example, kept: Mapping[str, Any]) -> Told:
    method, path, where = PLACES[example.operation]
    given = resolved(example.parameters, kept)
    in_path = {name: quote(str(value), safe="") for name, value in given.items() if where[name] == "path"}
    asked = urlencode({name: value for name, value in given.items() if where[name] == "query"})
    body = resolved(example.body, kept)
    headers = {"accept": example.accept}
    if body is not None:
        headers["content-type"] = "application/x-ndjson" if isinstance(body, str) else "application/json"
    data = body if isinstance(body, str) or body is None else json.dumps(body)
    target = path.format(**in_path) + (f"?{asked}" if asked else "")
    async with client.session.request(method, target, data=data, headers=headers) as response:
        media = response.content_type
        # A stream has no end to wait for.
        text = "" if media == "text/event-stream" else await response.text()
        answer = json.loads(text) if media in ("application/json", PROBLEM) and text else text
        return Told(response.status, media, answer, response.headers)


class Story:
    """The examples in one tenant, each told by its admin where the key under test may not."""

    def __init__(self, admin: Client) -> None:
        self._admin = admin
        self.kept: dict[str, Any] = {}
        self.wrong: list[str] = []

    async def tell(self, example: Example, by: Client, status: int | None, *, apart: bool = False) -> None:
        """`status` is the refusal that is expected of `by`, None success; `apart`: it acts in another tenant."""
        told = await ask(by, example, self.kept)
        self._check(example, told, status)
        if told.status >= 300 or apart:
            told = await ask(self._admin, example, self.kept)
            assert told.status < 300, (example, told)
        self.kept |= {name: part(told.body, path) for name, path in example.keep.items()}

    async def refuse(self, example: Example, by: Client) -> Told:
        """It is no one's: 401, and nothing else is said."""
        told = await ask(by, example, self.kept)
        self._check(example, told, 401)
        return told

    def _check(self, example: Example, told: Told, status: int | None) -> None:
        documented = OPERATIONS[example.operation].told["responses"]
        right = told.status == status if status is not None else told.status < 300
        if not right or str(told.status) not in documented or (told.status >= 400 and told.media != PROBLEM):
            self.wrong.append(
                f"{example.operation} ({example.title}): {told.status}, expected {status or 'success'}"
            )


@pytest.fixture
async def story(tenant: Tenant) -> Story:
    return Story(await tenant.client("admin"))


@pytest.mark.parametrize("access", REACH)
async def test_access(tenant: Tenant, story: Story, access: Any) -> None:
    client = await tenant.client(access)
    for example in EXAMPLES:
        wanted = OPERATIONS[example.operation].told["x-access"]
        if example.operation in FOR_ADMINS_OR_OWNERS:
            wanted = "admin"
        await story.tell(example, client, None if wanted in REACH[access] else 403)
    assert story.wrong == []


@pytest.mark.parametrize(
    ("bound", "grants"),
    [("agent", {"agent": "other"}), ("mission", {"missions": ["other"]}), ("user", {"users": ["other"]})],
)
async def test_bounds(tenant: Tenant, story: Story, bound: Bound, grants: dict[str, Any]) -> None:
    client = await tenant.client("admin", **grants)
    for example in EXAMPLES:
        await story.tell(example, client, expected(example, bound))
    assert not story.wrong, "\n".join(story.wrong)


async def test_another_tenant(tenants: tuple[Tenant, Tenant], story: Story) -> None:
    """What it names is its own; what it reaches by an id is not there."""
    stranger = await tenants[1].client("admin")
    for example in EXAMPLES:
        operation = OPERATIONS[example.operation]
        made_here = any(
            reaches(operation, name, value) and (name != "session_id" or value.startswith("$"))
            for name, value in fields(example)
        )
        await story.tell(example, stranger, 404 if made_here else None, apart=True)
    assert story.wrong == []


async def test_no_valid_key(cluster: Cluster, tenant: Tenant, story: Story, sql: Connection) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=1)
    admin, revoked = await tenant.client("admin"), await tenant.client("admin")
    await sql.execute("update context.api_keys set revoked_at = now() where tenant = $1", tenant.name)
    await sql.execute(
        "update context.api_keys set revoked_at = null where tenant = $1 and id not in "
        "(select max(id) from context.api_keys where tenant = $1)",
        tenant.name,
    )
    expired = await tenant.client("admin", expires_at=datetime.now(UTC) + timedelta(days=1))
    await sql.execute(
        "update context.api_keys set expires_at = $2 where tenant = $1 and expires_at < 'infinity'",
        tenant.name,
        long_ago,
    )
    async with Client(cluster.url(), None) as nobody, Client(cluster.url(), "sj_unknown") as unknown:
        for example in EXAMPLES:
            no_key = await story.refuse(example, nobody)
            assert no_key.headers["www-authenticate"].startswith("Bearer")
            told = [await story.refuse(example, client) for client in (unknown, expired, revoked)]
            assert told[0].body == told[1].body == told[2].body
            await story.tell(example, admin, None)
    assert story.wrong == []

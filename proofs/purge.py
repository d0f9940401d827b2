"""Forgetting is complete (P19): purges of users, agents, missions and tenants under load, on two replicas.

Every subject has a word of its own in all that is written about it. Afterwards a superuser looks for these words in
every table, in large objects, in Redis, in the services' logs, and in the files of the data directory, once Postgres
has rewritten the tables. The control is a build whose purges skip one store.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
import redis.asyncio as redis

from proofs.ground import Ground, Proof, run
from tests.support.attacks.canaries import holding
from tests.support.calls import lesson, note
from tests.support.cluster import Client, Cluster
from tests.support.sessions.filling import fill_session, rows_of_sessions

SEED = 19
KINDS = ("user", "agent", "mission")
WORD, TENANT = "xylocarp", "quercitron"
"""Every subject's word and every purged tenant's name begin like this."""
NOWHERE = "https://hooks.invalid/"
"""Where webhooks send to: whatever happens waits to be delivered."""
_AT_ONCE = 24
_TRIES = 12
_LONGEST_PAUSE = 5.0
_SETTLE_SECONDS = 3.0
_FILE = "file of "
_FILES = """
select pg_relation_filepath(c.oid) as path, c.oid::regclass::text as name
from pg_class c where pg_relation_filepath(c.oid) is not null
"""
# ANALYZE keeps the statistics of a table that it finds empty, until it finds rows.
_OLD_STATISTICS = """
delete from pg_statistic s using pg_class c where c.oid = s.starelid and c.reltuples = 0
"""
_LARGE_OBJECTS = "select count(*) from pg_largeobject_metadata"


class Subject(NamedTuple):
    kind: str
    word: str

    @property
    def purge(self) -> dict[str, str]:
        return {"agent_name" if self.kind == "agent" else f"{self.kind}_id": self.word}

    def named(self, kind: str) -> str:
        return self.word if self.kind == kind else f"other {kind}"


def writes(subject: Subject) -> Iterator[tuple[str, dict[str, Any]]]:
    """Requests that leave the subject's word in as many stores as there are, and the paths that take them."""
    agent, user, mission = (subject.named(kind) for kind in ("agent", "user", "mission"))
    session = f"session of {agent} and {user}"
    about = {"agent_name": agent, "user_id": user, "session_id": session}
    yield "/api/psychic-cache/write", note(mission, f"{subject.word} rained", tags=["rain"], **about)
    report = {"mission_id": mission, "agent_name": agent, "task": "watch", "session_id": session}
    yield "/api/dispatch/report", report if subject.kind != "user" else {**report, "session_id": "another"}
    said = "rain is wet" if subject.kind == "mission" else f"{subject.word} is wet"
    task = {"task_description": "t", "skills_used": [], "outcome": "success", "mission_namespace": mission}
    yield "/api/agent-memory/commit", lesson(agent, said, task_context=task, user_id=user, session_id=session)
    by = {"agent_name": agent, "session_id": session}
    promise = {"kind": "commitment", "scope": f"mission:{mission}", "owed_by": agent, "owed_to": user}
    yield "/api/memory", {**by, **promise, "content": f"{subject.word} will dry", "user_id": user}
    likes = "rain is fine" if subject.kind == "mission" else f"{subject.word} likes rain"
    yield "/api/memory", {**by, "kind": "preference", "scope": f"user:{user}", "content": likes}
    fact = {
        "subject": subject.word,
        "predicate": "saw",
        "object": "rain",
        "agent_name": agent,
        "user_id": user,
    }
    yield "/api/kg/write", {**fact, "scope": f"mission:{mission}"}
    question = {"query": "what rained?", "caller": agent, "mission_namespace": mission, "user_id": user}
    yield "/api/context/assemble", {**question, "session_id": session}
    yield "/api/psychic-cache/query", {"mission_id": mission, "query": "rain"}
    spent = {"agent": agent, "mission": mission, "session_id": session, "model": "any", "cost_usd": "0.01"}
    yield "/api/context/costs", spent
    block = {"name": subject.word, "stability": "stable", "text": f"You watch {subject.word}."}
    yield "/api/context/prompt", {"blocks": [block], "context": {**question, "session_id": session}}
    bounds = {"agent": agent} if subject.kind == "agent" else {f"{subject.kind}s": [subject.word]}
    yield "/api/context/keys", {"name": f"a key of {subject.word}", **bounds}
    if subject.kind != "user":
        alone = {f"{subject.kind}s": [subject.word], "description": f"what {subject.word} does"}
        yield "/api/webhooks", {"url": NOWHERE, **alone}


async def told(client: Client, path: str, body: dict[str, Any], method: str = "POST") -> Any:
    """The answer, tried again while a service is overloaded. Raises AssertionError for any other refusal."""
    headers = (
        {}
        if path.endswith(("assemble", "query", "search", "prompt", "ceilings"))
        else {"idempotency-key": secrets.token_hex(8)}
    )
    for attempt in range(_TRIES):
        answer = await client.call(method, path, body, headers=headers)
        if answer.status < 300:
            return answer.body
        assert answer.status in (429, 503), answer
        await asyncio.sleep(min(_LONGEST_PAUSE, 0.2 * 2**attempt))
    raise AssertionError(f"{path} was refused {_TRIES} times: {answer}")


async def fill(client: Client, subject: Subject) -> None:
    for path, body in writes(subject):
        await told(client, path, body)
    if subject.kind == "mission":
        ceiling = {"mission_id": subject.word, "limit_usd": "1000000"}
        await told(client, "/api/context/costs/ceilings", ceiling, "PUT")
    names = {"agent_name": "agent", "mission_id": "mission", "user_id": "user"}
    parties = {field: subject.named(kind) for field, kind in names.items()}
    # What was kept for a user stays when its mission goes.
    kept = "rain is fine" if subject.kind == "mission" else f"{subject.word} likes rain"
    name = f"session of {subject.word}"
    thread = {**parties, "thread_id": f"thread of {subject.word}", "checkpoint_id": "1"}
    await told(client, "/api/checkpoints", {**thread, "state": {"said": subject.word}}, "PUT")
    wrote = {"place": 0, "channel": "said", "value": {"said": subject.word}}
    await told(client, "/api/checkpoints/writes", {**thread, "task_id": "1", "writes": [wrote]}, "PUT")
    path = await fill_session(partial(told, client), subject.word, name, kept=kept, **parties)
    await consolidated(client, subject, path)


async def consolidated(client: Client, subject: Subject, path: str) -> None:
    """A run over a session and one over a file. What a mission's session teaches of its user stays with the user."""
    liked = "rain" if subject.kind == "mission" else subject.word
    await told(
        client, f"{path}/events", {"messages": [{"role": "user", "text": f"fact: Bo | saw | {liked}"}]}
    )
    file = f"{subject.kind}s/{subject.word}/notes.txt"
    await told(client, "/api/vault/files", {"path": file, "text": f"fact: Bo | saw | {subject.word}\n"})
    for source in ({"session_id": path.rpartition("/")[2]}, {"path": file}):
        done = await told(client, "/api/memory/consolidate", source)
        assert (done["status"], done["opened"] + done["confirmed"]) == ("finished", 1), done


async def forget(client: Client, subject: Subject) -> None:
    await fill(client, subject)
    await told(client, "/api/context/purge", subject.purge)


async def every(clients: list[Client], subjects: list[Subject]) -> int:
    """Writes about each subject and purges it, many at once. Returns how many purges failed."""
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(number: int, subject: Subject) -> bool:
        async with room:
            try:
                await forget(clients[number % len(clients)], subject)
            except AssertionError as error:
                print(f"a purge failed: {error}")
                return False
            return True

    return (await asyncio.gather(*(one(*item) for item in enumerate(subjects)))).count(False)


async def forget_tenant(cluster: Cluster, name: str) -> bool:
    """Fills a tenant, purges it with its own key, and looks whether the key is gone."""
    async with tenant_admin(cluster, name) as client:
        for kind in KINDS:
            await fill(client, Subject(kind, f"{WORD}_of_{name}_{kind}"))
        await told(client, "/api/context/purge", {"scope": "tenant", "confirm": name})
        return (await client.get("/api/context/weights")).status == 401


@contextlib.asynccontextmanager
async def tenant_admin(cluster: Cluster, tenant: str) -> AsyncIterator[Client]:
    async with cluster.client("admin") as installation:
        made = await told(
            installation, "/api/context/keys", {"name": "a", "access": "admin", "tenant": tenant}
        )
    async with Client(cluster.url(), made["token"]) as client:
        yield client


@contextlib.asynccontextmanager
async def load(cluster: Cluster, seed: int) -> AsyncIterator[Counter[int]]:
    """Writers and readers that go on meanwhile, with words of their own. Yields their answers by status."""
    answers: Counter[int] = Counter()

    async def work(number: int) -> None:
        chance = random.Random(seed + number)
        async with cluster.client("write") as client:
            while True:
                mission, agent = f"steady {chance.randrange(4)}", f"steady {number}"
                entry = note(mission, f"it was calm on day {chance.randrange(10_000)}", agent_name=agent)
                question = {"query": "was it calm?", "caller": agent, "mission_namespace": mission}
                for path, body in (
                    ("/api/psychic-cache/write", entry),
                    ("/api/agent-memory/commit", lesson(agent, f"calm days end {chance.randrange(10_000)}")),
                    ("/api/context/assemble", question),
                ):
                    answers[(await client.post(path, body)).status] += 1
                    await asyncio.sleep(0.05)

    tasks = [asyncio.create_task(work(number)) for number in range(4)]
    try:
        yield answers
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def left(ground: Ground, words: tuple[str, ...]) -> dict[str, int]:
    """Where the words still stand: rows by table, large objects, keys of Redis."""
    sql = await asyncpg.connect(ground.database.admin)
    cache = redis.from_url(ground.valkey.url)
    try:
        found: Counter[str] = Counter()
        for word in words:
            found.update(await holding(sql, word))
            found["keys of Redis"] += len([key async for key in cache.scan_iter(f"*{word}*")])
        # Nobody else has sessions here: of their faults and transitions no column holds a word.
        found.update(await rows_of_sessions(sql))
        found["large objects"] += await sql.fetchval(_LARGE_OBJECTS)
        return {place: count for place, count in found.items() if count}
    finally:
        await sql.close()
        await cache.aclose()


async def left_in_files(ground: Ground, *sought: tuple[str, ...]) -> list[dict[str, int]]:
    """For each tuple of words, the files of the data directory and the logs that hold one of them, once Postgres has
    rewritten all tables and statistics.

    The write-ahead log is not looked into: it keeps what was written until Postgres recycles it.
    """
    sql = await asyncpg.connect(ground.database.admin)
    try:
        for statement in ("analyze", _OLD_STATISTICS, "vacuum full", "checkpoint"):
            await sql.execute(statement)
        data = Path(await sql.fetchval("show data_directory"))
        names = {data / row["path"]: row["name"] for row in await sql.fetch(_FILES)}
    finally:
        await sql.close()
    tables = [path for path in (data / "base").rglob("*") if path.is_file()]
    logs = [
        path
        for path in ground.folder.glob("*.log")
        if path.name.partition("-")[0] in ("cache", "context", "agent_memory")
    ]
    held = [
        [path for path in (*tables, *logs) if _holds(path, words[:1] if path in logs else words)]
        for words in sought
    ]
    return [{f"{_FILE}{names.get(path, path.name)}": 1 for path in paths} for paths in held]


def _holds(path: Path, words: tuple[str, ...]) -> bool:
    with contextlib.suppress(FileNotFoundError):
        content = path.read_bytes()
        return any(word.encode() in content for word in words)
    return False


def subjects(count: int, seed: int, word: str = WORD) -> list[Subject]:
    chance = random.Random(seed)
    return [Subject(KINDS[n % 3], f"{word}{n:04}{chance.randrange(16**6):06x}") for n in range(count)]


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    count, tenants = (12, 1) if short else (1_000, 24)
    settings = {"SCRUBJAY_IN_FLIGHT": "256"}
    forgetful = Cluster(ground.database, ground.valkey.url, ground.folder / "control", settings=settings)
    (ground.folder / "control").mkdir()
    for service in forgetful.replicas["context"]:
        service.module = "proofs.forgetful"
    async with forgetful, forgetful.client("admin") as client:
        skipped = "forgetful"
        await told(client, "/api/webhooks", {"url": NOWHERE})
        await every([client], subjects(3, seed, skipped))
        control = await left(ground, (skipped,))
    async with Cluster(
        ground.database, ground.valkey.url, ground.folder, replicas=2, settings=settings
    ) as cluster:
        async with load(cluster, seed) as answers, contextlib.AsyncExitStack() as closing:
            clients = [await closing.enter_async_context(cluster.client("admin")) for _ in range(8)]
            failed = await every(clients, subjects(count, seed))
            gone = await asyncio.gather(
                *(forget_tenant(cluster, f"{TENANT}-{number}") for number in range(tenants))
            )
            failed += gone.count(False)
            steady = dict(answers)
        await asyncio.sleep(_SETTLE_SECONDS)
        found = await left(ground, (WORD, TENANT))
    in_files = await left_in_files(ground, (WORD, TENANT), (skipped,))
    found, control = found | in_files[0], control | in_files[1]
    print(f"answers to the load: {steady}\nskipping a store leaves {control}\nleft: {found or 'nothing'}\n")
    return Proof(
        n=count + tenants,
        faults=sum(steady.values()),
        violations=failed + sum(found.values()),
        # Both ways of looking must see what the control left.
        control_violations=sum(control.values()) if any(name.startswith(_FILE) for name in control) else 0,
        more={"failed": failed, "left": found, "purges": {"subjects": count, "tenants": tenants}},
    )


def main() -> None:
    run("P19", SEED, prove)


if __name__ == "__main__":
    main()

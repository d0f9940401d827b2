"""A victim: one agent with a mission and a user of its own, and something in every store.

Every row of it holds the victim's word. Every text that a stranger might read holds a canary: the word and what it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args
from urllib.parse import quote

from tests.support.cluster import Client

Canary = Literal[
    "entry",
    "checkpoint",
    "session",
    "shared",
    "private",
    "loose",
    "locked",
    "dispatch",
    "assembly",
    "key",
    "file",
    "upload_of_nobody",
    "upload_of_agent",
    "upload_of_mission",
    "upload_of_user",
    "agent_profile",
    "user_profile",
    "preference",
    "episode",
    "promise",
    "knowledge",
    "alias",
    "fact",
    "own_fact",
    "user_fact",
    "said",
    "nobodys_session",
    "object",
    "object2",
    "because",
    "kept",
    "webhook",
    "saved",
    "pending",
    "waiting",
]
"""`entry` and `checkpoint` are the mission's; `session` is the name of their session. `shared` and `private` were
learned in the mission, `loose` (shared) and `locked` (private) outside of any. `assembly` is the name of an assembly's
session, `key` a key's name, and `file` a file of the vault, where there is one. The uploads lie in the folders of the
agent, the mission and the user, and in none of them. The profiles are the agent's and the user's. Of long-term memory,
`preference` is in the user's scope, `episode` in the mission's and about the user, `promise` in the agent's and
`knowledge` in everybody's. `fact` is one of the mission, `own_fact` one that the agent keeps for itself, `user_fact`
one in the scope of the user; all are about the user. `alias` is a name that the agent keeps for itself. `said` was said
in a session of the agent in the mission with the user, whose context holds `object` and `object2`, which is so
`because` of it. `kept` is kept of `object` for the user. `nobodys_session` is the name of a session of nobody, and all
that it holds. `saved` is the state of a thread of the agent in the mission with the
user, and `pending` what a task wrote after it. `waiting` is a memory of the trainee, an agent beside it
whose writes wait for a reviewer. `webhook` is what a webhook of the tenant's admin says of itself."""


LATE, TRIES = (429, 503), 8
"""A busy machine may answer a request too late, or not at all."""

CANARIES: frozenset[Canary] = frozenset(get_args(Canary))


@dataclass(frozen=True)
class Victim:
    word: str
    ids: dict[str, Any] = field(default_factory=dict)
    """The ids of its rows: entry_id, checkpoint_id, memory_ids, long_term_ids, file_ids, fact_ids, dispatch_id,
    assembly_id, key_id, waiting_id, agent_session, object_id, nobodys_object_id, object_number, other_object_id,
    relationship_id, persistent_id, persistent_number, run_id, webhook_id."""

    @property
    def agent(self) -> str:
        return f"ana {self.word}"

    @property
    def trainee(self) -> str:
        """Writes of it wait for a reviewer."""
        return f"tom {self.word}"

    @property
    def mission(self) -> str:
        return f"apollo-{self.word}"

    @property
    def user(self) -> str:
        return f"alice {self.word}"

    @property
    def session(self) -> str:
        """The host's name for it, which a refusal may repeat."""
        return f"code of {self.word}"

    def canary(self, name: Canary) -> str:
        return f"{self.word}{name}"

    def text(self, name: Canary) -> str:
        return f"the treasure is {self.canary(name)}"

    def scopes(self) -> list[str]:
        return [f"mission:{self.mission}", f"agent:{self.agent}", f"user:{self.user}"]

    def handles(self) -> list[str]:
        memories = [f"{prefix}:{memory}" for prefix in ("own", "peer") for memory in self.ids["memory_ids"]]
        memories += [f"memory:{memory}" for memory in self.ids["long_term_ids"]]
        return [
            f"cache:{self.ids['entry_id']}",
            f"cache:{self.ids['checkpoint_id']}",
            f"persistent:{self.ids['persistent_number']}",
            *memories,
            *(f"vault:{file}" for file in self.ids["file_ids"]),
            *self.links(),
            *(f"profile:{quote(scope, safe=':')}" for scope in self.scopes()[1:]),
        ]

    def links(self) -> list[str]:
        return [f"link:{path}" for path in self.files()]

    def files(self) -> list[str]:
        """Paths in the tenant's vault."""
        return [
            "plan.md",
            f"missions/{self.mission}/plan.md",
            f"users/{self.user}/plan.md",
            f"agents/{self.agent}/plan.md",
            f"shared/../missions/{self.mission}/plan.md",
        ]

    def uploads(self) -> dict[str, Canary]:
        """Paths of files that are stored in the vault, and what they hold."""
        return {
            f"{self.word}.md": "upload_of_nobody",
            f"agents/{self.agent}/stored.md": "upload_of_agent",
            f"missions/{self.mission}/stored.md": "upload_of_mission",
            f"users/{self.user}/stored.md": "upload_of_user",
        }

    def entry(self, text: str) -> dict[str, Any]:
        return {
            "context_type": "intel",
            "intel_source": "a test",
            "mission_id": self.mission,
            "agent_name": self.agent,
            "user_id": self.user,
            "session_id": self.canary("session"),
            "content": text,
        }

    def memory(self, text: str, *, mission: bool, private: bool) -> dict[str, Any]:
        task = {
            "task_description": "a treasure hunt",
            "skills_used": ["digging"],
            "outcome": "success",
            "mission_namespace": self.mission,
        }
        return {
            "agent_name": self.agent,
            "user_id": self.user,
            "memory_type": "lesson_learned",
            "content": text,
            "private": private,
            **({"task_context": task} if mission else {}),
        }

    def long_term(self, text: Callable[[Canary], str]) -> list[dict[str, Any]]:
        """One in each kind of scope. `text` says what each of them holds."""
        mine = {"agent_name": self.agent}
        by_scope: list[tuple[str, Canary, str | None]] = [
            (f"user:{self.user}", "preference", self.user),
            (f"mission:{self.mission}", "episode", self.user),
            (f"agent:{self.agent}", "promise", None),
            ("shared", "knowledge", None),
        ]
        kinds = {"promise": "commitment"}
        return [
            {**mine, "scope": scope, "kind": kinds.get(name, name), "content": text(name), "user_id": user}
            for scope, name, user in by_scope
        ]

    def fact(self, name: Canary, scope: str) -> dict[str, Any]:
        return {
            "subject": f"the hoard of {self.word}",
            "predicate": f"is of {name}",
            "object": self.text(name),
            "agent_name": self.agent,
            "user_id": self.user,
            "scope": scope,
        }

    def facts(self) -> list[dict[str, Any]]:
        mission, agent, user = self.scopes()
        return [self.fact("fact", mission), self.fact("own_fact", agent), self.fact("user_fact", user)]

    def agent_session(self) -> dict[str, Any]:
        return {
            "external_id": self.session,
            "agent_name": self.agent,
            "mission_id": self.mission,
            "user_id": self.user,
        }

    def parties(self) -> dict[str, Any]:
        return {"agent_name": self.agent, "mission_id": self.mission, "user_id": self.user}

    def thread(self) -> dict[str, Any]:
        return {**self.parties(), "thread_id": f"thread of {self.word}"}

    def sessions(self) -> list[dict[str, str]]:
        """The session by its id and by the host's name for it, and the session of nobody."""
        names = (self.ids["agent_session"], self.session, self.canary("nobodys_session"))
        return [{"session_id": name} for name in names]

    def held(self) -> list[dict[str, str]]:
        """An object of each of the sessions."""
        objects = [*[self.ids["object_id"]] * 2, self.ids["nobodys_object_id"]]
        return [
            {**session, "object_id": each} for session, each in zip(self.sessions(), objects, strict=True)
        ]

    def checkpoint(self, text: str) -> dict[str, Any]:
        return {
            **self.entry(text),
            "context_type": "thread_checkpoint",
            "turn_count": 3,
            "active_dispatches": [],
            "open_decisions": [],
            "pending_directives": [],
            "current_mission_namespaces": [self.mission],
            "working_state_prose": text,
        }


async def settle(admin: Client, word: str) -> Victim:
    """Fills every store through the API, as an admin key without bounds."""
    victim = Victim(word)

    async def make(path: str, body: Any, method: str = "POST") -> Any:
        for _ in range(TRIES):
            answer = await admin.call(method, path, body)
            if answer.status not in LATE:
                break
            await asyncio.sleep(1)
        assert answer.status < 300, answer
        return answer.body

    entry = victim.entry(victim.text("entry"))
    checkpoint = victim.checkpoint(victim.text("checkpoint"))
    del checkpoint["intel_source"]
    memories = [
        victim.memory(victim.text("shared"), mission=True, private=False),
        victim.memory(victim.text("private"), mission=True, private=True),
        victim.memory(victim.text("loose"), mission=False, private=False),
        victim.memory(victim.text("locked"), mission=False, private=True),
    ]
    task = {
        "mission_id": victim.mission,
        "agent_name": victim.agent,
        "session_id": victim.canary("session"),
        "task": victim.text("dispatch"),
    }
    question = {
        "query": "the treasure",
        "caller": victim.agent,
        "mission_namespace": victim.mission,
        "user_id": victim.user,
        "session_id": victim.canary("assembly"),
    }
    weight = {"caller": victim.agent, "source": "psychic_cache", "weight": 1.2}
    victim.ids["entry_id"] = (await make("/api/psychic-cache/write?wait=indexed", entry))["data"]["id"]
    victim.ids["checkpoint_id"] = (await make("/api/psychic-cache/write?wait=indexed", checkpoint))["data"][
        "id"
    ]
    learned = [await make("/api/agent-memory/commit", memory) for memory in memories]
    victim.ids["memory_ids"] = [memory["memory_id"] for memory in learned]
    await make("/api/context/review/rules", {"agent_name": victim.trainee}, "PUT")
    waiting = victim.memory(victim.text("waiting"), mission=True, private=False)
    held = await make("/api/agent-memory/commit", {**waiting, "agent_name": victim.trainee})
    assert held["review"] == "pending"
    victim.ids["waiting_id"] = held["memory_id"]
    uploads = [
        await make("/api/vault/files", {"path": path, "text": victim.text(canary)})
        for path, canary in victim.uploads().items()
    ]
    victim.ids["file_ids"] = [file for upload in uploads for file in upload["ids"]]
    known = await make("/api/memory/batch", {"memories": victim.long_term(victim.text)})
    victim.ids["long_term_ids"] = [memory["id"] for memory in known["results"]]
    victim.ids["fact_ids"] = [(await make("/api/kg/write", fact))["id"] for fact in victim.facts()]
    named = {"entity": "a hoard", "agent_name": victim.agent, "scope": f"agent:{victim.agent}"}
    await make("/api/kg/aliases", {"alias": victim.text("alias"), **named})
    victim.ids["dispatch_id"] = (await make("/api/dispatch/report", task))["data"]["id"]
    session = (await make("/api/sessions", victim.agent_session()))["data"]["id"]
    said = {"messages": [{"role": "user", "content": victim.text("said")}]}
    await make(f"/api/sessions/{session}/events", said)
    held = {"content": victim.text("object"), "object_type": "plan", "source_key": "the plan"}
    admitted = await make(f"/api/sessions/{session}/objects", held)
    learned_of = await make("/api/memory/consolidate", {"session_id": session})
    victim.ids["run_id"] = learned_of["run_id"]
    victim.ids["agent_session"], victim.ids["object_id"] = session, admitted["objects"][0]["id"]
    found = await make(f"/api/sessions/{session}/search", {"query": victim.text("object")})
    victim.ids["object_number"] = found["objects"][0]["number"]
    another = await make(
        f"/api/sessions/{session}/objects",
        {"content": victim.text("object2"), "object_type": "design_decision"},
    )
    edge = {"source_id": another["objects"][0]["id"], "target_id": victim.ids["object_id"]}
    because = {"relationship": "caused_by", "metadata": {"why": victim.text("because")}}
    related = await make(f"/api/sessions/{session}/relationships", {**edge, **because})
    victim.ids["relationship_id"] = related["data"]["id"]
    victim.ids["other_object_id"] = edge["source_id"]
    keeping = f"/api/sessions/{session}/objects/{victim.ids['object_id']}/persist"
    victim.ids["persistent_id"] = (await make(keeping, {"content": victim.text("kept")}))["id"]
    loose = f"/api/sessions/{victim.canary('nobodys_session')}"
    await make("/api/sessions", {"external_id": victim.canary("nobodys_session")})
    told = {"messages": [{"role": "user", "content": victim.text("nobodys_session")}] * 3}
    await make(f"{loose}/events", told)
    await make(f"{loose}/compact", {"force": True, "summary": victim.text("nobodys_session")})
    kept = await make(f"{loose}/objects", {**held, "content": victim.text("nobodys_session")})
    victim.ids["nobodys_object_id"] = kept["objects"][0]["id"]
    read = await make(f"/api/persistent-objects/{victim.ids['persistent_id']}", None, "GET")
    victim.ids["persistent_number"] = read["data"]["number"]
    profiles = [
        {"agent_name": victim.agent, "text": victim.text("agent_profile")},
        {"user_id": victim.user, "text": victim.text("user_profile")},
    ]
    for profile in profiles:
        await make("/api/context/profiles", profile, "PUT")
    assembly = await make("/api/context/assemble", question)
    victim.ids["assembly_id"] = assembly["assembly_id"]
    victim.ids["taken"] = [source["handle"] for source in assembly["sources"]]
    key = {"name": victim.canary("key"), "agent": victim.agent, "users": [victim.user]}
    victim.ids["key_id"] = (await make("/api/context/keys", key))["key"]["id"]
    saved = {**victim.thread(), "checkpoint_id": "1"}
    state = {"state": {"said": victim.text("saved")}, "run_id": "run"}
    await make("/api/checkpoints", {**saved, **state}, "PUT")
    wrote = {"place": 0, "channel": "said", "value": {"said": victim.text("pending")}}
    await make("/api/checkpoints/writes", {**saved, "task_id": "task", "writes": [wrote]}, "PUT")
    # Of no mission alone: the attacks purge that one first.
    hook = {"url": "https://hooks.example/", "kinds": ["none"], "description": victim.canary("webhook")}
    victim.ids["webhook_id"] = (await make("/api/webhooks", hook))["webhook"]["id"]
    # It then stands still, whatever happens meanwhile.
    await make(f"/api/webhooks/{victim.ids['webhook_id']}", {"status": "paused"}, "PATCH")
    await make("/api/context/weights", weight, "PUT")
    await make("/api/context/budgets", {"caller": victim.agent, "default_budget": 3_000}, "PUT")
    return victim

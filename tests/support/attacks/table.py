"""What each operation is asked, to reach a victim's rows: arguments by name, whether they stand in path, query or body.

An MCP tool takes the same arguments. `test_every_operation_is_attacked` fails for an operation without a row here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from services.context.mcp.resources import RESOURCES
from tests.support.attacks.victim import Victim

Arguments = dict[str, Any]
Attack = Callable[[Victim], list[Arguments]]

LINES = "lines"
"""The argument that is a whole body of JSON Lines."""
STREAM = "stream"
"""The argument that asks for the stream of the timeline instead of a page."""

LONG_AGO = "2020-01-01T00:00:00Z"


def _nothing(_: Victim) -> list[Arguments]:
    return [{}]


def _prompt(v: Victim) -> list[Arguments]:
    named = [{"path": path} for path in v.files()] + [{"handle": handle} for handle in v.handles()]
    blocks = [{"name": f"{place}", "stability": "stable", **one} for place, one in enumerate(named)]
    return [
        *({"blocks": blocks[start : start + 15]} for start in range(0, len(blocks), 15)),
        *({"context": asked} for asked in _question(v)),
    ]


def _question(v: Victim) -> list[Arguments]:
    asked = {"query": "the treasure", "token_budget": 16_000, "explicit_links": v.files()}
    return [
        {**asked, "caller": v.agent},
        {**asked, "caller": v.agent, "log": False, "mission_namespace": v.mission, "user_id": v.user},
        {**asked, "caller": "mallory", "mission_namespace": v.mission},
        {**asked, "caller": "mallory", "user_id": v.user},
        {**asked, "caller": "mallory", "scopes": v.scopes()},
        {**asked, "caller": "mallory", "debug": True},
        {**asked, "caller": "mallory"},
        {"query": "the treasure"},
    ]


def _feedback(v: Victim) -> list[Arguments]:
    assembly = {"assembly_id": v.ids["assembly_id"]}
    return [{**assembly, "used_source_ids": used} for used in ([], v.ids["taken"], v.handles())]


def _remember(v: Victim) -> list[Arguments]:
    said = {"text": "the treasure is mine", "recalled_from": v.ids["assembly_id"]}
    return [
        {**said, "caller": v.agent, "mission_namespace": v.mission, "user_id": v.user},
        {**said, "caller": v.agent},
        {**said, "caller": "mallory", "mission_namespace": v.mission, "session_id": v.canary("session")},
        {**said, "caller": "mallory", "user_id": v.user},
    ]


def _entries(v: Victim) -> list[Arguments]:
    mine = {**v.entry("the treasure is mine"), "recalled_from": v.ids["assembly_id"]}
    checkpoint = {**v.checkpoint("the treasure is mine"), "dispatch_id": v.ids["dispatch_id"]}
    del checkpoint["intel_source"]
    unnamed = {name: value for name, value in mine.items() if name not in ("agent_name", "user_id")}
    return [
        mine,
        checkpoint,
        unnamed,
        {**mine, "agent_name": "mallory"},
        {**unnamed, "dispatch_id": v.ids["dispatch_id"]},
    ]


def _memories(v: Victim) -> list[Arguments]:
    made = [
        v.memory(f"the treasure of {v.word} is mine {place}", mission=mission, private=private)
        for place, (mission, private) in enumerate(
            [(True, False), (True, True), (False, False), (False, True)]
        )
    ]
    return [*made, {**made[0], "agent_name": "mallory"}, {**made[0], "recalled_from": v.ids["assembly_id"]}]


def _of_agent(v: Victim) -> list[Arguments]:
    return [{"agent_name": v.agent}, {"agent_name": "mallory"}]


def _asked_of_agent(v: Victim) -> list[Arguments]:
    filters: list[Arguments] = [{}, {"memory_type": "lesson_learned"}]
    return [{**one, **more, "query": "the treasure"} for one in _of_agent(v) for more in filters]


def _edits(v: Victim) -> list[Arguments]:
    changes: list[Arguments] = [{"content": "the treasure is mine"}, {"private": False}, {"private": True}]
    return [{"memory_id": id_, **change} for id_ in v.ids["memory_ids"] for change in changes]


def _decisions(v: Victim) -> list[Arguments]:
    waiting = f"peer:{v.ids['waiting_id']}"
    stored = [f"cache:{v.ids['entry_id']}", *(f"peer:{id_}" for id_ in v.ids["memory_ids"])]
    stored += [f"memory:{id_}" for id_ in v.ids["long_term_ids"]] + [f"kg:{id_}" for id_ in v.ids["fact_ids"]]
    each: list[Arguments] = [
        {"decision": "approve"},
        {"decision": "edit", "content": "the treasure is mine"},
        {"decision": "merge", "into": f"peer:{v.ids['memory_ids'][0]}"},
        {"decision": "forget"},
    ]
    return [{"handle": handle, **decision} for decision in each for handle in (waiting, *stored)]


def _each_memory(v: Victim) -> list[Arguments]:
    return [{"memory_id": memory} for memory in v.ids["memory_ids"]]


def _each_long_term(v: Victim) -> list[Arguments]:
    return [{"memory_id": memory} for memory in v.ids["long_term_ids"]]


def _long_term(v: Victim) -> list[Arguments]:
    mine = v.long_term(lambda name: f"the treasure of {v.word} is mine, not a {name}")
    known = v.long_term(v.text)
    superseding = [{**memory, "supersedes": v.ids["long_term_ids"][0]} for memory in mine]
    return [*mine, *known, *superseding, *({**memory, "agent_name": "mallory"} for memory in (*mine, *known))]


def _long_term_edits(v: Victim) -> list[Arguments]:
    changes: list[Arguments] = [{"content": "the treasure is mine"}, {"topics": ["mine"]}, {"status": "done"}]
    return [{**one, **change} for one in _each_long_term(v) for change in changes]


def _long_term_lists(v: Victim) -> list[Arguments]:
    scopes = [{"in_scope": scope} for scope in (*v.scopes(), "shared")]
    return [{}, *scopes, {"user_id": v.user}, {"kind": "commitment"}]


def _due(v: Victim) -> list[Arguments]:
    times: Arguments = {"until": "2999-01-01T00:00:00Z", "since": LONG_AGO}
    scopes: list[Arguments] = [{"in_scope": scope} for scope in v.scopes()]
    named: list[Arguments] = [{}, *scopes, {"user_id": v.user}, {"owed_by": v.agent}]
    return [{**times, **one} for one in named]


def _long_term_searches(v: Victim) -> list[Arguments]:
    asked: Arguments = {"query": "the treasure", "limit": 50}
    named: list[Arguments] = [{}, *_of_agent(v), {"user_id": v.user}]
    scopes: list[Arguments] = [{"scopes": [scope]} for scope in v.scopes()]
    return [{**asked, **one} for one in [*named, *scopes, {"scopes": v.scopes(), "kinds": ["episode"]}]]


def _facts(v: Victim) -> list[Arguments]:
    """In the victim's places, as the victim, as another agent, and as nobody; with another value, and the same one."""
    made: list[Arguments] = []
    for fact in v.facts():
        taken = {**fact, "object": "the treasure is mine"}
        unnamed = {name: value for name, value in taken.items() if name != "agent_name"}
        about_nobody = {name: value for name, value in unnamed.items() if name != "user_id"}
        made += [taken, {**taken, "agent_name": "mallory"}, unnamed, about_nobody]
        made += [{**fact, "agent_name": "mallory"}, {**fact, "recalled_from": v.ids["assembly_id"]}]
    return made


def _asked_facts(v: Victim) -> list[Arguments]:
    entity = {"entity": v.facts()[0]["subject"]}
    places: list[Arguments] = [{}, *({"scopes": [scope]} for scope in v.scopes()), {"user_id": v.user}]
    times: list[Arguments] = [{}, {"every_time": True}]
    return [{**named, **place, **time} for named in ({}, entity) for place in places for time in times]


def _ended_facts(v: Victim) -> list[Arguments]:
    named = [
        {"subject": fact["subject"], "scope": fact["scope"], **about}
        for fact in v.facts()
        for about in ({"user_id": v.user}, {}, {"user_id": v.user, "agent_name": v.agent})
    ]
    return [*({"id": fact} for fact in v.ids["fact_ids"]), *named]


def _names(v: Victim) -> list[Arguments]:
    """Names that would move the victim's facts, and names for what is there."""
    hoard = v.facts()[0]["subject"]
    places: list[Arguments] = [{"scope": scope} for scope in v.scopes()]
    return [
        {"alias": alias, "entity": entity, **place, **who}
        for alias, entity in ((hoard, "mine"), ("mine", hoard))
        for place in places
        for who in ({}, {"agent_name": "mallory"}, {"agent_name": v.agent})
    ]


def _lost_names(v: Victim) -> list[Arguments]:
    return [
        {"alias": alias, **place, **who}
        for alias in (v.text("alias"), v.facts()[0]["subject"])
        for place in ({}, *({"scope": scope} for scope in v.scopes()))
        for who in ({}, {"agent_name": "mallory"}, {"agent_name": v.agent})
    ]


def _near(v: Victim, *more: Arguments) -> list[Arguments]:
    entity = {"entity": v.facts()[0]["subject"]}
    return [{**entity, **one} for one in ({}, {"user_id": v.user}, *more)]


def _each_entry(v: Victim) -> list[Arguments]:
    return [{"entry_id": v.ids[name]} for name in ("entry_id", "checkpoint_id")]


def _lines(v: Victim) -> list[Arguments]:
    line = {
        "id": v.ids["memory_ids"][0],
        "created_at": LONG_AGO,
        "updated_at": LONG_AGO,
        "written_by": "key:1",
        "source_kind": "agent",
        **_memories(v)[0],
    }
    return [{LINES: json.dumps({**line, "private": private}) + "\n"} for private in (True, False)]


def _lists(v: Victim) -> list[Arguments]:
    return [{}, {"agent_name": v.agent}, {"context_type": "thread_checkpoint"}, {"since": LONG_AGO}]


def _log(v: Victim) -> list[Arguments]:
    named = {
        "caller": v.agent,
        "mission_namespace": v.mission,
        "user_id": v.user,
        "session_id": v.canary("assembly"),
    }
    return [{}, *({name: value} for name, value in named.items())]


def _timeline(v: Victim) -> list[Arguments]:
    pages: list[Arguments] = [
        {"mission": v.mission},
        {"agent": v.agent},
        {"dispatch_id": v.ids["dispatch_id"]},
        {"kind": ["key_make"]},
        {},
    ]
    return [{"after": 0, "limit": 1_000, **page, **how} for page in pages for how in ({}, {STREAM: True})]


def _purges(v: Victim) -> list[Arguments]:
    named = {"mission_id": v.mission, "agent_name": v.agent, "user_id": v.user}
    scopes = [{"scope": scope} for scope in (*v.scopes(), "shared")]
    return [*({name: value} for name, value in named.items()), *scopes]


def _weight(v: Victim) -> list[Arguments]:
    return [{"caller": caller, "source": "psychic_cache", "weight": 0.3} for caller in (v.agent, "*")]


def _keys(v: Victim) -> list[Arguments]:
    name = {"name": "mine", "access": "admin"}
    return [{**name, "agent": v.agent}, {**name, "missions": [v.mission]}, {**name, "users": [v.user]}]


def _in_session(*bodies: Arguments) -> Attack:
    return lambda v: [{**session, **body} for session in v.sessions() for body in bodies or ({},)]


def _on_object(*bodies: Arguments) -> Attack:
    return lambda v: [{**held, **body} for held in v.held() for body in bodies or ({},)]


def _related(v: Victim) -> list[Arguments]:
    ends = {"source_id": v.ids["object_id"], "target_id": v.ids["other_object_id"]}
    edges = [
        {**ends, "relationship": kind, "metadata": {"why": "mine"}} for kind in ("depends_on", "parent_of")
    ]
    return [{**session, **edge} for session in v.sessions() for edge in edges]


def _begun(v: Victim) -> list[Arguments]:
    """The victim's session, and others of its name."""
    mine = v.agent_session()
    parts = [{name: value for name, value in mine.items() if name != left_out} for left_out in mine]
    return [mine, {**mine, "agent_name": "mallory"}, *parts, {"external_id": mine["external_id"]}]


def _listed_sessions(v: Victim) -> list[Arguments]:
    return [{}, {"agent_name": v.agent}, {"mission_id": v.mission}, {"user_id": v.user}]


def _thread(v: Victim) -> list[Arguments]:
    """The victim's thread, and threads of its name of others."""
    mine = v.thread()
    parts = [{name: value for name, value in mine.items() if name != left_out} for left_out in v.parties()]
    return [mine, {**mine, "agent_name": "mallory"}, *parts, {"thread_id": mine["thread_id"]}]


def _on_threads(*bodies: Arguments, name: str = "thread_id") -> Attack:
    def attack(v: Victim) -> list[Arguments]:
        named = [{**one, name: one.pop("thread_id")} for one in _thread(v)]
        return [{**one, **body} for one in named for body in bodies]

    return attack


def _pruned(v: Victim) -> list[Arguments]:
    named = [{**one, "thread_ids": [one.pop("thread_id")]} for one in _thread(v)]
    return [{**one, **body} for one in named for body in ({}, {"keep": 0}, {"run_ids": ["run"]})]


def _costs(v: Victim) -> list[Arguments]:
    return [{}, {"mission": v.mission}, {"agent": v.agent}]


def _hooks(v: Victim) -> list[Arguments]:
    url = {"url": "https://hooks.example/"}
    return [{**url, "missions": [v.mission]}, {**url, "agents": [v.agent]}, {**url, "after": 0}]


def _of(id_: str, **more: Any) -> Attack:
    """One request, for the victim's row of this name."""
    return lambda v: [{id_: v.ids[id_], **more}]


def _in_mission(*more: Arguments) -> Attack:
    return lambda v: [{"mission_id": v.mission, **one} for one in more or ({},)]


def _filters(*names: str) -> Attack:
    return lambda v: [{}, *({name: v.agent} for name in names)]


ATTACKS: Mapping[str, Attack] = {
    "agent_memory_batch": lambda v: [{"memories": [memory]} for memory in _memories(v)],
    "agent_memory_commit": _memories,
    "agent_memory_delete": _each_memory,
    "agent_memory_edit": _edits,
    "agent_memory_export": lambda v: [{}, *_of_agent(v)],
    "agent_memory_forget": lambda v: [{"agent_name": v.agent}],
    "agent_memory_get": _each_memory,
    "agent_memory_import": _lines,
    "agent_memory_list": _of_agent,
    "agent_memory_peer_query": lambda v: [
        {**one, "target_agent": one.pop("agent_name")} for one in _asked_of_agent(v)
    ],
    "agent_memory_pending_review": lambda v: [{"since": json.dumps({v.agent: LONG_AGO})}],
    "agent_memory_query": _asked_of_agent,
    "cache_all_entries": _lists,
    "cache_checkpoint": lambda v: [{"session_id": v.canary("session")}],
    "cache_clear": _in_mission({"reason": "operator"}),
    "cache_delete_entry": _each_entry,
    "cache_edit_tags": lambda v: [{**one, "tags": ["taken"]} for one in _each_entry(v)],
    "cache_entry": _each_entry,
    "cache_language": _in_mission(),
    "cache_limits": _in_mission(),
    "cache_mission_entries": lambda v: [{"mission_id": v.mission, **more} for more in _lists(v)],
    "cache_missions": _nothing,
    "cache_query": lambda v: [
        {"mission_id": mission, "query": "the treasure", **more}
        for mission in (v.mission, "*")
        for more in ({}, {"agent_name": v.agent}, {"context_types": ["intel"]})
    ],
    "cache_set_language": _in_mission({"language": "de"}),
    "cache_set_limits": _in_mission({"token_budget": 1, "entry_budget": 1}),
    "cache_stats": _in_mission(),
    "cache_write": _entries,
    "cache_write_batch": lambda v: [{"entries": [entry]} for entry in _entries(v)],
    "checkpoints_copy": _on_threads({"target_id": "mine"}, name="source_id"),
    "checkpoints_list": lambda v: [*_on_threads({}, {"limit": 50})(v), v.parties(), {}],
    "checkpoints_prune": _pruned,
    "checkpoints_put": _on_threads(
        {"checkpoint_id": "1", "state": {"said": "the treasure is mine"}},
        {"checkpoint_id": "2", "state": {"said": "the treasure is mine"}, "keep_last": 1},
    ),
    "checkpoints_put_writes": _on_threads(
        {
            "checkpoint_id": "1",
            "task_id": "task",
            "writes": [{"place": 0, "channel": "said", "value": {"said": "the treasure is mine"}}],
            "replace": True,
        }
    ),
    "context_assemble": _question,
    "context_audit": lambda v: [{}, {"target": f"agent:{v.agent}"}],
    "context_changes": lambda v: [{"session_id": v.canary("session"), "caller": v.agent}],
    "context_allowance": lambda v: [{}, {"mission": v.mission}, {"agent": v.agent}],
    "context_budgets": _filters("caller"),
    "context_ceilings": _nothing,
    "context_change_key": _of("key_id", name="mine"),
    "context_cost_calls": _costs,
    "context_savings": _costs,
    "context_costs": lambda v: [
        {**one, "by": by} for one in _costs(v) for by in ("agent", "mission", "session")
    ],
    "context_evaluate": _nothing,
    "context_explain": _of("assembly_id"),
    "context_feedback": _feedback,
    "context_get_key": _of("key_id"),
    "context_list_keys": _nothing,
    "context_backlog": _nothing,
    "context_me": _nothing,
    "context_language": _nothing,
    "context_log": _log,
    "context_log_callers": _nothing,
    "context_make_key": _keys,
    "context_delete_profile": lambda v: [{"agent_name": v.agent}, {"user_id": v.user}],
    "context_prompt": _prompt,
    "context_profiles": lambda v: [{}, {"agent_name": v.agent}, {"user_id": v.user}],
    "context_purge": _purges,
    "context_record_cost": lambda v: [
        {"model": "gpt-5", "cost_usd": "9", **one}
        for one in ({"agent": v.agent}, {"mission": v.mission}, {"agent": "mallory", "mission": v.mission})
    ],
    "context_remember": _remember,
    "context_replay": _of("assembly_id", token_budget=500),
    "context_given": lambda v: [{"handle": handle} for handle in v.handles()],
    "context_review": lambda v: [
        {},
        {"kind": "waiting"},
        {"agent": v.agent},
        {"agent": v.trainee},
        {"mission": v.mission},
    ],
    "context_review_decide": _decisions,
    "context_review_rules": _nothing,
    "context_set_review_rule": lambda v: [{"mission_id": v.mission}, {"agent_name": v.agent}],
    "context_reset_review_rule": lambda v: [{"agent": v.trainee}, {"mission": v.mission}],
    "context_reset_budget": lambda v: [{"caller": v.agent}],
    "context_reset_ceiling": lambda v: [{}, {"mission": v.mission}],
    "context_reset_weight": lambda v: [{"caller": v.agent, "source": "psychic_cache"}],
    "context_revoke_key": _of("key_id"),
    "context_rotate_key": _of("key_id", overlap_seconds=0),
    "context_secret_policy": _nothing,
    "context_set_budget": lambda v: [{"caller": caller, "default_budget": 200} for caller in (v.agent, "*")],
    "context_set_ceiling": lambda v: [
        {"limit_usd": "0"},
        {"limit_usd": "0", "mission_id": v.mission},
    ],
    "context_set_profile": lambda v: [
        {"agent_name": v.agent, "text": "the treasure is mine"},
        {"user_id": v.user, "text": "the treasure is mine", "background": True},
    ],
    "context_set_language": lambda _: [{"language": "de"}],
    "context_set_secret_policy": lambda _: [{"policy": "allow"}],
    "context_set_weight": _weight,
    "context_source": lambda v: [
        {"handle": handle, **more}
        for handle in v.handles()
        for more in ({}, {"assembly_id": v.ids["assembly_id"]})
    ],
    "context_weight_history": _filters("caller"),
    "context_weights": _filters("caller"),
    "dispatch_get": _of("dispatch_id"),
    "dispatch_list": lambda v: [{}, {"mission_id": v.mission}, {"agent_name": v.agent}],
    "dispatch_progress": _of("dispatch_id", note="taken over"),
    "dispatch_report": lambda v: [
        {
            "mission_id": v.mission,
            "agent_name": agent,
            "task": "mine",
            "parent_dispatch_id": v.ids["dispatch_id"],
        }
        for agent in (v.agent, "mallory")
    ],
    # After the others: what is completed answers 409.
    "dispatch_complete": _of("dispatch_id", outcome="failed"),
    "session_admissions": _in_session({}),
    "memory_consolidate": lambda v: [
        {"session_id": session} for session in (v.ids["agent_session"], v.canary("nobodys_session"))
    ],
    "memory_consolidation": _of("run_id"),
    "memory_consolidation_changes": _of("run_id"),
    "memory_consolidations": lambda v: [{}, {"session_id": v.ids["agent_session"]}],
    "memory_undo_consolidation": _of("run_id"),
    "persistent_objects_forget": _of("persistent_id"),
    "persistent_objects_get": _of("persistent_id"),
    "persistent_objects_list": lambda v: [{"user_id": v.user}],
    "persistent_objects_reinforce": _of("persistent_id"),
    "session_admit": _in_session(
        {"content": "the treasure is mine", "object_type": "plan", "source_key": "the plan"}
    ),
    "session_append": _in_session({"messages": [{"role": "user", "content": "the treasure is mine"}]}),
    "session_compact": _in_session({"force": True}, {"force": True, "summary": "the treasure is mine"}),
    "session_complete": _in_session({"status": "abandoned"}),
    "session_context": _in_session(),
    "session_conversation": _in_session(),
    "session_create": _begun,
    "session_delete": _in_session(),
    "session_fault": _on_object({}, {"fault_type": "entropy_triggered"}),
    "session_faults": _in_session({}),
    "session_get": _in_session(),
    "session_goal": _in_session({"goal": "find the treasure"}, {}),
    "session_history": _in_session({}, {"full": True}),
    "session_list": _listed_sessions,
    "session_numbered_object": lambda v: [{"number": v.ids["object_number"]}],
    "session_object": _on_object(),
    "session_persist": _on_object({}, {"content": "the treasure is mine"}),
    "session_pin": _on_object({"reason": "mine"}),
    "session_pressure": _in_session(),
    "session_query": lambda v: [
        {**session, "question": "Where is the treasure?", **more}
        for session in v.sessions()
        for more in ({}, {"object_id": v.ids["object_id"]})
    ],
    "session_rebuild": _in_session(),
    "session_relate": _related,
    "session_relationships": _in_session({}),
    "session_release": _on_object({}, {"fidelity": 4}),
    "session_reset": lambda v: [*v.sessions(), {"agent_name": v.agent}, {"all": True}],
    "session_objects": _in_session({}),
    "session_transitions": _in_session({}),
    "session_search": _in_session({"query": "treasure"}, {"query": "treasure", "superseded": True}),
    "session_turn": lambda v: [
        {"session_id": held["session_id"], "released": [held["object_id"]], **more}
        for held in v.held()
        for more in (
            {},
            {"admit": [{"content": "the treasure is mine", "object_type": "plan"}], "context": True},
        )
    ],
    "session_unpin": _on_object(),
    "session_unrelate": lambda v: [
        {**session, "relationship_id": v.ids["relationship_id"]} for session in v.sessions()
    ],
    "vault_index": _nothing,
    "vault_list": lambda v: [{}, {"folder": "agents/"}],
    "vault_part": lambda v: [{"file_id": file} for file in v.ids["file_ids"]],
    "vault_put": lambda v: [
        {"path": path, "text": "the treasure is mine"} for path in (*v.uploads(), f"agents/{v.agent}/mine.md")
    ],
    "vault_read": lambda v: [{"path": path} for path in (*v.uploads(), *v.files())],
    "vault_remove": lambda v: [{"path": path} for path in v.uploads()],
    "vault_search": lambda v: [
        {"query": "the treasure", **more}
        for more in (
            {},
            {"folder": "users/"},
            {"agent_name": v.agent},
            {"mission_namespace": v.mission},
            {"user_id": v.user},
        )
    ],
    "memory_delete": _each_long_term,
    "memory_due": _due,
    "memory_edit": _long_term_edits,
    "memory_get": _each_long_term,
    "memory_list": _long_term_lists,
    "memory_search": _long_term_searches,
    "memory_write": _long_term,
    "memory_write_batch": lambda v: [{"memories": [memory]} for memory in _long_term(v)],
    "kg_add": lambda v: [{**fact, "single": True} for fact in _facts(v)],
    "kg_add_alias": _names,
    "kg_aliases": lambda v: [{}, {"name": v.facts()[0]["subject"]}, {"name": v.text("alias")}],
    "kg_batch": lambda v: [{"facts": [fact]} for fact in _facts(v)],
    "kg_get": lambda v: [{"fact_id": fact} for fact in v.ids["fact_ids"]],
    "kg_invalidate": _ended_facts,
    "kg_neighbours": lambda v: _near(v, {"hops": 4}),
    "kg_predicates": lambda v: [{}, {"user_id": v.user}],
    "kg_query": _asked_facts,
    "kg_remove_alias": _lost_names,
    "kg_stats": lambda v: [{}, {"user_id": v.user}],
    "kg_timeline": lambda v: _near(v, {"scopes": v.scopes()}),
    "kg_write": _facts,
    "monitor": lambda v: [{}, {"mission": v.mission}, {"minutes": 60}],
    "timeline": _timeline,
    "webhooks_change": _of("webhook_id", url="https://mine.example/", status="active"),
    "webhooks_delete": _of("webhook_id"),
    "webhooks_deliveries": _of("webhook_id"),
    "webhooks_get": _of("webhook_id"),
    "webhooks_list": _nothing,
    "webhooks_make": _hooks,
    "webhooks_redeliver": lambda v: [
        {"webhook_id": v.ids["webhook_id"], **more} for more in ({}, {"seq": 1})
    ],
    "webhooks_rotate": _of("webhook_id", overlap_seconds=0),
    "webhooks_send_test": _of("webhook_id"),
}

# What a victim's name for a resource's place in braces is.
_PLACES: Mapping[str, Callable[[Victim], list[Any]]] = {
    "mission_id": lambda v: [v.mission],
    "mission": lambda v: [v.mission],
    "after": lambda _: [0],
    "handle": lambda v: v.handles(),
}


def resource_uris(victim: Victim) -> list[str]:
    """The addresses of MCP resources that lead to the victim's rows. Raises KeyError for an unknown place."""
    uris: list[str] = []
    for resource in RESOURCES:
        if not resource.is_template:
            uris.append(resource.uri)
            continue
        start, _, rest = resource.uri.partition("{")
        place, _, end = rest.partition("}")
        uris += [f"{start}{value}{end}" for value in _PLACES[place](victim)]
    return uris

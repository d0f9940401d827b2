"""What has to say something is refused where it is blank, and what is quoted, kept or looked up by is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from services.agent_memory.facts.schemas import FactInput, InvalidateFactInput, QueryFactsInput
from services.agent_memory.facts.schemas_reading import AliasInput, RemoveAliasInput
from services.agent_memory.long_term.schemas import EditMemoryInput, WriteMemoryInput
from services.agent_memory.memories.schemas import (
    CommitAgentMemoryInput,
    CommitBatchInput,
    EditAgentMemoryInput,
)
from services.agent_memory.memories.schemas_transfer import ExportedMemory
from services.agent_memory.vault.schemas import PutFileInput
from services.cache.dispatches.schemas import CompleteInput, ProgressInput, ReportInput
from services.cache.entries.schemas import QueryCacheInput, TagsInput, WriteCacheInput
from services.cache.persistent.schemas import PersistInput
from services.cache.sessions.asking.schemas import GoalInput
from services.cache.sessions.objects.schemas import AdmitInput, PinInput
from services.cache.sessions.trail.schemas import AppendInput, CompactInput
from services.context.keys.schemas import KeyInput
from services.context.profiles.schemas import ProfileInput
from services.context.prompts.schemas import PromptInput
from services.context.remember.schemas import RememberInput
from services.context.review.schemas import DecisionInput
from services.context.webhooks.schemas import WebhookInput
from shared.body import decode
from shared.errors import Conflict, Invalid
from shared.review.reviews import write_of
from tests.support.openapi import DOCUMENT

BLANK = pytest.mark.parametrize("blank", ["   ", "\n\t", "\u3000\u00a0", "\u200b", "\ufeff \u2060"])
B = "<blank>"
TASK = {"skills_used": [], "outcome": "success"}
LEARNED = {"memory_type": "lesson_learned"}
CHECKPOINT = {
    "context_type": "thread_checkpoint",
    "content": "half way",
    "session_id": "s",
    "turn_count": 1,
    "active_dispatches": [],
    "open_decisions": [],
    "pending_directives": [],
    "current_mission_namespaces": ["m"],
}
REFUSED: list[tuple[Any, dict[str, Any], list[str]]] = [
    (CommitAgentMemoryInput, {"content": B, **LEARNED}, ["content"]),
    (CommitBatchInput, {"memories": [{"content": B, **LEARNED}]}, ["memories[0].content"]),
    (
        CommitAgentMemoryInput,
        {"content": "x", **LEARNED, "task_context": {**TASK, "task_description": B}},
        ["task_context.task_description"],
    ),
    (EditAgentMemoryInput, {"content": B}, ["content"]),
    (
        EditAgentMemoryInput,
        {"task_context": {**TASK, "task_description": B}},
        ["task_context.task_description"],
    ),
    (
        WriteMemoryInput,
        {"kind": "episode", "content": B, "topics": ["a", B], "tone": B},
        ["content", "topics[1]", "tone"],
    ),
    (EditMemoryInput, {"content": B}, ["content"]),
    (FactInput, {"subject": B, "predicate": B, "object": B}, ["subject", "predicate", "object"]),
    (AliasInput, {"alias": B, "entity": "x"}, ["alias"]),
    (AliasInput, {"alias": "x", "entity": B}, ["entity"]),
    (
        WriteCacheInput,
        {"context_type": "decision", "content": B, "decision_rationale": B, "decision_alternatives": [B]},
        ["content", "decision_rationale", "decision_alternatives[0]"],
    ),
    (
        WriteCacheInput,
        {"context_type": "state_change", "content": "x", "state_from": B, "state_to": B, "tags": [B]},
        ["tags[0]", "state_from", "state_to"],
    ),
    (WriteCacheInput, {**CHECKPOINT, "working_state_prose": B}, ["working_state_prose"]),
    (TagsInput, {"tags": ["a", B]}, ["tags[1]"]),
    (ReportInput, {"task": B}, ["task"]),
    (ProgressInput, {"note": B}, ["note"]),
    (CompleteInput, {"outcome": "success", "summary": B}, ["summary"]),
    (AdmitInput, {"content": "x", "object_type": "plan", "fault_when": [B]}, ["fault_when[0]"]),
    (PinInput, {"reason": B}, ["reason"]),
    (PersistInput, {"content": B}, ["content"]),
    (CompactInput, {"summary": B}, ["summary"]),
    (GoalInput, {"goal": B}, ["goal"]),
    (ProfileInput, {"agent_name": "ana", "text": B}, ["text"]),
    (DecisionInput, {"handle": "own:1", "decision": "edit", "content": B}, ["content"]),
    (WebhookInput, {"url": "https://x.example/", "description": B}, ["description"]),
    (KeyInput, {"name": B}, ["name"]),
]
LINE = {
    "id": 1,
    "agent_name": "ana",
    "written_by": "key:1",
    "source_kind": "agent",
    "created_at": "2020-01-01T00:00:00Z",
    "updated_at": "2020-01-01T00:00:00Z",
    **LEARNED,
}
TAKEN: list[tuple[Any, dict[str, Any]]] = [
    (ExportedMemory, {**LINE, "content": B, "task_context": {**TASK, "task_description": B}}),
    (RememberInput, {"messages": [{"role": "assistant", "content": B}]}),
    (AdmitInput, {"content": B, "object_type": "tool_result"}),
    (AppendInput, {"messages": [{"role": "user", "text": B}]}),
    (
        AppendInput,
        {
            "messages": [
                {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "1", "content": B}]}
            ]
        },
    ),
    (PutFileInput, {"path": "shared/empty.md", "text": B}),
    (PromptInput, {"blocks": [{"name": "gap", "stability": "stable", "text": B}]}),
    (PromptInput, {"sources": {"http": {"text": B}}}),
    (QueryFactsInput, {"entity": B, "predicate": B}),
    (InvalidateFactInput, {"subject": B, "predicate": B, "object": B}),
    (QueryCacheInput, {"query": B, "tags": [B]}),
]


def filled(value: Any, blank: str) -> Any:
    return json.loads(json.dumps(value).replace(B, json.dumps(blank)[1:-1]))


def raw(value: Any, blank: str) -> bytes:
    return json.dumps(filled(value, blank)).encode()


def named(kind: Any, index: int) -> str:
    return f"{getattr(kind, '__name__', 'Entry')}-{index}"


@BLANK
@pytest.mark.parametrize(
    ("kind", "body", "fields"), REFUSED, ids=[named(kind, at) for at, (kind, *_) in enumerate(REFUSED)]
)
def test_what_has_to_say_something(kind: Any, body: dict[str, Any], fields: list[str], blank: str) -> None:
    decoder = msgspec.json.Decoder(kind)
    decode(raw(body, "\u200b a "), decoder)
    with pytest.raises(Invalid) as refused:
        decode(raw(body, blank), decoder)
    errors = refused.value.errors or []
    assert [error["field"] for error in errors] == fields
    assert all("blank" in error["message"] for error in errors)


@BLANK
@pytest.mark.parametrize(("kind", "body"), TAKEN, ids=[named(kind, at) for at, (kind, _) in enumerate(TAKEN)])
def test_what_is_taken_as_it_is(kind: Any, body: dict[str, Any], blank: str) -> None:
    decode(raw(body, blank), msgspec.json.Decoder(kind))


def test_an_alias_that_was_taken_once_can_be_removed() -> None:
    assert decode(raw({"alias": B}, "\u200b"), msgspec.json.Decoder(RemoveAliasInput)).alias == "\u200b"


def test_what_waits_since_an_earlier_release_is_refused_in_words() -> None:
    body = {"agent_name": "ana", "content": "  ", **LEARNED}
    with pytest.raises(Conflict, match=r"content: must be a string .* not a blank one"):
        write_of(body, CommitAgentMemoryInput)
    assert write_of(body, CommitAgentMemoryInput, "Drain first").content == "Drain first"
    assert body["content"] == "  "


# What a thing is known by, or looked up by.
NAMES = {
    "agent",
    "agent_name",
    "agents[]",
    "alias",
    "caller",
    "channel",
    "confirm",
    "current_mission_namespaces[]",
    "cursor",
    "directive_target",
    "entity",
    "escalation_target",
    "explicit_links[]",
    "external_id",
    "folder",
    "id",
    "kind",
    "kinds[]",
    "media_type",
    "mission",
    "mission_id",
    "mission_namespace",
    "missions[]",
    "model",
    "name",
    "object",
    "origin",
    "owed_by",
    "owed_to",
    "path",
    "paths[]",
    "predicate",
    "query",
    "question",
    "run_id",
    "run_ids[]",
    "scope",
    "scopes[]",
    "session_id",
    "skills_used[]",
    "source",
    "source_id",
    "source_key",
    "source_tool",
    "speaker",
    "subject",
    "symbols[]",
    "target_agent",
    "target_id",
    "tenant",
    "thread_id",
    "thread_ids[]",
    "tier",
    "tiers.*[]",
    "tool_use_id",
    "url",
    "used_source_ids[]",
    "user_id",
    "users[]",
    "written_by",
}
# What is asked, quoted or kept as it is, may be left blank, or was stored by an earlier release.
AS_IT_IS = {
    "AdmitInput.content",
    "BlockInput.text",
    "EditMemoryInput.tone",
    "ExportedMemory.content",
    "Message.content",
    "PutFileInput.content",
    "PutFileInput.text",
    "QueryCacheInput.tags[]",
    "RelateInput.metadata.*",
    "RememberInput.text",
    "SourceInput.text",
    "TaskContext.task_description",
}


def test_every_text_of_a_request_has_to_say_something_or_is_listed() -> None:
    """A new field is a `Name`, or one of the types of `shared.text` that a blank text does not fit, or it is added."""
    unsaid = {
        f"{name}.{place}"
        for name, schema in DOCUMENT["components"]["schemas"].items()
        for field, told in schema.get("properties", {}).items()
        for place in _unsaid(told, field)
        if place not in NAMES
    }
    assert unsaid == AS_IT_IS


def _unsaid(told: dict[str, Any], place: str) -> Iterator[str]:
    """The texts of a field that must not be empty, and may be blank."""
    if told.get("type") == "string" and told.get("minLength") and not {"pattern", "enum"} & told.keys():
        yield place
    for choice in told.get("anyOf", ()):
        yield from _unsaid(choice, place)
    for key, mark in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(told.get(key), dict):
            yield from _unsaid(told[key], place + mark)

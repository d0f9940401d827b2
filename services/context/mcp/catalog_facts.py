"""The tools of facts."""

from __future__ import annotations

from services.context.mcp.tool import Tool

_SOURCE_OF_FACT = ("confidence", "dispatch_id", "recalled_from", "source_kind")

FACTS: tuple[Tool, ...] = (
    Tool(
        "kg_add",
        "kg_add",
        "State a fact of a person or a thing as a triple: subject, predicate, object.\nUse it for what has a name and "
        "a value or a relation, and may change; context blocks show what holds of the names in a question. Lessons go "
        "to commit_agent_memory, events to remember. With single, the new value closes the old one.",
        without=_SOURCE_OF_FACT,
        fields={
            "agent_name": "Who states it.",
            "object": "The value, or another name.",
            "scope": "Who may read it: shared for all. Default: its mission's agents, else you alone.",
            "single": "It has one value at a time.",
            "subject": "The name it is about.",
            "valid_from": "Since when; else now.",
            "valid_to": "Until when; else it is open.",
        },
    ),
    Tool(
        "kg_query",
        "kg_query",
        "Facts of a name, of a predicate, or all: those that hold now, or held at a time, or were believed at one.",
        fields={
            "at": "Facts that held then.",
            "entity": "A name, as subject or object.",
            "every_time": "Also what holds no longer.",
            "known_at": "As it was believed then.",
            "scopes": "Of these scopes only.",
            "user_id": "About this user or nobody.",
        },
    ),
    Tool(
        "kg_invalidate",
        "kg_invalidate",
        "Close facts that no longer hold, by id or by subject. Nothing is erased: queries of earlier times find them.",
        destructive=True,
        idempotent=True,
        without=("source_kind",),
        fields={
            "agent_name": "Who says so.",
            "at": "Since when; else now.",
            "id": "The fact.",
            "object": "Only this value.",
            "predicate": "Only of this predicate.",
            "scope": "The scope of the facts.",
            "subject": "The name they are about.",
        },
    ),
    Tool(
        "kg_timeline",
        "kg_timeline",
        "The history of a name: what held of it and when, the earliest first.",
        fields={
            "entity": "The name.",
            "known_at": "As it was believed then.",
            "scopes": "Of these scopes only.",
        },
    ),
    Tool(
        "kg_stats",
        "kg_stats",
        "How many facts there are, of how many names and predicates.",
        fields={"user_id": "About this user or nobody."},
    ),
)

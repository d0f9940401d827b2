"""How a long-term memory is indexed."""

from __future__ import annotations

from typing import Any

from services.agent_memory.long_term.content import row_of, words_of, written
from services.agent_memory.long_term.schemas import WriteMemoryInput
from shared.auth import Principal

WHO = Principal("acme", "key", frozenset(["write"]))


def head(**more: Any) -> list[str]:
    memory = WriteMemoryInput(kind="knowledge", content="The ferry leaves at dawn.", scope="shared", **more)
    words = words_of(row_of(WHO.tenant, written(WHO, memory)))
    return words.head.split()


def test_the_speaker_of_a_turn_weighs_more_than_a_mention() -> None:
    assert head(speaker="Ida").count("Ida") == 2
    assert head(agent_name="scout").count("scout") == 1

"""What a reviewer is shown of a long-term memory that waits. Pure."""

from __future__ import annotations

from services.agent_memory.long_term.content import LongTermContent
from services.agent_memory.long_term.schemas import WriteMemoryInput
from shared.review.reviews import About
from shared.review.schemas import Waiting

STORE = "memory"


def about(memory: LongTermContent) -> About:
    kind, _, name = memory.scope.partition(":")
    return About(memory.scope, name if kind == "mission" else None, memory.agent_name, memory.user_id)


def waiting_of(memory: LongTermContent, given: WriteMemoryInput, rules: list[str]) -> Waiting:
    return Waiting(
        **about(memory)._asdict(),
        store=STORE,
        session_id=memory.session_id,
        rules=rules,
        content=memory.content,
        body=given,
        source_kind=memory.source_kind,
        source_claim=memory.source_claim,
    )

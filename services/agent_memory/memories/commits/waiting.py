"""What a reviewer is shown of a commit that waits. Pure."""

from __future__ import annotations

from services.agent_memory.memories.commits.content import MemoryContent
from services.agent_memory.memories.commits.queries_repeats import Commit
from services.agent_memory.memories.schemas import CommitAgentMemoryInput
from shared.review.reviews import About
from shared.review.schemas import Waiting

STORE = "agent_memory"


def about(agent: str, memory: MemoryContent) -> About:
    return About(f"agent:{agent}", memory.mission_namespace, agent, memory.user_id)


def waiting_of(commit: Commit, given: CommitAgentMemoryInput, rules: list[str]) -> Waiting:
    memory = commit.memory
    return Waiting(
        store=STORE,
        scope=f"agent:{commit.agent}",
        mission_id=memory.mission_namespace,
        agent_name=commit.agent,
        user_id=memory.user_id,
        session_id=memory.session_id,
        rules=rules,
        content=memory.content,
        body=given,
        source_kind=memory.source_kind,
        source_claim=memory.source_claim,
    )

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from services.agent_memory.memories.commits.content import MemoryContent, merge

TRUSTED = ["user", "agent"]
UNTRUSTED = ["tool", "document", "derived"]
TIERS = ["task_blueprint", "skill_heuristic", "domain_pattern", "lesson_learned"]


def contents(kinds: list[str] | None = None) -> st.SearchStrategy[MemoryContent]:
    return st.builds(
        MemoryContent,
        content=st.sampled_from(["Port 5433", "port 5433!"]),
        memory_type=st.sampled_from(TIERS),
        task_description=st.none() | st.just("a task"),
        skills_used=st.lists(st.sampled_from(["sql", "bash"]), max_size=2),
        outcome=st.none() | st.sampled_from(["success", "partial", "failed"]),
        mission_namespace=st.none() | st.sampled_from(["one", "two"]),
        private=st.booleans(),
        written_by=st.sampled_from(["k1", "k2"]),
        source_kind=st.sampled_from(kinds or TRUSTED + UNTRUSTED),
        dispatch_id=st.none() | st.integers(1, 3),
    )


def public(memory: MemoryContent) -> MemoryContent:
    return msgspec.structs.replace(memory, private=False)


@given(contents(TRUSTED), contents(UNTRUSTED))
def test_untrusted_text_never_overwrites_trusted(stored: MemoryContent, repetition: MemoryContent) -> None:
    assert public(merge(stored, repetition)) == public(stored)


@given(contents(UNTRUSTED), contents(TRUSTED))
def test_trusted_text_replaces_untrusted(stored: MemoryContent, repetition: MemoryContent) -> None:
    assert public(merge(stored, repetition)) == public(repetition)


@given(contents(TRUSTED), contents(TRUSTED))
def test_among_equals_the_first_wording_stays_and_the_latest_tier_and_outcome_hold(
    stored: MemoryContent, repetition: MemoryContent
) -> None:
    both = merge(stored, repetition)
    assert (both.content, both.source_kind, both.written_by) == (
        stored.content,
        stored.source_kind,
        stored.written_by,
    )
    assert both.memory_type == repetition.memory_type
    assert both.outcome == (repetition.outcome or stored.outcome)
    assert both.mission_namespace == (stored.mission_namespace or repetition.mission_namespace)


@given(contents(), contents())
def test_what_was_private_stays_private(stored: MemoryContent, repetition: MemoryContent) -> None:
    assert merge(stored, repetition).private == (stored.private or repetition.private)


@given(contents(), contents(), contents())
def test_a_repeat_of_a_repeat_changes_nothing(a: MemoryContent, b: MemoryContent, c: MemoryContent) -> None:
    assert merge(merge(a, b), b) == merge(a, b)
    trusted = [one.content for one in (a, b, c) if one.trusted]
    assert merge(merge(a, b), c).content == (trusted or [a.content])[0]

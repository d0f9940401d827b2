from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from services.agent_memory.memories.merging import Statement, merge

TRUSTED = ["user", "agent"]
UNTRUSTED = ["tool", "document", "derived"]
TIERS = ["task_blueprint", "skill_heuristic", "domain_pattern", "lesson_learned"]


def statements(kinds: list[str] | None = None) -> st.SearchStrategy[Statement]:
    return st.builds(
        Statement,
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


def public(said: Statement) -> Statement:
    return msgspec.structs.replace(said, private=False)


@given(statements(TRUSTED), statements(UNTRUSTED))
def test_untrusted_text_never_overwrites_trusted(known: Statement, repeat: Statement) -> None:
    assert public(merge(known, repeat)) == public(known)


@given(statements(UNTRUSTED), statements(TRUSTED))
def test_trusted_text_replaces_untrusted(known: Statement, repeat: Statement) -> None:
    assert public(merge(known, repeat)) == public(repeat)


@given(statements(TRUSTED), statements(TRUSTED))
def test_among_equals_the_first_wording_stays_and_the_latest_tier_and_outcome_hold(
    known: Statement, repeat: Statement
) -> None:
    both = merge(known, repeat)
    assert (both.content, both.source_kind, both.written_by) == (
        known.content,
        known.source_kind,
        known.written_by,
    )
    assert both.memory_type == repeat.memory_type
    assert both.outcome == (repeat.outcome or known.outcome)
    assert both.mission_namespace == (known.mission_namespace or repeat.mission_namespace)


@given(statements(), statements())
def test_what_was_private_stays_private(known: Statement, repeat: Statement) -> None:
    assert merge(known, repeat).private == (known.private or repeat.private)


@given(statements(), statements(), statements())
def test_a_repeat_of_a_repeat_changes_nothing(a: Statement, b: Statement, c: Statement) -> None:
    assert merge(merge(a, b), b) == merge(a, b)
    trusted = [one.content for one in (a, b, c) if one.trusted]
    assert merge(merge(a, b), c).content == (trusted or [a.content])[0]

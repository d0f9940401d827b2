"""What feedback makes of weights, shares and budgets, and a logged assembly packed anew."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.context.learning import rules as learning
from services.context.learning.evaluation import START
from services.context.learning.rules import BudgetSetting, Effectiveness, Experience, Setting
from services.context.log.replay import LoggedCandidate, replay

UNIT = st.floats(0, 1)


def one(handle: str, *, tokens: int = 50, taken: int = 50, score: float = 0.5) -> LoggedCandidate:
    return LoggedCandidate(handle, score, 1.0, score, 1.0, 1.0, tokens, taken, "taken" if taken else "budget")


def experience(
    handles: list[str], used: list[str], *, explicit: bool = True, budget: int = 1000, total: int = 500
) -> Experience:
    return Experience([one(h) for h in handles], frozenset(used), explicit, budget, total)


def test_the_three_dimensions() -> None:
    batch = [
        experience(["cache:1", "cache:2", "peer:1"], ["cache:1"]),
        experience(["cache:3", "own:9#2"], ["own:9"]),
    ]
    seen = learning.measure(batch)
    assert seen["psychic_cache"] == Effectiveness(2 / 4, 1 / 3, 1.0)
    assert seen["agent_memory_peer"] == Effectiveness(1 / 3, 0.0, 0.5)
    assert seen["agent_memory_own"] == Effectiveness(2 / 3, 1.0, 0.5)
    assert seen["psychic_cache"].total == pytest.approx(0.5 * 0.5 + 0.3 / 3 + 0.2)


def test_weak_signals_count_half() -> None:
    strong = experience(["cache:1", "peer:1"], ["cache:1"])
    weak = experience(["cache:1", "peer:1"], ["peer:1"], explicit=False)
    seen = learning.measure([strong, weak])
    assert seen["psychic_cache"].usage_rate == pytest.approx(2 / 3)
    assert seen["agent_memory_peer"].usage_rate == pytest.approx(1 / 3)


def test_what_was_dropped_or_linked_is_no_appearance() -> None:
    dropped = Experience(
        [one("cache:1", taken=0), one("link:a.md"), one("own:1")], frozenset(["cache:1"]), True, 1000, 500
    )
    assert set(learning.measure([dropped])) == {"agent_memory_own"}


@given(
    st.dictionaries(
        st.sampled_from(sorted(START)), st.builds(Effectiveness, UNIT, UNIT, UNIT), max_size=len(START)
    ),
    st.dictionaries(
        st.sampled_from(sorted(START)),
        st.builds(Setting, st.floats(0.0, 10.0), UNIT, st.booleans()),
        min_size=len(START),
    ),
)
def test_settings_stay_within_their_bounds(
    seen: dict[str, Effectiveness], settings: dict[str, Setting]
) -> None:
    changed = learning.adjust(settings, START, seen)
    for source, setting in changed.items():
        assert not settings[source].manual
        assert learning.WEIGHT_MIN <= setting.weight <= learning.WEIGHT_MAX
        assert learning.TOKEN_SHARE_MIN <= setting.token_share <= learning.TOKEN_SHARE_MAX


def test_a_tenth_of_the_way_to_what_it_deserves() -> None:
    starts = {**START, "unseen": Setting(1.0, 0.8), "unmoved": Setting(0.9, 0.8)}
    settings = {**starts, "unseen": Setting(1.2, 0.5), "psychic_cache": Setting(1.0, 0.8, manual=True)}
    all_used = Effectiveness(1.0, 1.0, 1.0)
    none_used = Effectiveness(0.0, 0.0, 0.0)
    changed = learning.adjust(
        settings,
        starts,
        {"agent_memory_own": all_used, "agent_memory_peer": none_used, "psychic_cache": none_used},
    )
    assert changed["agent_memory_own"] == Setting(1.14, 0.8)
    assert changed["agent_memory_peer"] == Setting(0.73, 0.725)
    assert changed["unseen"] == Setting(1.18, 0.53), "back towards the start"
    assert "psychic_cache" not in changed
    assert "unmoved" not in changed


@pytest.mark.parametrize(
    ("total", "used", "wanted"), [(950, 600, 1100), (950, 100, 1000), (300, 300, 950), (700, 700, 1000)]
)
def test_budgets(total: int, used: int, wanted: int) -> None:
    batch = [Experience([one("cache:1")], frozenset(), True, 1000, total, used)] * learning.EVAL_BATCH_SIZE
    assert learning.adjust_budget(BudgetSetting(1000, 500, 2000), batch) == wanted
    assert learning.adjust_budget(BudgetSetting(1000, 990, 1010), batch) == min(1010, max(990, wanted))
    assert learning.adjust_budget(BudgetSetting(1000, 500, 2000, manual=True), batch) == 1000
    asked = [experience_._replace(budget_asked=True) for experience_ in batch]
    assert learning.adjust_budget(BudgetSetting(1000, 500, 2000), asked) == 1000
    assert learning.adjust_budget(BudgetSetting(1000, 500, 2000), batch[1:]) == 1000


CANDIDATES = st.lists(
    st.builds(
        lambda store, number, score, tokens: one(f"{store}:{number}", tokens=tokens, score=round(score, 6)),
        st.sampled_from(["cache", "own", "peer"]),
        st.integers(1, 10**9),
        st.floats(0.15, 1.2),
        st.integers(12, 400),
    ),
    max_size=40,
    unique_by=lambda candidate: candidate.handle,
)


@given(CANDIDATES, st.integers(1, 4000))
def test_a_replay_stays_within_its_budget_and_repeats_itself(
    candidates: list[LoggedCandidate], tokens: int
) -> None:
    first = replay(candidates, tokens, {}, {})
    assert first.total_tokens == sum(c.taken for c in first.candidates) <= tokens
    assert sorted(c.handle for c in first.candidates) == sorted(c.handle for c in candidates)
    assert replay(first.candidates, tokens, {}, {}) == first


@given(CANDIDATES)
def test_a_weight_moves_its_source_only(candidates: list[LoggedCandidate]) -> None:
    replayed = replay(candidates, 2000, {}, {"psychic_cache": 0.0})
    for candidate in replayed.candidates:
        cached = candidate.handle.startswith("cache:")
        assert candidate.weight == (0.0 if cached else 1.0)
        assert (candidate.score == 0.0) is cached

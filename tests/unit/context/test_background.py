"""Where an agent's other memories go in a block, and what they say about sources and budgets."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from services.context.assembly.background import with_background
from services.context.assembly.choice import Chosen, choose
from services.context.learning import rules
from services.context.learning.rules import BudgetSetting, Experience
from services.context.log.replay import BACKGROUND, LoggedCandidate, replay
from services.context.stores import CACHE, OWN
from shared.render import Fence
from shared.search.evidence import Candidate
from shared.search.relevance import Scored

NOW = datetime(2026, 7, 4, 12, 0, tzinfo=UTC)
FENCE = Fence(NOW, "k3f")
SIZE = 48


def memory(id_: int, text: str = "", **more: Any) -> Candidate:
    given = {
        "scope": "agent:scout",
        "kind": "lesson_learned",
        "created_at": NOW,
        "labels": ["background"],
        **more,
    }
    return Candidate(id=id_, text=text or f"Fact {id_} of no use, {'x' * 100}", **given)


def found(id_: int, relevance: float, store: str = OWN.name, **more: Any) -> Scored:
    candidate = Candidate(
        id=id_,
        text=more.pop("text", f"Relevant {id_}"),
        **{"scope": "s", "kind": "intel", "created_at": NOW, **more},
    )
    return Scored(store, candidate, 0.5, 0.5, relevance, relevance)


def chosen(
    *scored: Scored, memories: list[Candidate], tokens: int = 500, user_id: str | None = None
) -> Chosen:
    choice = choose(scored, {}, {}, tokens, FENCE)
    return with_background(choice, memories, {}, tokens, user_id=user_id)


def shown(choice: Chosen) -> dict[tuple[str, int], str]:
    return {(placed.ranked.store, placed.ranked.candidate.id): placed.outcome for placed in choice.taken}


def test_it_comes_last_and_is_marked() -> None:
    choice = chosen(found(1, 0.9, CACHE.name), memories=[memory(1), memory(2)])
    assert list(shown(choice).values()) == ["taken", BACKGROUND, BACKGROUND]
    assert choice.block.count(" background k3f] ") == 2


def test_it_goes_in_whole_or_not_at_all() -> None:
    memories = [memory(number) for number in range(4)]
    assert len(shown(chosen(memories=memories, tokens=4 * SIZE))) == 4
    assert shown(chosen(memories=memories, tokens=2 * SIZE)) == {}


def test_the_users_own_part_comes_first_and_alone_if_it_must() -> None:
    memories = [memory(1), memory(2), memory(3, user_id="ana")]
    assert [id_ for _, id_ in shown(chosen(memories=memories, user_id="ana"))] == [3, 2, 1]
    assert [id_ for _, id_ in shown(chosen(memories=memories, tokens=2 * SIZE, user_id="ana"))] == [3]
    assert shown(chosen(memories=memories, tokens=2 * SIZE)) == {}


def test_what_is_too_far_from_the_best_may_return_as_background() -> None:
    far = found(2, 0.2, text="Far away")
    choice = chosen(found(1, 0.9), far, memories=[memory(1, "Relevant 1"), memory(2, "Far away")])
    assert shown(choice) == {(OWN.name, 1): "taken", (OWN.name, 2): BACKGROUND}
    assert [placed.outcome for placed in choice.placed] == ["taken", BACKGROUND]
    assert choice.taken[1].ranked.relevance == 0.2


def test_neither_an_older_statement_nor_a_repeat_is_background() -> None:
    newer = found(5, 0.9, scope="agent:scout", agent="scout", text="Ana lives in Munich now.")
    older = memory(4, "Ana lives in Berlin.", agent="scout", created_at=datetime(2026, 7, 1, tzinfo=UTC))
    assert list(shown(chosen(newer, memories=[older, memory(6, "ana lives in munich now. ")]))) == [
        (OWN.name, 5)
    ]


def test_it_counts_as_no_access() -> None:
    assert list(chosen(found(1, 0.9), memories=[memory(1), memory(2)]).accesses()) == [(OWN.name, 1)]


def logged(handle: str, tokens: int, outcome: str = "taken") -> LoggedCandidate:
    return LoggedCandidate(handle, 0.5, 1.0, 0.5, 1.0, 1.0, tokens, tokens, outcome)


def test_learning_does_not_see_it() -> None:
    with_it = Experience(
        [logged("cache:1", 100), logged("own:1", 900, BACKGROUND)], frozenset(["own:1"]), True, 1_000, 1_000
    )
    assert set(rules.measure([with_it])) == {CACHE.name}
    # As if the block were a tenth full, and nothing in it used.
    assert rules.adjust_budget(BudgetSetting(1_000, 200, 4_000), [with_it] * rules.EVAL_BATCH_SIZE) == 950


def test_a_replay_keeps_all_of_it_or_none() -> None:
    rows = [logged("cache:1", 50), logged("own:1", 50, BACKGROUND), logged("own:2", 50, BACKGROUND)]
    whole, part = (replay(rows, tokens, {}, {}) for tokens in (160, 120))
    assert (whole.total_tokens, [row.taken for row in whole.candidates]) == (150, [50, 50, 50])
    assert (part.total_tokens, [row.outcome for row in part.candidates]) == (
        50,
        ["taken", "budget", "budget"],
    )

"""What counts as credit for junk, and who is asked what they cannot know."""

from __future__ import annotations

import pytest

from bench.precision import cases
from proofs.junk.__main__ import Answered, Round, _broken, _misdirected, _ranked
from proofs.junk.filling import junk, paragraphs

QUIET, LOUD = Answered(0.0, True, False), Answered(0.0, False, False)


def _round(ndcg10: float, quiet: int = 10, *, lacking: int = 0) -> Round:
    others = [QUIET] * quiet + [LOUD] * (10 - quiet)
    return Round([Answered(ndcg10, False, True)] * lacking + [Answered(ndcg10, False, False)], others)


@pytest.mark.parametrize(
    ("after", "broken"),
    [
        (_round(0.9), 0),
        (_round(0.871), 0),
        (_round(0.86), 1),
        (_round(0.9, quiet=8), 0),
        (_round(0.9, quiet=7), 1),
        (_round(0.5, quiet=0), 2),
        (_round(0.9, lacking=3), 3),
    ],
)
def test_what_is_broken(after: Round, broken: int) -> None:
    assert _broken(_round(0.9), after) == broken


def test_a_misdirected_question_goes_to_a_fleet_whose_mission_does_not_answer_it() -> None:
    items, questions = cases.load()
    of_mission = {f"{one.fleet}/{one.id}" for one in items if one.to.startswith("mission")}
    asked = _misdirected("run", questions, of_mission)
    fleets = {one.text: one.fleet for one in questions}
    assert len(asked) > 20
    for one in asked:
        assert not one.gold
        assert one.body["mission_namespace"] != f"run-{fleets[one.body['query']]}"
        assert not one.body["scopes"]
        assert one.body["user_id"] is None


def test_items_are_known_by_owner_and_id() -> None:
    names = {("psychic_cache", 1): "a", ("memories", 1): "b"}
    candidates = [
        {"store": "memory", "id": 1, "handle": "memory:1", "score": 0.5},
        {"store": "agent_memory_peer", "id": 1, "handle": "peer:1", "score": 0.7},
        {"store": "psychic_cache", "id": 1, "handle": "cache:1", "score": 0.6},
        {"store": "psychic_cache", "id": 1, "handle": "cache:1", "score": 0.4},
    ]
    assert list(_ranked(candidates, names)) == ["b", "a", "memory:1"]


def test_each_store_gets_a_share_of_the_junk() -> None:
    texts = paragraphs()
    shares = junk(texts)
    assert sorted(text for share in shares for text in share) == sorted(texts)
    assert min(map(len, shares)) > 100

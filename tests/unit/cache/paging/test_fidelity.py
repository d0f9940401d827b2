"""The policy of a session's context: what moves, when, and what never does."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from services.cache.sessions.paging.fidelity import (
    Level,
    Move,
    PagedObject,
    Policy,
    Sizes,
    batch,
    pressure,
    zone,
)

BUDGET = 1_000
POLICY = Policy()
_TYPES = ["file_context", "tool_result", "plan", "conversation_phase"]


@st.composite
def _objects(draw: st.DrawFn, turn: int = 40) -> list[PagedObject]:
    count = draw(st.integers(0, 40))
    return [_object(draw, f"{place:02}", turn) for place in range(count)]


def _object(draw: st.DrawFn, name: str, turn: int) -> PagedObject:
    full = draw(st.integers(1, 400))
    detailed = max(1, full // 4) if full >= 120 else None
    sizes = Sizes(full, detailed, max(1, full // 20) if full >= 300 else None, min(full, 12))
    texts = {Level.FULL, Level.STUB, Level.EVICTED}
    texts |= {Level.DETAILED} if detailed else set()
    texts |= {Level.COMPACT} if sizes.compact else set()
    return PagedObject(
        name,
        draw(st.sampled_from(_TYPES)),
        draw(st.sampled_from(sorted(texts))),
        sizes,
        draw(st.booleans()) and draw(st.booleans()),
        draw(st.booleans()) and draw(st.booleans()),
        draw(st.integers(0, turn)),
        draw(st.integers(0, 9)),
    )


def _after(objects: list[PagedObject], moves: list[Move]) -> list[PagedObject]:
    levels = {move.id: move.after for move in moves}
    return [each._replace(level=levels.get(each.id, each.level)) for each in objects]


@settings(max_examples=400, deadline=None)
@given(_objects())
def test_a_batch_ends_below_the_low_watermark_or_has_moved_all_that_may_move(
    objects: list[PagedObject],
) -> None:
    moves = batch(objects, BUDGET, 40, POLICY)
    after = _after(objects, moves)
    if not moves or pressure(after) < POLICY.low * BUDGET:
        return
    reached = zone(pressure(objects), BUDGET)
    assert reached != "emergency"
    least = Level.STUB if reached == "critical" else Level.COMPACT
    idle = [each for each in after if each.last_access <= 40 - POLICY.idle_turns or reached == "critical"]
    shrinking = [each for each in idle if each.sizes.stub < each.sizes.at(each.level)]
    assert all(each.pinned or each.level >= least for each in shrinking)


@settings(max_examples=400, deadline=None)
@given(_objects())
def test_a_batch_only_shrinks_and_says_every_change_once(objects: list[PagedObject]) -> None:
    moves = batch(objects, BUDGET, 40, POLICY)
    levels = {each.id: each.level for each in objects}
    assert len({move.id for move in moves}) == len(moves)
    assert all(move.before == levels[move.id] < move.after for move in moves)
    sizes = {each.id: each.sizes for each in objects}
    for move in moves:
        assert move.after != Level.DETAILED or sizes[move.id].detailed is not None
        assert move.after != Level.COMPACT or sizes[move.id].compact is not None


@settings(max_examples=400, deadline=None)
@given(_objects())
def test_pinned_objects_move_in_an_emergency_only(objects: list[PagedObject]) -> None:
    pinned = {each.id for each in objects if each.pinned}
    moved = {move.id for move in batch(objects, BUDGET, 40, POLICY)} & pinned
    assert not moved or zone(pressure(objects), BUDGET) == "emergency"


@given(_objects())
def test_nothing_moves_below_the_high_watermark_and_after_a_batch(objects: list[PagedObject]) -> None:
    moves = batch(objects, BUDGET, 40, POLICY)
    if pressure(objects) <= POLICY.high * BUDGET:
        assert moves == []
    assert moves == batch(objects, BUDGET, 40, POLICY)
    after = _after(objects, moves)
    if pressure(after) <= POLICY.high * BUDGET:
        assert batch(after, BUDGET, 40, POLICY) == []


def test_the_zones_of_pressure() -> None:
    shares = [0.49, 0.5, 0.7, 0.85, 0.95]
    assert [zone(int(share * BUDGET), BUDGET) for share in shares] == [
        "normal",
        "caution",
        "warning",
        "critical",
        "emergency",
    ]


def test_an_old_command_shrinks_before_an_old_file() -> None:
    sizes = Sizes(500, 125, 25, 12)
    file = PagedObject("file", "file_context", Level.FULL, sizes, False, False, 2, 0)
    command = PagedObject("command", "tool_result", Level.FULL, sizes, False, False, 2, 0)
    assert [move.id for move in batch([file, command], BUDGET, 9)] == ["command"]


def test_an_object_without_a_summary_goes_to_its_stub() -> None:
    small = PagedObject("small", "tool_result", Level.FULL, Sizes(400, None, None, 10), False, False, 0, 0)
    large = PagedObject("large", "tool_result", Level.FULL, Sizes(560, None, None, 10), True, False, 0, 0)
    assert batch([small, large], BUDGET, 9)[0] == Move("small", Level.FULL, Level.STUB)

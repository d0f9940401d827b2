"""Random sessions over the policy of paging keep its invariants, and a batch keeps what pays."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from proofs.paging.model import BUDGET, Session, replayed
from services.cache.sessions.paging.batches import Policy, Shown, batch, sent
from services.cache.sessions.paging.fidelity import Level, Move, PagedObject, Sizes

SIZES = Sizes(500, 125, 25, 12)


def _object(name: str, **more: object) -> PagedObject:
    known = PagedObject(name, "file_context", Level.FULL, SIZES, False, False, 2, 0, name)
    return known._replace(**more)  # type: ignore[arg-type]


def _shown(*objects: PagedObject) -> list[Shown]:
    return [Shown(each.id, each.level) for each in objects]


@settings(max_examples=5_000, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 16))
def test_random_sessions_keep_the_invariants(seed: int, turns: int) -> None:
    session = Session(seed)
    assert [*session.play(turns)] == []
    assert replayed(session) == {id_: each.level for id_, each in session.state.objects.items()}


def test_an_old_command_shrinks_before_an_old_file() -> None:
    both = [_object("file"), _object("command", object_type="tool_result")]
    made = batch(both, _shown(*both), BUDGET, 9)
    assert made is not None
    assert [move.id for move in made.moves] == ["command"]
    assert (made.kept, made.then[0]) == (1, Shown("command", Level.DETAILED))


def test_an_object_without_a_summary_goes_to_its_stub() -> None:
    small = _object("small", sizes=Sizes(400, None, None, 10))
    large = _object("large", sizes=Sizes(560, None, None, 10), pinned=True)
    made = batch([small, large], _shown(small, large), BUDGET, 9)
    assert made is not None
    assert made.moves[0] == Move("small", Level.FULL, Level.STUB)


def test_nothing_moves_below_the_high_watermark() -> None:
    only = _object("only")
    assert batch([only], _shown(only), BUDGET, 9) is None


def test_what_came_back_twice_is_written_once() -> None:
    """What was sent is above the high watermark, though the objects are not."""
    known = [
        _object("known", sizes=Sizes(500, 125, None, 12)),
        _object("other", sizes=Sizes(350, 90, None, 12)),
    ]
    shown = [Shown("known", Level.DETAILED), Shown("other", Level.FULL), Shown("known", Level.FULL)]
    made = batch(known, shown, BUDGET, 9)
    assert made is not None
    after = [*shown[: made.kept], *made.then]
    assert sent(known, after) < Policy().low * BUDGET


def test_what_came_in_this_turn_is_spared_in_an_emergency() -> None:
    small = Sizes(300, 75, 15, 12)
    old = [_object(f"old {number}", sizes=small, object_type="tool_result") for number in range(2)]
    large = _object("large", sizes=Sizes(700, 175, 35, 12), last_access=9)
    made = batch([*old, large], _shown(*old, large), BUDGET, 9)
    assert made is not None
    assert "large" not in {move.id for move in made.moves}

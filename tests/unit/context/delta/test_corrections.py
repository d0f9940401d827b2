"""The lines of a block that correct what its session was given."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.context.delta.corrections import Change, lines, told
from services.context.delta.known import Known
from services.context.delta.queries import Gift
from shared.render import Fence

FENCE = Fence(datetime(2026, 7, 4, 12, 0, tzinfo=UTC), "k3f")
ROOM = 4_000


def edited(text: str, handle: str = "own:1") -> Change:
    return Change(handle, "edited", None, text, Gift(handle, 7, "digest", []))


@pytest.mark.parametrize(("sentences", "cut"), [(2, False), (200, True)])
def test_an_edit_that_is_cut_says_so_and_stays_open(sentences: int, cut: bool) -> None:
    text = "The failover took 9 s. " * sentences
    (line,) = lines([edited(text)], FENCE, ROOM)
    assert line.text.startswith("[update own:1 now says k3f] The failover took 9 s.")
    assert line.text.endswith(" […]") == cut
    told = Known(8, line.change.gift.state, [])
    # What is compared with the owner's state stays as it is.
    assert (told.owners, len(told.passages)) == ("digest", cut)


def test_what_is_told_of_an_item_is_told_of_its_parts() -> None:
    updates = lines([edited("It is db-9.", "own:1"), edited("It is db-7.", "own:2#1")], FENCE, ROOM)
    names = ["own:1", "own:1#0", "own:1#1", "own:2", "own:2#0", "own:2#1", "own:3", "own:11"]
    # An edit made one of the item's parts, or it has others, which the session may lack.
    assert told(updates, names) == {"own:1", "own:1#0", "own:1#1", "own:2", "own:2#1"}
    assert told([], names) == set()

"""An assembly that another replica has not written yet is looked for again, while there is time."""

from __future__ import annotations

from typing import Any, cast

import pytest

from services.context.log.journal import Journal
from shared.deadline import Deadline
from shared.errors import NotFound


class Looks:
    """Finds a row at the last of these looks; 0: never."""

    def __init__(self, last: int) -> None:
        self._last = last
        self.count = 0

    async def __call__(self) -> str | None:
        self.count += 1
        return "row" if self.count == self._last else None


@pytest.fixture
def journal() -> Journal:
    return Journal(cast(Any, None), cast(Any, None))


@pytest.mark.parametrize("look", [1, 2, 4])
async def test_a_row_that_another_replica_writes_meanwhile_is_found(journal: Journal, look: int) -> None:
    looks = Looks(look)
    assert await journal.find(looks, 7, Deadline(60)) == "row"
    assert looks.count == look


@pytest.mark.parametrize(("seconds", "count"), [(0.1, 1), (60, 4)])
async def test_without_time_to_look_again_there_is_none(journal: Journal, seconds: float, count: int) -> None:
    looks = Looks(0)
    with pytest.raises(NotFound):
        await journal.find(looks, 7, Deadline(seconds))
    assert looks.count == count

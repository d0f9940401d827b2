"""What was just written comes first, in turn by tenant and by scope."""

from __future__ import annotations

import math

from shared.database.index_claims import Fresh, JustWritten
from shared.database.index_queue import QueueStatements
from shared.database.indexer import Pace


def written(*items: tuple[str, str, int]) -> JustWritten:
    made = JustWritten(QueueStatements("s"), "model")
    for tenant, scope, number in items:
        made.add(Fresh(tenant, scope, "store", number))
    return made


def numbers(items: list[Fresh]) -> list[int]:
    return [item.item_id for item in items]


def test_tenants_take_turns() -> None:
    fresh = written(("a", "m", 1), ("a", "m", 2), ("a", "m", 3), ("b", "m", 4))
    assert numbers(fresh.take(3)) == [1, 4, 2]
    assert numbers(fresh.take(3)) == [3]
    assert fresh.take(3) == []


def test_an_import_of_single_writes_keeps_no_other_scope_waiting() -> None:
    fresh = written(*(("a", "import", number) for number in range(20)), ("a", "agent", 99))
    assert 99 in numbers(fresh.take(2))


def test_the_oldest_of_too_many_waits_in_the_queue_only() -> None:
    fresh = written(*(("a", "m", number) for number in range(40)))
    assert numbers(fresh.take(100)) == list(range(8, 40))
    fresh.add(Fresh("a", "m", "store", 40))
    assert numbers(fresh.take(100)) == [40]


def test_what_waits_is_bounded_over_all_scopes() -> None:
    fresh = written(*(("a", f"m{number}", number) for number in range(10_000)))
    assert len(fresh.take(10_000)) == 4_096


def test_the_pace_is_of_the_last_minute() -> None:
    pace = Pace()
    assert pace.seconds_left() == math.inf
    for second in range(0, 200, 5):
        # Ten a second, and then two.
        stored = 10 * second if second <= 100 else 1_000 + 2 * (second - 100)
        pace.note(float(second), stored, 120)
    assert pace.seconds_left() == 60


def test_nobody_knows_the_end_while_nothing_is_stored() -> None:
    pace = Pace()
    pace.note(0.0, 7, 100)
    pace.note(5.0, 7, 100)
    assert pace.seconds_left() == math.inf
    pace.note(10.0, 7, 0)
    assert pace.seconds_left() == 0

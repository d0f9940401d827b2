"""As whom a step is learned for which nobody asks, and who pays for it."""

from __future__ import annotations

import msgspec

from services.context.consolidation.writers import on_behalf, payer_of
from shared.auth import Principal

WRITER = Principal("t", "consolidation", frozenset(["read", "write"]))
BOUND = {
    "key:2": Principal("t", "key:2", frozenset(["write"]), agent="scout", users=frozenset(["ana", "bo"])),
    "key:3": Principal(
        "t", "key:3", frozenset(["write"]), missions=frozenset(["m"]), users=frozenset(["ana"])
    ),
}


def test_it_is_the_tenants_where_no_bound_key_wrote() -> None:
    assert on_behalf(WRITER, ["key:1", "env:write"], BOUND) is WRITER
    assert on_behalf(WRITER, [], {}) is WRITER


def test_it_has_the_bounds_of_all_that_wrote() -> None:
    one = on_behalf(WRITER, ["key:1", "key:2", "key:1"], BOUND)
    assert one == msgspec.structs.replace(BOUND["key:2"], access=WRITER.access)
    both = on_behalf(WRITER, ["key:2", "key:3"], BOUND)
    assert both == msgspec.structs.replace(BOUND["key:3"], access=WRITER.access, agent="scout")


def test_who_is_bound_pays_or_else_who_wrote_last() -> None:
    assert payer_of(["key:1", "key:2", "key:1"], BOUND) == "key:2"
    assert payer_of(["key:1", "env:write"], BOUND) == "env:write"
    assert payer_of([], {}) is None

"""What the freshness proof counts as stale, and what may be either way because it changed meanwhile."""

from __future__ import annotations

import itertools
from math import inf
from typing import Any, cast

import pytest

from proofs.freshness.ledger import Asked, Ledger, Shown, Version, View
from proofs.freshness.scopes import Scope
from tests.support.cluster import Client

WORD, SCOPE = "w000001q", "agent-0"
OWN = View(SCOPE)
BEFORE, BEGAN, BETWEEN, ENDED = 5.0, 10.0, 11.0, 12.0


def judged(shown: bool, *, view: View = OWN, marked: bool = False, complete: bool = True, **more: Any) -> str:
    """What is wrong with an answer about a version that was written long before, and changed as `more` says."""
    ledger = Ledger()
    ledger.add(Version(**{"item": 1, "scope": SCOPE, "word": WORD, "born": 1.0, "shared": True, **more}))
    answer = [Shown(f"{WORD} harbour", marked)] if shown else []
    ledger.judge(Asked(view, WORD, BEGAN, BEGAN, ENDED, ENDED, answer, complete))
    return ", ".join(ledger.wrong)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({}, ""),
        ({"ending": BEFORE, "gone": BEFORE}, "an erased item shown"),
        ({"ending": BEFORE, "gone": BETWEEN}, ""),
        ({"expires": BEFORE}, "an expired item shown"),
        ({"expires": BETWEEN}, ""),
        ({"replaced": BEFORE, "superseded": BEFORE}, "a superseded item shown unmarked"),
        ({"replaced": BEFORE, "superseded": BEFORE, "marked": True}, ""),
        ({"replaced": BEFORE, "superseded": BETWEEN}, ""),
        ({"withheld": BEFORE, "private": BEFORE}, ""),
        ({"withheld": BEFORE, "private": BEFORE, "view": View(SCOPE, peers=True)}, "a private item shown"),
        ({"withheld": BEFORE, "private": BETWEEN, "view": View(SCOPE, peers=True)}, ""),
        ({"view": View("other")}, "an item of another scope shown"),
        ({"view": View("other", all=True)}, ""),
        ({"view": View("other", all=True), "shared": False}, "an item of another scope shown"),
        ({"view": View("other", all=True), "withheld": BEFORE, "private": BEFORE}, "a private item shown"),
    ],
)
def test_what_may_be_shown(change: dict[str, Any], wrong: str) -> None:
    assert judged(True, **change) == wrong


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        ({}, True),
        ({"complete": False}, False),
        ({"born": BEGAN}, False),
        ({"born": BETWEEN}, False),
        ({"ending": BEFORE}, False),
        ({"ending": BETWEEN}, False),
        ({"ending": ENDED + 1}, True),
        ({"expires": BETWEEN}, False),
        ({"replaced": BETWEEN}, False),
        ({"withheld": BETWEEN}, True),
        ({"withheld": BETWEEN, "view": View(SCOPE, peers=True)}, False),
    ],
)
def test_what_must_be_found(change: dict[str, Any], missed: bool) -> None:
    assert judged(False, **change) == ("a committed item missed" if missed else "")


def test_a_text_whose_write_is_not_acknowledged_may_be_shown() -> None:
    ledger = Ledger()
    ledger.judge(Asked(OWN, None, BEGAN, BEGAN, ENDED, ENDED, [Shown(f"{WORD} harbour", False)], True))
    assert (ledger.asked, ledger.wrong.total()) == (1, 0)


class Purged(Scope):
    """One whose purges the service has done at once."""

    async def _purged(self) -> None:
        return None


async def test_a_purge_ends_what_was_to_expire_later() -> None:
    """It is not among the living, and a purge must not leave it to be found until it expires."""
    ledger = Ledger()
    living = Version(item=1, scope=SCOPE, word=WORD)
    expiring = Version(item=2, scope=SCOPE, word="w000002q", expires=ENDED + 1)
    ledger.add(living)
    ledger.add(expiring)
    await Purged(cast(Client, None), ledger, SCOPE, itertools.count(), 1)._purge(ledger.living(SCOPE))
    for version in (living, expiring):
        assert version.ending <= version.gone < inf
    assert ledger.living(SCOPE) == ledger.expiring(SCOPE) == []

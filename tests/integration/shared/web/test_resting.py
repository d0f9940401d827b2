"""A request rests between its steps when the door says so."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from shared.web.door.overload import Gate
from tests.integration.shared.web.served import make, serving

REST = 0.2


class Rests:
    """What the door answers: a rest first, and then none. `most` are the longest that it may answer."""

    def __init__(self) -> None:
        self.most: list[float] = []

    def __call__(self, work: object, most: float, now: float) -> float:
        self.most.append(most)
        return REST if len(self.most) == 1 else 0.0


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> Rests:
    rests = Rests()
    monkeypatch.setattr(Gate, "rest", lambda self, *arguments: rests(*arguments))
    return rests


async def ways(headers: dict[str, str], path: str = "steps") -> list[float]:
    async with (
        serving(make(in_flight=1)) as port,
        aiohttp.ClientSession(headers=headers) as session,
        session.get(f"http://127.0.0.1:{port}/{path}") as response,
    ):
        answer: Any = await response.json()
    return list(map(float, answer))


async def test_steps_at_once_rest_together_and_what_is_for_all_does_not(rests: Rests) -> None:
    first, second, for_all = await ways({})
    assert min(first, second) > 0.9 * REST
    assert for_all < 0.5 * REST
    # The first of the steps, and the answer.
    assert len(rests.most) == 2


async def test_what_holds_a_transaction_rests_only_between_its_parts(rests: Rests) -> None:
    inside, between, for_all = await ways({}, "transaction")
    assert inside < 0.5 * REST
    assert between > 0.9 * REST
    assert for_all < 0.5 * REST


@pytest.mark.parametrize(("headers", "fifth"), [({"x-timeout-ms": "4000"}, 0.8), ({}, 0.4)])
async def test_a_request_rests_for_a_fifth_of_its_time(
    rests: Rests, headers: dict[str, str], fifth: float
) -> None:
    await ways(headers)
    assert rests.most[0] == pytest.approx(fifth, abs=0.01)
    # Only what is left of it.
    assert rests.most[-1] == pytest.approx(fifth - REST, abs=0.01)

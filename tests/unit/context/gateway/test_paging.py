"""What holds for any session that is paged: bytes, pairs, levels, prefixes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from services.context.gateway.paging.forms import MARK
from services.context.gateway.paging.paged import Paged, page
from services.context.gateway.paging.plan import Policy, Standing
from shared.spending.prices import bundled
from tests.support.gateway.agent import Host
from tests.support.gateway.sessions import Api, Session

PRICES = bundled()
APIS: tuple[Api, ...] = ("messages", "chat", "responses")
# 5,000 sessions of both providers, in slices that tests can share among processes.
SLICES, SESSIONS = 10, 500


class Watch:
    """Checks a session's requests one after another."""

    def __init__(self, api: Api) -> None:
        self._api: Api = api
        self._known: dict[str, Standing] = {}
        self._forms: dict[str, bytes] = {}
        self._before: list[bytes] = []
        self.batches = self.shorter = 0

    def check(self, body: bytes) -> Paged:
        paged = page(self._api, body, self._known, PRICES)
        assert len(paged.body) <= len(body)
        self._rest_is_untouched(body, paged)
        self._levels_last(paged)
        self._prefix(paged)
        self._known.update(paged.plan.moved)
        if paged.plan.moved:
            again = page(self._api, body, self._known, PRICES)
            assert again.body == paged.body, "a request that is sent again is the same"
        return paged

    def _rest_is_untouched(self, body: bytes, paged: Paged) -> None:
        if not paged.forms:
            assert paged.body is body
            return
        self.shorter += 1
        given = msgspec.json.decode(body)
        changed = [*_differences(given, msgspec.json.decode(paged.body))]
        assert len(changed) == len(paged.forms)
        for path, old, new in changed:
            assert MARK in new
            assert len(old.encode()) > 200
            assert path[-1] in ("text", "content", "output")
            assert not any(name in path for name in ("system", "thinking", "source", "signature"))
        for path, *_ in changed:
            message = given[str(path[0])][path[1]]
            kinds = {part.get("type") for part in message["content"]} if _has_parts(message) else set()
            assert message.get("role") != "assistant" or "thinking" not in kinds

    def _levels_last(self, paged: Paged) -> None:
        ages = {block.key: block.age for block in paged.reading.blocks}
        self.batches += paged.plan.batch
        for key, standing in paged.plan.moved.items():
            assert key not in self._known or standing.level > self._known[key].level
            assert ages[key] >= Policy().protected or ages[key] == 0
        for key, form in self._forms.items():
            if key in ages and key not in paged.plan.moved:
                assert paged.forms[key] == form
        self._forms = dict(paged.forms)

    def _prefix(self, paged: Paged) -> None:
        """All that was sent is sent again, but for a batch. Marks move, and no provider counts them as content."""
        now = [_canonical(part) for part in _messages(paged.body)]
        same = 0
        for left, right in zip(self._before, now, strict=False):
            if left != right:
                break
            same += len(left)
        sent = sum(map(len, self._before))
        assert paged.plan.batch or same == sent
        self._before = now


@pytest.mark.parametrize("slice_", range(SLICES))
def test_invariants_hold_in_random_sessions(slice_: int) -> None:
    batches = shorter = 0
    for number in range(SESSIONS):
        seed = slice_ * SESSIONS + number
        api = APIS[seed % len(APIS)]
        watch = Watch(api)
        for body in Session(seed, api).requests(random.Random(seed).choice((2, 4, 6, 9, 24))):
            watch.check(body)
        batches, shorter = batches + watch.batches, shorter + watch.shorter
    assert batches > 50
    assert shorter > 200


@pytest.mark.parametrize("api", APIS)
def test_a_session_whose_state_is_lost_goes_on_in_full(api: Api) -> None:
    *_, body = Session(7, api).requests(40)
    paged = page(api, body, {}, PRICES)
    first = {block.key for block in paged.reading.blocks if block.age == 0}
    assert paged.plan.batch or paged.forms.keys() <= first


@pytest.mark.parametrize("api", APIS)
def test_a_handle_leads_to_the_bytes_that_came(api: Api) -> None:
    watch = Watch(api)
    handles = 0
    for body in Session(11, api).requests(60):
        paged = watch.check(body)
        for handle, (start, end) in paged.handles().items():
            assert handle.encode() in paged.body
            assert isinstance(msgspec.json.decode(body[start:end]), str)
            handles += 1
    assert handles


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"messages": 3}', b'{"messages": [3]}', b"\xff{"])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        page("messages", body, {}, PRICES)


def _has_parts(message: Any) -> bool:
    return isinstance(message.get("content"), list)


def _differences(
    left: Any, right: Any, path: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], str, str]]:
    if isinstance(left, dict):
        assert [*left] == [*right]
        for name, value in left.items():
            yield from _differences(value, right[name], (*path, name))
    elif isinstance(left, list):
        assert len(left) == len(right)
        for number, value in enumerate(left):
            yield from _differences(value, right[number], (*path, number))
    elif left != right:
        yield path, left, right


def _messages(body: bytes) -> list[Any]:
    given = msgspec.json.decode(body)
    found: list[Any] = given.get("messages") or given["input"]
    return found


def _canonical(message: Any) -> bytes:
    if _has_parts(message):
        parts = [
            {name: value for name, value in part.items() if name != "cache_control"}
            for part in message["content"]
        ]
        message = {**message, "content": parts}
    return msgspec.json.encode(message)


def _stubs(policy: Policy, turns: int = 40) -> set[str]:
    """Handles of what a session of large results sends as a line in the end."""
    host = Host("messages")
    known: dict[str, Standing] = {}
    for _ in range(turns):
        host.turn()
        made = page("messages", host.body(), known, bundled(), policy=policy)
        known |= made.plan.moved
    return set(made.handles())


def test_what_the_model_wants_to_keep_stays_in_full() -> None:
    stubs = _stubs(Policy())
    kept = frozenset(sorted(stubs)[:3])
    assert stubs
    assert not _stubs(Policy(kept=kept)) & kept


def test_nothing_moves_where_nothing_may() -> None:
    assert _stubs(Policy(moves=False)) == set()

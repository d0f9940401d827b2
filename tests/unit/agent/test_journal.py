"""The journal stands what Scrubjay's limits leave out or refuse."""

from __future__ import annotations

from datetime import timedelta

import pytest

from scrubjay_agent.journal import journal as journal_module
from scrubjay_agent.journal.entries import (
    Address,
    Answered,
    Began,
    Entry,
    Out,
    Placed,
    Sent,
    State,
    Timer,
    apply,
)
from scrubjay_agent.journal.journal import Journal, SupersededError
from tests.support.agent.scrubjay import AWAY, NOW, FakeScrubjay, received, refusal

TO = Address("telegram", "7")
# Thirty of them are more than a summary holds.
LONG = "x" * 8_000


@pytest.fixture
def jay(monkeypatch: pytest.MonkeyPatch) -> FakeScrubjay:
    monkeypatch.setattr(journal_module, "_COMPACT_EVERY", 30)
    return FakeScrubjay()


async def _opened(jay: FakeScrubjay) -> Journal:
    journal = Journal(jay.client, "jay")
    await journal.open()
    return journal


async def _timers(journal: Journal, count: int, text: str = "look again") -> None:
    for number in range(count):
        later = NOW + timedelta(days=number)
        await journal.append(Timer(f"t{number}", later, received(f"t{number}", text)))


async def test_a_state_that_no_summary_can_hold_stays_in_its_entries(jay: FakeScrubjay) -> None:
    journal = await _opened(jay)
    await _timers(journal, 55, LONG)
    assert not jay.sessions.summaries
    assert (await _opened(jay)).state.timers == journal.state.timers
    assert len(journal.state.timers) == 55


async def test_it_is_compacted_once_it_fits(jay: FakeScrubjay) -> None:
    journal = await _opened(jay)
    await _timers(journal, 55, LONG)
    await _timers(journal, 40)
    assert len(jay.sessions.summaries) == 1
    assert (await _opened(jay)).state.timers == journal.state.timers


@pytest.mark.parametrize("error", [AWAY, refusal(400), refusal(503)])
async def test_a_compaction_that_fails_fails_no_entry(jay: FakeScrubjay, error: Exception) -> None:
    journal = await _opened(jay)
    jay.sessions.fails["compact"] = [error]
    await _timers(journal, 60)
    assert jay.sessions.calls.count("compact") == 2
    assert len((await _opened(jay)).state.timers) == 60


async def test_nor_does_one_whose_answer_is_lost(jay: FakeScrubjay) -> None:
    journal = await _opened(jay)
    jay.sessions.lost["compact"] = [AWAY]
    await _timers(journal, 60)
    assert (await _opened(jay)).state.timers == journal.state.timers
    assert len(journal.state.timers) == 60


async def test_a_start_reads_what_one_answer_has_no_room_for(jay: FakeScrubjay) -> None:
    journal = await _opened(jay)
    await _timers(journal, 35)
    await journal.append(Out("o", TO, "hello"))
    await journal.append(received("k"))
    await journal.append(Placed("o", "3"))
    await _timers(journal, 5)
    jay.sessions.room = 3
    again = (await _opened(jay)).state
    assert again.inbox == journal.state.inbox
    assert again.outbox == journal.state.outbox
    assert again.timers == journal.state.timers


async def test_many_tokens_are_compacted_early(jay: FakeScrubjay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "_COMPACT_TOKENS", 22)
    await _timers(await _opened(jay), 25)
    assert len(jay.sessions.summaries) == 1


async def test_an_agent_that_is_superseded_stays_so(jay: FakeScrubjay) -> None:
    journal = await _opened(jay)
    await _opened(jay)
    for _ in range(2):
        with pytest.raises(SupersededError):
            await journal.append(Sent("o"))


def test_entries_that_a_compaction_left_may_be_applied_once_more() -> None:
    entries: list[Entry] = [
        received("k"),
        Began("k", ["k"]),
        Out("o", TO, "hello"),
        Placed("o", "3"),
        Sent("o"),
        Answered("k", "s", 3, [Out("k#0", TO, "done")]),
        Placed("k#0", "4"),
        Sent("k#0"),
    ]
    state = State()
    for entry in entries:
        apply(state, entry)
    for place in range(len(entries)):
        for entry in entries[place:]:
            apply(state, entry)
        assert not state.outbox
        assert not state.inbox
        assert list(state.recent) == ["k"]

"""What is recorded before it is done, and what follows from it. Pure.

The journal's state is a fold over its entries. Whatever is in the state and not yet done is done after a restart.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

Source = Literal["telegram", "http", "cli", "system", "schedule"]
# So many answered messages are remembered, for callers that repeat one.
_RECENT = 500


class Address(msgspec.Struct, frozen=True):
    """Where answers go. Without a channel they stay in the trail."""

    channel: Literal["telegram", "http", "cli"] | None
    to: str = ""


class Received(msgspec.Struct, tag="received", frozen=True, kw_only=True, omit_defaults=True):
    """A message, recorded before its channel is told that it arrived."""

    key: str
    session: str
    """The conversation's external id."""
    user: str
    source: Source
    address: Address
    text: str
    at: datetime
    tier: str | None = None
    images: list[str] = []
    """The channel's ids of images."""
    local: bool = False
    """It comes from this machine, so that it may use files and the shell."""
    reply_to: str = ""
    """The channel's id of the message, for reactions."""


class Began(msgspec.Struct, tag="began", frozen=True):
    """These messages are answered together."""

    key: str
    keys: list[str]


class Asked(msgspec.Struct, tag="asked", frozen=True):
    """The model is about to be called. A restart finds the calls whose answer it never saw."""

    key: str
    number: int
    attempt: int


class Out(msgspec.Struct, tag="out", frozen=True):
    """A message to send."""

    key: str
    address: Address
    text: str
    reference: str | None = None
    """The channel's id of the message that will hold the text."""
    turn: str = ""
    """Whose tool sends it, beside the answer."""


class Answered(msgspec.Struct, tag="answered", frozen=True):
    """The answer is in the trail. What has to be sent goes to the outbox with it."""

    key: str
    session: str
    seq: int
    """The number of the answer's event. 0: the trail took none."""
    out: list[Out]


class Placed(msgspec.Struct, tag="placed", frozen=True):
    key: str
    reference: str


class Sent(msgspec.Struct, tag="sent", frozen=True):
    key: str


class Timer(msgspec.Struct, tag="timer", frozen=True, omit_defaults=True):
    """A message that the agent sends itself."""

    id: str
    at: datetime
    message: Received
    cron: str | None = None
    turn: str = ""
    """Whose tool made it; none where it only moves on."""


class Cancelled(msgspec.Struct, tag="cancelled", frozen=True):
    id: str


class Started(msgspec.Struct, tag="started", frozen=True):
    """Whoever started last is the agent. An older one that finds this ends."""

    instance: str


Entry: TypeAlias = Received | Began | Asked | Out | Answered | Placed | Sent | Timer | Cancelled | Started


class Done(msgspec.Struct, frozen=True):
    session: str
    seq: int


class State(msgspec.Struct):
    instance: str = ""
    inbox: dict[str, Received] = {}
    """Messages without an answer."""
    turns: dict[str, list[str]] = {}
    """Which of them are answered together, by the first one's key."""
    asked: dict[str, dict[str, int]] = {}
    """How often the model was called: by turn, then by the number of the call."""
    made: dict[str, list[str]] = {}
    """Messages and timers that tools of open turns made, whether or not they are still there: by turn."""
    outbox: dict[str, Out] = {}
    timers: dict[str, Timer] = {}
    recent: dict[str, Done] = {}

    def knows(self, key: str) -> bool:
        return key in self.inbox or key in self.recent

    def waiting(self, session: str) -> list[Received]:
        """Messages of a conversation that no turn has taken up, in their order."""
        taken = {key for keys in self.turns.values() for key in keys}
        return [one for one in self.inbox.values() if one.session == session and one.key not in taken]

    def open_turns(self, session: str) -> list[str]:
        return [key for key in self.turns if self.inbox[key].session == session]

    def attempts(self, key: str, number: int) -> int:
        return self.asked.get(key, {}).get(str(number), 0)

    def has_made(self, turn: str, name: str) -> bool:
        return name in self.made.get(turn, ())


def digest(*parts: object) -> str:
    """A short name for what the parts name together."""
    return hashlib.sha256("\x00".join(map(str, parts)).encode()).hexdigest()[:32]


def apply(state: State, entry: Entry) -> None:
    """Applying an entry twice is the same as applying it once."""
    if isinstance(entry, Out | Timer) and entry.turn:
        _made(state, entry)
    elif isinstance(entry, Received):
        if not state.knows(entry.key):
            state.inbox[entry.key] = entry
    elif isinstance(entry, Began):
        if entry.key in state.inbox:
            state.turns[entry.key] = entry.keys
    elif isinstance(entry, Asked):
        calls = state.asked.setdefault(entry.key, {})
        calls[str(entry.number)] = max(entry.attempt, calls.get(str(entry.number), 0))
    elif isinstance(entry, Answered):
        _answered(state, entry)
    elif isinstance(entry, Timer):
        state.timers[entry.id] = entry
    elif isinstance(entry, Cancelled):
        state.timers.pop(entry.id, None)
    elif isinstance(entry, Started):
        state.instance = entry.instance
    else:
        _sending(state, entry)


def _made(state: State, entry: Out | Timer) -> None:
    """A tool that runs again finds what it made gone where that was sent, told or cancelled in the meantime."""
    name = entry.key if isinstance(entry, Out) else entry.id
    if state.has_made(entry.turn, name):
        return
    state.made.setdefault(entry.turn, []).append(name)
    apply(state, msgspec.structs.replace(entry, turn=""))


def _sending(state: State, entry: Out | Placed | Sent) -> None:
    if isinstance(entry, Out):
        state.outbox.setdefault(entry.key, entry)
    elif isinstance(entry, Placed):
        # A compaction may take out only a part of what its state stands for: what it leaves is applied once more.
        if (waiting := state.outbox.get(entry.key)) is not None:
            state.outbox[entry.key] = msgspec.structs.replace(waiting, reference=entry.reference)
    else:
        state.outbox.pop(entry.key, None)


def _answered(state: State, entry: Answered) -> None:
    for key in state.turns.pop(entry.key, [entry.key]):
        state.inbox.pop(key, None)
        state.recent[key] = Done(entry.session, entry.seq)
    for of_turns in (state.asked, state.made):
        for key in [key for key in of_turns if key == entry.key or key.startswith(f"{entry.key}/")]:
            del of_turns[key]
    for out in entry.out:
        state.outbox.setdefault(out.key, out)
    while len(state.recent) > _RECENT:
        del state.recent[next(iter(state.recent))]

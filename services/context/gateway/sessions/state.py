"""The state of a session. Pure.

It holds levels and what answers hid from the host. A text that the conversation holds is named by its handle, and not
repeated.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import msgspec

from services.context.gateway.cleanup import Action, Verb
from services.context.gateway.paging.forms import Level
from services.context.gateway.paging.plan import Standing
from services.context.gateway.restoring.hidden import Hidden

MOST_BYTES = 1_048_576
"""Of its JSON. Beyond that, what answers hid first is forgotten first."""
MOST_LEVELS = 10_000
"""Beyond that, what came to its level first is sent in full again."""
_MOST_WISHES = 1_000
_FASTEST = 1


class State(msgspec.Struct, frozen=True):
    levels: dict[str, tuple[int, int]] = {}
    """Of blocks that are not sent in full: the level, and the answers of the model when they came to it."""
    hidden: list[Hidden] = []
    wishes: dict[str, Verb] = {}
    """What the model said of texts, by their handles."""

    def known(self) -> dict[str, Standing]:
        return {key: Standing(Level(level), turn) for key, (level, turn) in self.levels.items()}

    def moved(self, standings: Mapping[str, Standing]) -> State:
        levels = {key: (int(each.level), each.turn) for key, each in standings.items()}
        newest = [*(self.levels | levels).items()][-MOST_LEVELS:]
        return msgspec.structs.replace(self, levels=dict(newest))

    def hiding(self, hidden: Hidden) -> State:
        return msgspec.structs.replace(self, hidden=[*self.hidden, hidden])

    def wishing(self, actions: Sequence[Action]) -> State:
        """The last word on a text counts."""
        named = {action.handle: action.verb for action in actions}
        left = {handle: verb for handle, verb in self.wishes.items() if handle not in named}
        wishes = [*left.items(), *named.items()][-_MOST_WISHES:]
        return msgspec.structs.replace(self, wishes=dict(wishes))


_DECODER = msgspec.json.Decoder(State)


def packed(state: State) -> bytes:
    while len(encoded := msgspec.json.encode(state)) > MOST_BYTES and state.hidden:
        state = msgspec.structs.replace(state, hidden=state.hidden[len(state.hidden) // 2 + 1 :])
    return zlib.compress(encoded, _FASTEST)


def unpacked(stored: bytes) -> State:
    return _DECODER.decode(zlib.decompress(stored))

"""What a session knows of an item, as its rows keep it: a state of the owner, and what was told besides. Pure."""

from __future__ import annotations

from typing import NamedTuple

from shared.states.schemas import state_of

# Follow the owner's state: what the search found newer, and the passages that were given of an item that had no room.
BY, CUT = " by ", " cut "


class Known(NamedTuple):
    """The newest that the session was told of an item."""

    position: int
    state: str
    scopes: list[str]

    @property
    def owners(self) -> str:
        """The state as the item's owner knows it."""
        return self.state.partition(CUT)[0].partition(BY)[0]

    @property
    def by(self) -> str:
        return self.state.partition(CUT)[0].partition(BY)[2]

    @property
    def passages(self) -> list[str]:
        """Digests of what was given, where that was not the whole item."""
        return self.state.partition(CUT)[2].split()


def passage(rendered: str) -> str:
    """A digest of what is shown of an item, without its header."""
    return state_of(rendered.partition("] ")[2], None)

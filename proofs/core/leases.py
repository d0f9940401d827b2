"""A memory that is edited while two workers lease it from the index queue, embed what it says and store the vectors.

The names of steps: `edit`; `claim 0`, `finish 0`, `die 0` of a worker; `tick`, the time of a lease.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_EDITS, _DEATHS = 2, 2


class State(NamedTuple):
    says: int = 0
    """The version of the content."""
    vector: int | None = None
    """The version whose vector is stored."""
    queued: bool = True
    leased: bool = False
    holds: tuple[int | None, ...] = (None, None)
    """The version that each worker has read and embeds."""
    deaths: int = 0


class Leases:
    """The model; its mutants are below."""

    looks_again = True
    expires = True
    takes_away = False

    def start(self) -> State:
        return State()

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        if state.says < _EDITS:
            yield "edit", state._replace(says=state.says + 1, vector=None, queued=True, leased=False)
        if state.queued and state.leased and self.expires:
            yield "tick", state._replace(leased=False)
        for worker, version in enumerate(state.holds):
            if version is None:
                if state.queued and not state.leased:
                    yield f"claim {worker}", self._claim(state, worker)
                continue
            yield f"finish {worker}", self._finish(state, worker, version)
            if state.deaths < _DEATHS:
                yield (
                    f"die {worker}",
                    state._replace(holds=_with(state.holds, worker, None), deaths=state.deaths + 1),
                )

    def faults(self, state: State) -> Iterator[str]:
        if state.vector is not None and state.vector != state.says:
            yield "a vector is of what the memory said before"
        if state.vector is None and not state.queued and not any(v is not None for v in state.holds):
            yield "a memory without a vector left the queue"

    def unfinished(self, state: State) -> Iterator[str]:
        if state.vector is None:
            yield "a memory got no vector"

    def _claim(self, state: State, worker: int) -> State:
        return state._replace(
            leased=True, queued=not self.takes_away, holds=_with(state.holds, worker, state.says)
        )

    def _finish(self, state: State, worker: int, version: int) -> State:
        state = state._replace(holds=_with(state.holds, worker, None))
        if self.looks_again and version != state.says:
            return state
        return state._replace(vector=version, queued=False, leased=False)


class Heedless(Leases):
    """Stores what it embedded, whatever the memory says by now."""

    looks_again = False


class Endless(Leases):
    """A lease does not end."""

    expires = False


class Taking(Leases):
    """A claim takes the row from the queue."""

    takes_away = True


MODEL = Leases
MUTANTS = (Heedless, Endless, Taking)


def _with(values: tuple, place: int, value: object) -> tuple:  # type: ignore[type-arg]
    return (*values[:place], value, *values[place + 1 :])

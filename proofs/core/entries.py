"""Writes to one mission: combined by two replicas, serialised by the mission's row, and evicting within its budgets.

The names of steps: `arrive 2` a request comes to its replica; `run 0` the replica's statement asks for the row, and has
it or waits for it; `commit 0`, `break 0` its end, or that of its connection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

TOKENS, ENTRIES = 60, 2
# One is more than the budget.
SIZES = (20, 35, 25, 30, 70)
REPLICAS = (0, 0, 0, 1, 1)
_BREAKS = 1
_NONE: tuple[int, ...] = ()


class Entries(NamedTuple):
    """What is committed. Entries go by their writers' numbers, oldest first."""

    held: tuple[int, ...] = ()
    tokens: int = 0
    evicted: tuple[int, ...] = ()
    order: tuple[int, ...] = ()
    """All that was written."""


class State(NamedTuple):
    entries: Entries = Entries()
    queued: tuple[tuple[int, ...] | None, ...] = (None, None)
    """Of each replica, what waits behind its statement. None: it has none."""
    batches: tuple[tuple[int, ...], ...] = (_NONE, _NONE)
    """Of each replica, what its statement writes."""
    locks: tuple[int, ...] = ()
    """The replica that holds the row, and those that wait for it."""
    written: tuple[Entries | None, ...] = (None, None)
    """Of each replica, what its statement has written and not committed."""
    answers: tuple[str, ...] = ("",) * len(SIZES)
    breaks: int = 0


def put(entries: Entries, writers: tuple[int, ...]) -> Entries:
    """As `cache.put_entries`: one after the other, and the oldest make room."""
    held, tokens, evicted = list(entries.held), entries.tokens, list(entries.evicted)
    for writer in writers:
        if SIZES[writer] > TOKENS:
            continue
        while tokens + SIZES[writer] > TOKENS or len(held) >= ENTRIES:
            oldest = held.pop(0)
            tokens -= SIZES[oldest]
            evicted.append(oldest)
        held.append(writer)
        tokens += SIZES[writer]
    added = tuple(writer for writer in writers if SIZES[writer] <= TOKENS)
    return Entries(tuple(held), tokens, tuple(evicted), (*entries.order, *added))


class Writes:
    """The model; its mutants are below."""

    locks = True
    answers_early = False

    def start(self) -> State:
        return State()

    def put(self, entries: Entries, writers: tuple[int, ...]) -> Entries:
        return put(entries, writers)

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        for writer, replica in enumerate(REPLICAS):
            if state.answers[writer] == "":
                yield f"arrive {writer}", self._arrive(state, writer, replica)
        for replica in (0, 1):
            if not state.batches[replica]:
                continue
            if state.written[replica] is None:
                if replica not in state.locks:
                    yield f"run {replica}", self._run(state, replica)
                continue
            yield f"commit {replica}", self._commit(state, replica)
            if state.breaks < _BREAKS:
                yield f"break {replica}", self._break(state, replica)

    def faults(self, state: State) -> Iterator[str]:
        held = state.entries.held
        if sum(SIZES[writer] for writer in held) != state.entries.tokens:
            yield "the mission's sum is not that of its entries"
        if sum(SIZES[writer] for writer in held) > TOKENS or len(held) > ENTRIES:
            yield "a mission is over its budget"
        if len(set(held)) < len(held):
            yield "an entry was written twice"
        for writer, answer in enumerate(state.answers):
            there = writer in held or writer in state.entries.evicted
            if answer == "written" and not there:
                yield "an acknowledged entry is lost"
            if answer == "refused" and there:
                yield "a refused entry was written"
        if held != state.entries.order[len(state.entries.order) - len(held) :]:
            yield "an older entry outlived a newer one"

    def unfinished(self, state: State) -> Iterator[str]:
        if any(answer in ("", "waits") for answer in state.answers):
            yield "a request has no answer"

    def _arrive(self, state: State, writer: int, replica: int) -> State:
        state = state._replace(answers=_with(state.answers, writer, "waits"))
        behind = state.queued[replica]
        if behind is not None:
            return state._replace(queued=_with(state.queued, replica, (*behind, writer)))
        return state._replace(
            queued=_with(state.queued, replica, _NONE), batches=_with(state.batches, replica, (writer,))
        )

    def _run(self, state: State, replica: int) -> State:
        if not self.locks:
            return self._written(state, replica)
        state = state._replace(locks=(*state.locks, replica))
        return self._written(state, replica) if state.locks[0] == replica else state

    def _written(self, state: State, replica: int) -> State:
        made = self.put(state.entries, state.batches[replica])
        state = state._replace(written=_with(state.written, replica, made))
        return self._answered(state, replica) if self.answers_early else state

    def _commit(self, state: State, replica: int) -> State:
        made = state.written[replica]
        assert made is not None
        state = self._answered(state._replace(entries=self._together(state, made, replica)), replica)
        return self._ended(state, replica)

    def _together(self, state: State, made: Entries, replica: int) -> Entries:
        """Rows of others stay; the mission's row is that of who writes it last."""
        others = tuple(w for w in state.entries.held if w not in made.held and w not in made.evicted)
        held = tuple(w for w in (*others, *made.held) if w not in state.entries.evicted)
        evicted = tuple(dict.fromkeys((*state.entries.evicted, *made.evicted)))
        order = tuple(dict.fromkeys((*state.entries.order, *made.order)))
        return Entries(held, made.tokens, evicted, order)

    def _break(self, state: State, replica: int) -> State:
        """Who waited for it asks again."""
        again = state.answers
        for writer in state.batches[replica]:
            again = _with(again, writer, "") if again[writer] == "waits" else again
        return self._ended(state._replace(answers=again, breaks=state.breaks + 1), replica)

    def _answered(self, state: State, replica: int) -> State:
        answers = state.answers
        for writer in state.batches[replica]:
            answers = _with(answers, writer, "written" if SIZES[writer] <= TOKENS else "refused")
        return state._replace(answers=answers)

    def _ended(self, state: State, replica: int) -> State:
        """Gives the row to the next, and begins with what has queued."""
        behind = state.queued[replica] or _NONE
        state = state._replace(
            locks=tuple(each for each in state.locks if each != replica),
            written=_with(state.written, replica, None),
            batches=_with(state.batches, replica, behind),
            queued=_with(state.queued, replica, _NONE if behind else None),
        )
        if state.locks and state.written[state.locks[0]] is None:
            return self._written(state, state.locks[0])
        return state


class Unlocked(Writes):
    """Reads the sums without locking the mission's row."""

    locks = False


class Hasty(Writes):
    """Answers before the commit."""

    answers_early = True


class Unbounded(Writes):
    """Makes room for the first of a batch alone."""

    def put(self, entries: Entries, writers: tuple[int, ...]) -> Entries:
        made = put(entries, writers[:1])
        rest = tuple(writer for writer in writers[1:] if SIZES[writer] <= TOKENS)
        tokens = made.tokens + sum(SIZES[writer] for writer in rest)
        return Entries((*made.held, *rest), tokens, made.evicted, (*made.order, *rest))


class Backwards(Writes):
    """Lets the newest make room."""

    def put(self, entries: Entries, writers: tuple[int, ...]) -> Entries:
        made = put(entries._replace(held=entries.held[::-1]), writers)
        added = [writer for writer in made.held if writer in writers]
        kept = [writer for writer in entries.held if writer in made.held]
        return made._replace(held=(*kept, *added))


MODEL = Writes
MUTANTS = (Unlocked, Hasty, Unbounded, Backwards)


def _with(values: tuple, place: int, value: object) -> tuple:  # type: ignore[type-arg]
    return (*values[:place], value, *values[place + 1 :])

"""Random sessions over the pure policy of paging, and the invariants that each step must keep."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from services.cache.sessions.paging.batches import Batch, Policy, Shown, batch, sent
from services.cache.sessions.paging.fidelity import Level, Move, PagedObject, Sizes, pressure, zone

Decide = Callable[[Sequence[PagedObject], Sequence[Shown], int, int, Policy], Batch | None]
BUDGET = 1_000
_TYPES = ("file_context", "tool_result", "plan", "conversation_phase")


class State(NamedTuple):
    objects: dict[str, PagedObject]
    shown: tuple[Shown, ...]
    turn: int


class Session:
    """The state that a host and the service would hold. `step` returns what it violates."""

    def __init__(self, seed: int, decide: Decide = batch, budget: int = BUDGET) -> None:
        self._chance = random.Random(seed)
        self._decide = decide
        self._budget = budget
        self._policy = Policy()
        self._texts: dict[str, int] = {}
        self.state = State({}, (), 0)
        self.transitions: list[Move] = []
        self.batches = 0

    def play(self, turns: int) -> Iterator[str]:
        for _ in range(turns):
            for _ in range(self._chance.randint(0, 4)):
                yield from self._between(self._chance.choice((self._admit, self._admit, *self._changes())))
            yield from self._end_turn()

    def _changes(self) -> Sequence[Callable[[], None]]:
        return (self._access, self._pin, self._release, self._supersede) if self.state.objects else ()

    def _between(self, act: Callable[[], None]) -> Iterator[str]:
        """Whatever happens between batches only appends to what was sent."""
        before = self.state
        act()
        if self.state.shown[: len(before.shown)] != before.shown:
            yield "what was sent changed between batches"
        yield from self._holds(before, self._moved(before))

    def _admit(self) -> None:
        name = f"{len(self.state.objects):04}"
        full = self._chance.randint(1, 500)
        detailed = max(1, full // 4) if full >= 120 and self._chance.random() < 0.8 else None
        compact = max(1, full // 20) if full >= 300 and detailed else None
        sizes = Sizes(full, detailed, compact, min(compact or detailed or full, self._chance.randint(8, 20)))
        source = f"source {self._chance.randint(0, 8)}"
        new = PagedObject(
            name, self._chance.choice(_TYPES), Level.FULL, sizes, False, False, self.state.turn, 0, source
        )
        self._texts[name] = full
        self._put(new)
        self.state = self.state._replace(shown=(*self.state.shown, Shown(name, Level.FULL)))

    def _access(self) -> None:
        known = self._any()
        if known.level != Level.FULL:
            self._note(known, Level.FULL)
            if Shown(known.id, Level.FULL) not in self.state.shown:
                self.state = self.state._replace(shown=(*self.state.shown, Shown(known.id, Level.FULL)))
        self._put(known._replace(level=Level.FULL, last_access=self.state.turn, accesses=known.accesses + 1))

    def _pin(self) -> None:
        known = self._any()
        self._put(known._replace(pinned=not known.pinned))

    def _release(self) -> None:
        known = self._any()
        if known.level < Level.STUB:
            self._note(known, Level.STUB)
            known = known._replace(level=Level.STUB)
        self._put(known._replace(pinned=False))

    def _supersede(self) -> None:
        known = self._any()
        if known.level < Level.STUB:
            self._note(known, Level.STUB)
            known = known._replace(level=Level.STUB)
        self._put(known._replace(superseded=True, pinned=False))

    def _end_turn(self) -> Iterator[str]:
        before = self.state
        objects = [*before.objects.values()]
        full = max(pressure(objects), sent(objects, before.shown)) > self._policy.high * self._budget
        made = self._decide(objects, before.shown, self._budget, before.turn, self._policy)
        if (made is not None) != full:
            yield "a batch below the high watermark" if made else "no batch above the high watermark"
        if made is not None:
            self.batches += 1
            for move in made.moves:
                if before.objects[move.id].level != move.before:
                    yield "a transition from a level that the object did not have"
                self.transitions.append(move)
                self._put(before.objects[move.id]._replace(level=move.after))
            self.state = self.state._replace(shown=(*before.shown[: made.kept], *made.then))
            yield from self._batched(before, made)
            yield from self._holds(before, {move.id for move in made.moves})
        self.state = self.state._replace(turn=before.turn + 1)

    def _batched(self, before: State, made: Batch) -> Iterator[str]:
        reached = zone(pressure([*before.objects.values()]), self._budget)
        if reached != "emergency" and any(before.objects[move.id].pinned for move in made.moves):
            yield "a pinned object moved outside an emergency"
        after = [*self.state.objects.values()]
        low = self._policy.low * self._budget
        if max(pressure(after), sent(after, self.state.shown)) < low:
            return
        if made.kept:
            yield "too much stayed as it was"
        if any(self._may_move(each, reached) for each in after):
            yield "not all moved that may"

    def _may_move(self, each: PagedObject, reached: str) -> bool:
        if reached == "emergency":
            return each.level < Level.EVICTED and each.sizes.at(each.level) > 0
        idle = each.last_access <= self.state.turn - self._policy.idle_turns
        least = Level.STUB if reached == "critical" or each.superseded else Level.COMPACT
        shrinks = each.sizes.stub < each.sizes.at(each.level)
        return (
            not each.pinned
            and each.level < least
            and shrinks
            and (idle or each.superseded or reached == "critical")
        )

    def _holds(self, before: State, moved: set[str]) -> Iterator[str]:
        """What is true after each step."""
        now = self.state
        levels = dict.fromkeys(Level, 0)
        for each in now.objects.values():
            levels[each.level] += each.sizes.at(each.level)
            if each.sizes.full != self._texts[each.id]:
                yield "an object's content changed"
        if sum(levels.values()) != pressure([*now.objects.values()]):
            yield "tokens per level do not add up"
        if moved != self._moved(before):
            yield "a change without a transition"
        shown = {id_: min(e.level for e in now.shown if e.id == id_) for id_ in {e.id for e in now.shown}}
        for each in now.objects.values():
            if each.level < shown.get(each.id, Level.EVICTED):
                yield "an object does not stand in the context at its level"
        if len(set(now.shown)) != len(now.shown):
            yield "an object stands twice at the same level"

    def _moved(self, before: State) -> set[str]:
        return {
            id_
            for id_, each in self.state.objects.items()
            if each.level != before.objects.get(id_, each).level
        }

    def _note(self, known: PagedObject, after: Level) -> None:
        self.transitions.append(Move(known.id, known.level, after, "access"))

    def _any(self) -> PagedObject:
        return self._chance.choice([*self.state.objects.values()])

    def _put(self, known: PagedObject) -> None:
        self.state = self.state._replace(objects={**self.state.objects, known.id: known})


def replayed(session: Session) -> dict[str, Level]:
    """The levels that the transitions alone tell."""
    levels = dict.fromkeys(session.state.objects, Level.FULL)
    for move in session.transitions:
        assert levels[move.id] == move.before
        levels[move.id] = move.after
    return levels

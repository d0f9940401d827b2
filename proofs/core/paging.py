"""The policy of paging itself, in every order of what a host, an agent and the ends of turns do to a few objects.

The names of steps: `admit`; `access`, `pin`, `release` and `supersede` of an object; `turn`. The invariants are those
of the random sessions of `make proof-paging`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from proofs.paging import model
from proofs.paging.__main__ import MUTANTS as POLICIES
from proofs.paging.model import Decide, Session
from services.cache.sessions.paging.batches import Shown, batch
from services.cache.sessions.paging.fidelity import Level, PagedObject, Sizes

# In this order: together they are above the budget.
_ADMITTED = (Sizes(480, 120, 24, 12), Sizes(300, None, None, 12), Sizes(480, 120, 24, 12))
_TARGETED = ("access", "pin", "release", "supersede")


class Left(NamedTuple):
    """How often each may still happen."""

    admit: int = len(_ADMITTED)
    access: int = 1
    pin: int = 1
    release: int = 1
    supersede: int = 1
    turn: int = 3


class State(NamedTuple):
    objects: tuple[PagedObject, ...] = ()
    shown: tuple[Shown, ...] = ()
    turn: int = 0
    left: Left = Left()
    wrong: tuple[str, ...] = ()


class Scripted(Session):
    """A session that stands in `state`, and does one thing to one object."""

    def __init__(self, decide: Decide, state: State, target: int | None = None) -> None:
        super().__init__(0, decide)
        self.state = model.State({each.id: each for each in state.objects}, state.shown, state.turn)
        self._texts = {each.id: each.sizes.full for each in state.objects}
        self._target = target

    def act(self, name: str) -> tuple[str, ...]:
        """What it violates."""
        return tuple(self._end_turn() if name == "turn" else self._between(getattr(self, f"_{name}")))

    def _admit(self) -> None:
        number = len(self.state.objects)
        new = PagedObject(
            f"{number:04}",
            "file_context",
            Level.FULL,
            _ADMITTED[number],
            False,
            False,
            self.state.turn,
            0,
            f"source {number}",
        )
        self._texts[new.id] = new.sizes.full
        self._put(new)
        self.state = self.state._replace(shown=(*self.state.shown, Shown(new.id, Level.FULL)))

    def _any(self) -> PagedObject:
        assert self._target is not None
        return [*self.state.objects.values()][self._target]


class Paging:
    decide: Decide = staticmethod(batch)

    def start(self) -> State:
        return State()

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        if state.wrong:
            return
        for name in ("admit", "turn"):
            if getattr(state.left, name):
                yield name, self._after(state, name)
        for name in _TARGETED:
            if getattr(state.left, name):
                for target in range(len(state.objects)):
                    yield f"{name} {target}", self._after(state, name, target)

    def faults(self, state: State) -> Iterator[str]:
        yield from state.wrong

    def unfinished(self, state: State) -> Iterator[str]:
        if state.left.turn and not state.wrong:
            yield "a turn does not end"

    def _after(self, state: State, name: str, target: int | None = None) -> State:
        session = Scripted(self.decide, state, target)
        wrong = session.act(name)
        now = session.state
        left = state.left._replace(**{name: getattr(state.left, name) - 1})
        return State(tuple(now.objects.values()), now.shown, now.turn, left, wrong)


MODEL = Paging
MUTANTS = tuple(
    type(policy.__name__.capitalize(), (Paging,), {"decide": staticmethod(policy)}) for policy in POLICIES
)

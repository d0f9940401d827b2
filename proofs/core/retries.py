"""A write to two owners, under one key: retried by its client while the service dies and owners fail.

The names of steps: `begin 0`, `cache 0`, `memory 0`, `complete 0` are what client 0's request does next, each its own
transaction; `fail 0` its end before that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

# The first two repeat one request; the third sends another body under the same key.
BODIES = ("a", "a", "b")
_TRIES = 2
_STEPS = ("begin", "cache", "memory", "complete")


class Record(NamedTuple):
    body: str
    plan: int
    complete: bool = False


class Request(NamedTuple):
    tries: int = 0
    step: int = 0
    plan: int = -1
    """What it found or made: a try's number. Plans of two tries differ, as settings do."""
    answer: str = ""


class State(NamedTuple):
    record: Record | None = None
    owners: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """The plans by which each owner has written."""
    requests: tuple[Request, ...] = (Request(),) * len(BODIES)


class Retries:
    """The model; its mutants are below."""

    owners_know_keys = True
    keeps_plans = True
    completes_first = False

    def start(self) -> State:
        return State()

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        for client, request in enumerate(state.requests):
            if request.answer:
                continue
            name = self.order()[request.step]
            yield f"{name} {client}", getattr(self, f"_{name}")(state, client, request)
            if request.step and request.tries < _TRIES - 1:
                again = Request(tries=request.tries + 1)
                yield f"fail {client}", self._told(state, client, again)

    def order(self) -> tuple[str, ...]:
        return ("begin", "complete", "cache", "memory") if self.completes_first else _STEPS

    def faults(self, state: State) -> Iterator[str]:
        if any(len(written) > 1 for written in state.owners):
            yield "an owner wrote twice"
        if len({plan for written in state.owners for plan in written}) > 1:
            yield "owners wrote by different plans"
        answers = {request.answer for request in state.requests if request.answer.startswith("done")}
        if answers and not all(state.owners):
            yield "an acknowledged write is not there"
        if len(answers) > 1:
            yield "a retry got another answer"
        bodies = {body for body, each in zip(BODIES, state.requests, strict=True) if "done" in each.answer}
        if len(bodies) > 1:
            yield "two bodies were written under one key"

    def unfinished(self, state: State) -> Iterator[str]:
        if not all(request.answer for request in state.requests):
            yield "a request has no answer"

    def _begin(self, state: State, client: int, request: Request) -> State:
        own = client * _TRIES + request.tries
        record = state.record
        if record is None:
            state = state._replace(record=Record(BODIES[client], own))
            return self._told(state, client, request._replace(step=1, plan=own))
        if record.body != BODIES[client]:
            return self._told(state, client, request._replace(answer="refused"))
        if record.complete:
            return self._told(state, client, request._replace(answer=f"done {record.plan}"))
        plan = record.plan if self.keeps_plans else own
        return self._told(state, client, request._replace(step=1, plan=plan))

    def _cache(self, state: State, client: int, request: Request) -> State:
        return self._write(state, client, request, 0)

    def _memory(self, state: State, client: int, request: Request) -> State:
        return self._write(state, client, request, 1)

    def _write(self, state: State, client: int, request: Request, owner: int) -> State:
        """An owner that knows the key answers what it did."""
        written = state.owners[owner]
        if not written or not self.owners_know_keys:
            owners = list(state.owners)
            owners[owner] = (*written, request.plan)
            state = state._replace(owners=(owners[0], owners[1]))
        return self._next(state, client, request)

    def _complete(self, state: State, client: int, request: Request) -> State:
        assert state.record is not None
        state = state._replace(record=state.record._replace(plan=request.plan, complete=True))
        return self._next(state, client, request)

    def _next(self, state: State, client: int, request: Request) -> State:
        step = request.step + 1
        if step == len(_STEPS):
            return self._told(state, client, request._replace(step=0, answer=f"done {request.plan}"))
        return self._told(state, client, request._replace(step=step))

    def _told(self, state: State, client: int, request: Request) -> State:
        requests = list(state.requests)
        requests[client] = request
        return state._replace(requests=tuple(requests))


class Keyless(Retries):
    """Owners do not know the key."""

    owners_know_keys = False


class Forgetful(Retries):
    """A retry goes by a plan of its own."""

    keeps_plans = False


class Early(Retries):
    """The answer is stored before the owners have written."""

    completes_first = True


MODEL = Retries
MUTANTS = (Keyless, Forgetful, Early)

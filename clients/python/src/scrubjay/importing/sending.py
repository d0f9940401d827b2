"""Sends what an import found, in batches. A batch that the service refuses is halved until the culprit is alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from scrubjay.errors import ApiError, ForbiddenError, TooManyError, UnauthorizedError, UnavailableError
from scrubjay.groups import Calls
from scrubjay.importing.checks import LONGEST, split
from scrubjay.importing.items import File, Found, Item, LeftOut, Refused
from scrubjay.models import AddFactInput, WriteMemoryInput

MOST = 100
"""Items of a batch."""
_MOST_REFUSED = 100
"""In a row by the service: it will refuse the others as well."""


class Hopeless(Exception):
    """Why going on makes no sense."""


@dataclass(frozen=True, slots=True)
class Written:
    found: Found
    status: str
    """`created`, `known` and the like, as the service says it."""
    masked: int = 0
    """How many secrets were masked in its batch."""
    id: int | None = None
    """A memory's id."""


Outcome: TypeAlias = Written | Refused | LeftOut


class _Batch(Protocol):
    def __call__(self, calls: Calls, batch: Sequence[Found]) -> list[Written]: ...


class Sender:
    """Holds one batch of each kind, whatever the size of the export."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._refused = 0

    def outcomes(self, items: Iterable[Item]) -> Iterator[Outcome]:
        """Raises Hopeless, and errors of the client that are not about what was sent."""
        waiting: dict[_Batch, list[Found]] = {_memories: [], _facts: [], _file: []}
        for item in items:
            if not isinstance(item, Found):
                yield item
                continue
            send = _batch_of(item)
            if _is_full(waiting[send], item):
                yield from self._send(send, waiting[send])
                waiting[send] = []
            waiting[send].append(item)
        for send, batch in waiting.items():
            yield from self._send(send, batch)

    def _send(self, send: _Batch, batch: Sequence[Found]) -> Iterator[Outcome]:
        if not batch:
            return
        try:
            written = send(self._calls, batch)
        except (UnauthorizedError, UnavailableError, TooManyError):
            raise
        except ApiError as error:
            if error.problem.status >= 500:
                raise
            yield from self._halved(send, batch, error)
        else:
            self._refused = 0
            yield from written

    def _halved(self, send: _Batch, batch: Sequence[Found], error: ApiError) -> Iterator[Outcome]:
        if len(batch) > 1:
            middle = len(batch) // 2
            yield from self._send(send, batch[:middle])
            yield from self._send(send, batch[middle:])
            return
        write = batch[0].write
        if _is_about_time(error) and not isinstance(write, AddFactInput) and write.occurred_at is not None:
            # It has happened, and the service's clock is behind: the time at which it is written is near.
            now = replace(write, occurred_at=None)
            yield from self._send(send, [replace(batch[0], write=now)])
            return
        self._refused += 1
        yield Refused(batch[0].place, _reason(error))
        if self._refused >= _MOST_REFUSED and isinstance(error, ForbiddenError):
            raise Hopeless(f"the service refused {self._refused} records in a row: {_reason(error)}")


def _is_about_time(error: ApiError) -> bool:
    """Whether nothing but the time is wrong."""
    return bool(error.errors) and all(each.field.endswith("occurred_at") for each in error.errors)


def _reason(error: ApiError) -> str:
    """What is wrong with the fields, or else what the service says."""
    fields = [f"{each.field.rpartition('.')[2]} {each.message}" for each in error.errors]
    return f"the service refused it: {'; '.join(fields) or error.problem.detail or error.problem.title}"


def _batch_of(found: Found) -> _Batch:
    if isinstance(found.write, File):
        return _file
    return _memories if isinstance(found.write, WriteMemoryInput) else _facts


def _is_full(batch: Sequence[Found], further: Found) -> bool:
    if len(batch) >= MOST or isinstance(further.write, File):
        return True
    return sum(map(_size, batch)) + _size(further) > LONGEST


def _size(found: Found) -> int:
    """Characters, roughly."""
    if isinstance(found.write, WriteMemoryInput):
        return len(found.write.content) + sum(map(len, found.write.topics))
    return len(found.write.object) if isinstance(found.write, AddFactInput) else 0


def _memories(calls: Calls, batch: Sequence[Found]) -> list[Written]:
    memories = [found.write for found in batch if isinstance(found.write, WriteMemoryInput)]
    answer = calls.memory.write_batch(memories=memories)
    written = _written(batch, [result.status for result in answer.results], len(answer.masked))
    return [replace(each, id=result.id) for each, result in zip(written, answer.results, strict=True)]


def _facts(calls: Calls, batch: Sequence[Found]) -> list[Written]:
    facts = [found.write for found in batch if isinstance(found.write, AddFactInput)]
    answer = calls.kg.batch(facts=facts)
    return _written(batch, [result.status for result in answer.results], len(answer.masked))


def _file(calls: Calls, batch: Sequence[Found]) -> list[Written]:
    """A file that was stored before in other pieces is written anew from the first that differs."""
    statuses, masked = [], 0
    for file in (found.write for found in batch if isinstance(found.write, File)):
        pieces = list(split(file.text))
        answers = [
            calls.vault.put(
                text, path=file.path, piece=place, pieces=len(pieces), occurred_at=file.occurred_at
            )
            for place, text in enumerate(pieces, 1)
        ]
        masked += sum(len(answer.masked) for answer in answers)
        changed = [answer.status for answer in answers if answer.status != "unchanged"]
        statuses.append(changed[0] if changed else "known")
    return _written(batch, statuses, masked)


def _written(batch: Sequence[Found], statuses: Sequence[str], masked: int) -> list[Written]:
    written = [Written(found, status) for found, status in zip(batch, statuses, strict=True)]
    return [replace(written[0], masked=masked), *written[1:]]

"""Reads the files that a request links, through their owner."""

from __future__ import annotations

from typing import NamedTuple

from services.context.assembly.asking import Ask
from services.context.assembly.choice import Chosen
from services.context.assembly.rendering import File
from services.context.forwarding.owners import Failed, LinkedFile, Owners
from services.context.schemas import Degraded
from services.context.stores import LINKS
from shared.deadline import Deadline
from shared.tokens import CHARACTERS_PER_TOKEN


class Linked(NamedTuple):
    files: list[File]
    degraded: list[Degraded]


async def read_links(owners: Owners, ask: Ask, deadline: Deadline) -> Linked:
    """The linked files, and the reason for each that could not be read."""
    paths = list(dict.fromkeys(ask.request.explicit_links))
    if not paths:
        return Linked([], [])
    try:
        answers = await owners[LINKS.owner].links(
            paths, ask.budget.tokens * CHARACTERS_PER_TOKEN, ask.principal, deadline, ask.request_id
        )
    except Failed as error:
        return Linked([], [Degraded(LINKS.name, f"{LINKS.owner} {error.reason}")])
    refusals = {file.path: _refusal(file, ask) for file in answers}
    return Linked(
        files=[_file(file) for file in answers if refusals[file.path] is None],
        degraded=[_degraded(path, reason) for path, reason in refusals.items() if reason is not None],
    )


def _refusal(file: LinkedFile, ask: Ask) -> str | None:
    if file.refused is not None or file.modified_at is None:
        return file.refused or "erroring"
    return "newer than as_of" if ask.as_of is not None and file.modified_at > ask.as_of else None


def _file(file: LinkedFile) -> File:
    assert file.modified_at is not None
    return File(id=0, scope="vault", kind="file", text=file.text, created_at=file.modified_at, path=file.path)


def without_room(chosen: Chosen) -> list[Degraded]:
    """The linked files that did not fit into the block at all."""
    return [
        _degraded(placed.ranked.candidate.path, placed.outcome)
        for placed in chosen.placed
        if isinstance(placed.ranked.candidate, File) and placed.rendered is None
    ]


def _degraded(path: str, reason: str) -> Degraded:
    return Degraded(f"{LINKS.name}:{path}", reason)

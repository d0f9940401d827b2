"""The files that a request links, as their owner reads them."""

from __future__ import annotations

from typing import NamedTuple

from services.context.assembly.asking import Ask
from services.context.assembly.rendering import File
from services.context.forwarding.owners import Failed, Owners
from services.context.schemas import Degraded
from services.context.stores import LINKS
from shared.deadline import Deadline
from shared.tokens import CHARACTERS_PER_TOKEN


class Linked(NamedTuple):
    files: list[File]
    degraded: list[Degraded]


async def read_links(owners: Owners, ask: Ask, deadline: Deadline) -> Linked:
    """The linked files; each that could not be read is named with its reason."""
    paths = list(dict.fromkeys(ask.request.explicit_links))
    if not paths:
        return Linked([], [])
    try:
        answers = await owners[LINKS.owner].links(
            paths, ask.tokens * CHARACTERS_PER_TOKEN, ask.principal, deadline, ask.request_id
        )
    except Failed as error:
        return Linked([], [Degraded(LINKS.name, f"{LINKS.owner} {error.reason}")])
    return Linked(
        files=[
            File(
                id=0, scope="vault", kind="file", text=file.text, created_at=file.modified_at, path=file.path
            )
            for file in answers
            if file.modified_at is not None and file.modified_at <= ask.now
        ],
        degraded=[Degraded(f"{LINKS.name}:{file.path}", file.refused) for file in answers if file.refused],
    )

"""Makes what is put of the entries of a batch, which may take long."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias

from services.cache.entries.puts.making import put_of
from services.cache.entries.puts.outcomes import refusal_of
from services.cache.entries.queries_write import Put
from services.cache.entries.schemas import BatchItem, WriteCacheInput
from shared.auth import Principal
from shared.concurrency.threads import beside_each
from shared.errors import AppError
from shared.text import Language, characters

Languages: TypeAlias = Mapping[str, Language]


async def puts_of(
    principal: Principal, entries: Mapping[int, WriteCacheInput], languages: Languages
) -> tuple[dict[str, dict[int, Put]], dict[int, BatchItem]]:
    """What to put, by mission and position, and the items that are refused."""
    puts: dict[str, dict[int, Put]] = defaultdict(dict)
    refused: dict[int, BatchItem] = {}
    made = await beside_each([*entries.values()], characters, partial(_made_of, principal, languages))
    for (position, entry), one in zip(entries.items(), made, strict=True):
        if isinstance(one, BatchItem):
            refused[position] = one
        else:
            puts[entry.mission_id][position] = one
    return puts, refused


def _made_of(
    principal: Principal, languages: Languages, entries: Sequence[WriteCacheInput]
) -> list[Put | BatchItem]:
    made: list[Put | BatchItem] = []
    for entry in entries:
        try:
            made.append(put_of(principal, entry, languages))
        except AppError as error:
            made.append(refusal_of(error))
    return made

"""Makes what is put of the entries of a batch, which may take long."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping

from services.cache.entries.puts.making import put_of
from services.cache.entries.puts.outcomes import refusal_of
from services.cache.entries.queries_write import Put
from services.cache.entries.schemas import BatchItem, WriteCacheInput
from services.cache.entries.text import characters
from shared.auth import Principal
from shared.concurrency.batching import slices
from shared.concurrency.threads import SHORT, beside
from shared.errors import AppError
from shared.text import Language

# Sending a batch to another process and waiting for it takes longer than reading so many characters here.
_HERE_CHARACTERS = 4 * SHORT
# What an entry takes besides its texts, in characters of text that would take as long.
_ENTRY_CHARACTERS = 250


async def puts_of(
    principal: Principal,
    entries: Mapping[int, WriteCacheInput],
    languages: Mapping[str, Language],
    length: int,
) -> tuple[dict[str, dict[int, Put]], dict[int, BatchItem]]:
    """What to put, by mission and position, and the items that are refused.

    `length` is that of the entries as they came. No other request waits longer than for a text that is not long.
    """
    if length > _HERE_CHARACTERS:
        return await beside(length, _made_of, principal, entries, languages)
    puts: dict[str, dict[int, Put]] = defaultdict(dict)
    refused: dict[int, BatchItem] = {}
    for part in slices(entries.items(), _effort, SHORT):
        made, not_made = await beside(sum(map(_effort, part)), _made_of, principal, dict(part), languages)
        for mission_id, of_mission in made.items():
            puts[mission_id].update(of_mission)
        refused.update(not_made)
        await asyncio.sleep(0)
    return puts, refused


def _made_of(
    principal: Principal, entries: Mapping[int, WriteCacheInput], languages: Mapping[str, Language]
) -> tuple[dict[str, dict[int, Put]], dict[int, BatchItem]]:
    puts: dict[str, dict[int, Put]] = defaultdict(dict)
    refused: dict[int, BatchItem] = {}
    for position, entry in entries.items():
        try:
            puts[entry.mission_id][position] = put_of(principal, entry, languages)
        except AppError as error:
            refused[position] = refusal_of(error)
    return puts, refused


def _effort(entry: tuple[int, WriteCacheInput]) -> int:
    return characters(entry[1]) + _ENTRY_CHARACTERS

"""What an item states in the place of, for its header in a block: `was: db-7`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.context import stores
from services.context.assembly.ranking import Ranked
from services.context.assembly.supersession.newest import Superseded
from services.context.assembly.supersession.statements import read, split
from shared.packing import shorten
from shared.provenance import TRUSTED

# Characters of a former value.
_LONGEST = 60


def with_former_values(ranking: Sequence[Ranked], superseded: Iterable[Superseded]) -> list[Ranked]:
    """Each item with the value of the newest that it supersedes, at the best of its chunks.

    A header lends its text the trust of its item, so it tells nothing of a source that is trusted less.
    """
    newest: dict[str, Ranked] = {}
    for older in superseded:
        other = newest.get(older.by)
        if other is None or other.candidate.stated_at < older.ranked.candidate.stated_at:
            newest[older.by] = older.ranked
    return [_with(ranked, newest.pop(_handle(ranked), None)) if newest else ranked for ranked in ranking]


def _handle(ranked: Ranked) -> str:
    return stores.BY_NAME[ranked.store].handle(ranked.candidate.id)


def _with(ranked: Ranked, older: Ranked | None) -> Ranked:
    if older is None or (_is_trusted(ranked) and not _is_trusted(older)):
        return ranked
    value = _value(older.candidate.text)
    # "moved from db-7 to db-9" tells it already.
    return ranked if value.casefold() in ranked.candidate.text.casefold() else ranked._replace(was=value)


def _is_trusted(ranked: Ranked) -> bool:
    return ranked.candidate.source_kind in TRUSTED


def _value(text: str) -> str:
    """The value that a statement states, or else how the text begins."""
    statements = read(split(text))
    stated = len(statements) == 1 and statements[0].alone
    text = " ".join(statements[0].shown if stated else text.split())
    beginning = shorten(text, _LONGEST)
    return beginning if beginning == text else f"{beginning.rstrip()}…"

"""The values of the statements that a search of a copy asks."""

from __future__ import annotations

from collections.abc import Sequence

from shared.search.hot.copies import Copy
from shared.search.hot.kept import Kept
from shared.search.hot.matching import Chosen, Match
from shared.search.hot.statements import ChangesValues, ChosenValues, NearestValues, ScopeValues
from shared.search.sql import Values


def of_changes(
    scopes: ScopeValues,
    values: Values,
    copies: Sequence[Copy],
    pending: list[int],
    known: Sequence[Kept],
) -> ChangesValues:
    """`known` are the rows of what was chosen before."""
    return ChangesValues(
        tenant=scopes.tenant,
        scope=scopes.scope,
        names=scopes.names,
        model=scopes.model,
        configs=values.configs,
        texts=values.texts,
        terms=values.terms,
        snapshots=[copy.snapshot for copy in copies],
        pending=pending,
        documents=values.documents,
        items=[kept.record["item_id"] for kept in known],
        numbers=[kept.record["chunk"] for kept in known],
        versions=[kept.version for kept in known],
        only=values.only,
        until=values.until,
        users=values.users,
    )


def of_nearest(values: Values, choice: Chosen) -> NearestValues:
    keys = choice.keys
    return NearestValues(
        tenant=values.tenant,
        model=values.model,
        vector=values.vector,
        items=[key >> 15 for key in keys],
        numbers=[key & 0x7FFF for key in keys],
    )


def of_chosen(values: Values, found: Sequence[Match], known: Sequence[Kept | None]) -> ChosenValues:
    return ChosenValues(
        tenant=values.tenant,
        scope=values.scope,
        items=[each.item for each in found],
        numbers=[each.chunk for each in found],
        versions=[None if kept is None else kept.version for kept in known],
        only=values.only,
        until=values.until,
        users=values.users,
    )

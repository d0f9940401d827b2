"""As whom a step is learned for which nobody asks: as those who wrote its events. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from shared.auth import Principal


def on_behalf(principal: Principal, keys: Sequence[str], bound: Mapping[str, Principal]) -> Principal:
    """The principal with all the bounds of the keys, as the last one that is bound.

    What a key may not end stays, whoever else wrote beside it.
    """
    own = [bound[key] for key in keys if key in bound]
    if not own:
        return principal
    return msgspec.structs.replace(
        principal,
        key=own[-1].key,
        agent=next((each.agent for each in own if each.agent is not None), None),
        missions=_common(each.missions for each in own),
        users=_common(each.users for each in own),
    )


def payer_of(keys: Sequence[str], bound: Mapping[str, Principal]) -> str | None:
    """The key that pays for a step: the last one that is bound, or else the last one."""
    return next((key for key in reversed(keys) if key in bound), keys[-1] if keys else None)


def _common(names: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    given = [each for each in names if each is not None]
    return frozenset.intersection(*given) if given else None

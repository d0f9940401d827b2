"""What paging at the gateway saves: sessions that are paged beside a random share that is not. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

import asyncpg

from services.context.costs.schemas import Savings, SessionCosts

_NORMAL_95 = 1.96


def savings(rows: Mapping[str, asyncpg.Record]) -> Savings:
    """By kind: how many sessions, with their calls, and mean and standard deviation of what one cost."""
    paged, control = (_costs(rows.get(kind)) for kind in ("gateway_paged", "gateway_control"))
    shares = _saved(paged, control)
    return Savings(paged, control, *(shares or (None, None, None)))


def _costs(row: asyncpg.Record | None) -> SessionCosts:
    if row is None:
        return SessionCosts(0, 0, None, None)
    return SessionCosts(row["sessions"], row["calls"], row["mean_usd"], row["deviation_usd"])


def _saved(paged: SessionCosts, control: SessionCosts) -> tuple[float, float, float] | None:
    """The share with its interval. None where one side has fewer than two sessions, or cost nothing.

    The error of the logarithm of a ratio of two means, by the delta method (Katz et al., Biometrics 34, 1978).
    """
    variance = 0.0
    for each in (paged, control):
        if each.usd_per_session is None or each.deviation_usd is None or each.usd_per_session <= 0:
            return None
        variance += (each.deviation_usd / each.usd_per_session) ** 2 / each.sessions
    ratio = (paged.usd_per_session or 0.0) / (control.usd_per_session or 1.0)
    factor = math.exp(_NORMAL_95 * math.sqrt(variance))
    return 1 - ratio, 1 - ratio * factor, 1 - ratio / factor

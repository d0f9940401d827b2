"""How many tokens a request may have. Pure."""

from __future__ import annotations

# Seed 004's constant.
NULL_NAMESPACE_BUDGET = 2_000


def resolve(
    asked: int | None, has_namespace: bool, default: int, ceiling: int | None, installation_limit: int
) -> int:
    """What was asked for, else the caller's default (2,000 without a mission), never above a ceiling."""
    wanted = (
        asked if asked is not None else (default if has_namespace else min(default, NULL_NAMESPACE_BUDGET))
    )
    limits = [limit for limit in (ceiling, installation_limit) if limit is not None]
    return min([wanted, *limits])

"""How many processors there are."""

from __future__ import annotations

import os
from pathlib import Path

# With so many, others find one free beside what one tenant is given.
_ENOUGH = 8
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def cores(quota: Path = _QUOTA) -> int:
    """The processors that this process may use, by its affinity and its container's limit."""
    # Only Linux has affinities.
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        allowed, period = map(int, quota.read_text().split())
    except (OSError, ValueError):
        return count
    return max(1, min(count, allowed // period))


def rest_on(count: int) -> float:
    """On so many processors, a tenant's work rests so many times as long as it took, for the sake of other tenants."""
    return max(0.0, _ENOUGH / count - 1)

"""Levels of fidelity as the tables hold them. Pure."""

from __future__ import annotations

from typing import TypeAlias

Fidelity: TypeAlias = int

L0, L1, L2, L3, EVICTED = range(5)
# What a fault or a goal brings up besides what was asked for leaves the context below this share.
PREFETCH_SHARE = 0.9

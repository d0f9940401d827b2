"""The table of a race and the comparisons that decide whether Scrubjay is ahead. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Figures = Mapping[str, Any]
ASSEMBLE = "assemble"
OURS = (ASSEMBLE, "memory query")
# Of the best peer's rate.
WRITE_RATIOS = {"one": 0.9, "eight": 1.2, "batch": 2.5}
SEARCH_RATIO, LATENCY_RATIO, HIT_POINTS = 1.5, 1.2, 15.0

_LINES: dict[str, Callable[[Figures], str]] = {
    "hit@10 / recall@10": lambda f: f"{f['hit10']:.3f} / {f['recall10']:.3f}",
    "p50 / p95 / p99 ms, c = 1": lambda f: _latencies(f["c1"]),
    "p50 / p95 / p99 ms, c = 8": lambda f: _latencies(f["c8"]),
    "p50 / p95 / p99 ms, c = 32": lambda f: _latencies(f["c32"]),
    "searches/s, c = 1; 8; 32": lambda f: "; ".join(f"{f[c]['per_s']:.0f}" for c in ("c1", "c8", "c32")),
    "CPU ms a search, c = 8: Postgres + own": lambda f: f"{f['c8']['postgres']:.1f} + {f['c8']['own']:.1f}",
    "writes/s: one; 8 writers; batch": lambda f: "; ".join(
        f"{f[name]['per_s']:.0f}" for name in WRITE_RATIOS
    ),
    "CPU ms a write: Postgres + own": lambda f: f"{f['one']['postgres']:.1f} + {f['one']['own']:.1f}",
    "bytes a memory on disk": lambda f: f"{f['bytes_each']:,}",
    "memory of its processes, MB": lambda f: f"{f['megabytes']:.0f}",
}


def _latencies(run: Figures) -> str:
    return f"{run['p50']:.0f} / {run['p95']:.0f} / {run['p99']:.0f}"


def table(figures: Mapping[str, Figures], missing: list[str]) -> str:
    """Markdown. A peer that cannot be installed has its column, too."""
    names = [*figures, *missing]
    rows = [["", *names], ["---"] * (len(names) + 1)]
    for title, cell in _LINES.items():
        rows.append([title, *(cell(of) for of in figures.values()), *("missing" for _ in missing)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def ratios(figures: Mapping[str, Figures]) -> dict[str, dict[str, float]]:
    """Scrubjay's figures over those of each peer; `hit10_points` is a difference."""
    ours = figures[ASSEMBLE]
    return {name: _ratios(ours, of) for name, of in figures.items() if name not in OURS}


def _ratios(ours: Figures, peer: Figures) -> dict[str, float]:
    found = {f"p50_{c}": round(ours[c]["p50"] / peer[c]["p50"], 2) for c in ("c1", "c8", "c32")}
    found |= {
        name: round(ours[name]["per_s"] / peer[name]["per_s"], 2) for name in ("c8", "c32", *WRITE_RATIOS)
    }
    return {**found, "hit10_points": round(100 * (ours["hit10"] - peer["hit10"]), 1)}


def comparisons(peers: Mapping[str, Figures]) -> dict[str, bool]:
    """A faster in-process library may answer a single caller up to a fifth sooner; the others may not."""
    holds: dict[str, bool] = {}
    for name, peer in peers.items():
        library = name.startswith("LangGraph")
        limits = {"c1": LATENCY_RATIO} if library else {"c1": 1.0, "c8": 1.0, "c32": 1.0}
        holds |= {f"{name}: p50 {c}": peer[f"p50_{c}"] <= most for c, most in limits.items()}
        holds |= {f"{name}: searches/s {c}": peer[c] >= SEARCH_RATIO for c in ("c8", "c32")}
        holds |= {f"{name}: writes {kind}": peer[kind] >= least for kind, least in WRITE_RATIOS.items()}
        holds[f"{name}: hit@10"] = peer["hit10_points"] >= HIT_POINTS
    return holds

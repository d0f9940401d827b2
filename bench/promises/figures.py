"""The promises of speed, and what each is measured against. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Found = Mapping[str, Any]
"""What each bench printed as its last line, by the bench's name."""


class Promise(NamedTuple):
    name: str
    what: str
    bar: float
    value: Callable[[Found], float]
    at_least: bool = False

    def holds(self, found: Found) -> bool:
        value = self.value(found)
        return value >= self.bar if self.at_least else value <= self.bar


def _largest(found: Found) -> Found:
    """The most tenants that the bench of growth measured: there, a tenant's peers are few."""
    (_, figures) = max((int(name), of) for name, of in found["growth"].items() if name != "seed")
    return dict(figures)


def _cpu(found: Found) -> float:
    run = _largest(found)["points"][0]["figures"]["copies assemble c1"]
    return float(sum(value for name, value in run.items() if name.startswith("cpu_")))


PROMISES = [
    Promise("T1", "search of a copied scope / by SQL, p50", 0.3, lambda f: f["hot"]["copy_over_sql"]),
    Promise("T2", "CPU ms of an assemble, copied scopes, all processes", 10.0, _cpu),
    Promise("T3", "assemble p95 / p50, one caller", 1.5, lambda f: f["assemble"]["p95_over_p50"]),
    Promise("T4", "assembles a second, 8 callers / one", 1.4, lambda f: f["assemble"]["c8_over_c1"], True),
    Promise("T4", "assembles a second, 32 callers / 8", 0.95, lambda f: f["assemble"]["c32_over_c8"], True),
    Promise("T5", "assemble p95, most items / fewest", 1.3, lambda f: _largest(f)["p95_1m_over_10k"]),
    Promise("T6", "cache write through HTTP / its function, p50", 2.0, lambda f: f["cache"]["http_over_sql"]),
    Promise("T6", "that function / a plain insert, p50", 1.6, lambda f: f["cache"]["sql_over_insert"]),
    Promise(
        "T7", "32 writers of a mission / naive", 2.0, lambda f: f["cache"]["hot_mission_over_naive"], True
    ),
    Promise("T8", "events' share of a write's CPU", 0.1, lambda f: f["cache"]["event_share"]),
    Promise(
        "T12",
        "MB of a cold service without the local model",
        120.0,
        lambda f: max(f["resident"]["without"].values()),
    ),
    Promise(
        "T12",
        "MB of a cold service with the local model",
        250.0,
        lambda f: max(f["resident"]["with"].values()),
    ),
    Promise(
        "T12",
        "MB of an owner with 100,000 chunks in copies, without the local model",
        250.0,
        lambda f: f["copies"]["owner_mb"],
    ),
    Promise("T12", "bytes of copies / their budget, at most", 1.0, lambda f: f["copies"]["most_over_budget"]),
]


def table(found: Found) -> str:
    """A line for each promise whose bench ran."""
    return "\n".join(
        f"{'holds' if each.holds(found) else 'FAILS':6} {each.name:4} {each.value(found):8.2f}"
        f"  {'>=' if each.at_least else '<='} {each.bar:<6g} {each.what}"
        for each in PROMISES
    )


def answer(found: Found) -> dict[str, Any]:
    """The values by promise, and whether all of them hold."""
    values: dict[str, list[float]] = {}
    for each in PROMISES:
        values.setdefault(each.name, []).append(round(each.value(found), 3))
    return {"holds": all(each.holds(found) for each in PROMISES), **values}

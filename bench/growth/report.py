"""The table of growth, its comparisons, and its plot. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

Figures = Mapping[str, Any]
_RUNS = [
    "copies assemble c1",
    "copies assemble c8",
    "copies memories c1",
    "copies entries c1",
    "sql assemble c1",
    "sql memories c1",
    "sql entries c1",
]
_ALONE = ("copies assemble c1", "sql assemble c1")
_AT_ONCE = ("copies assemble c8", "sql assemble c8")


class Point(NamedTuple):
    rows: int
    tenants: int
    figures: Figures
    pages: Mapping[str, float]
    """That the services' statements read."""


def table(points: Sequence[Point]) -> str:
    """Markdown: a column for each size."""
    rows = [["", *(f"{point.rows:,} in {point.tenants}" for point in points)], ["---"] * (len(points) + 1)]
    rows += [[f"{name}: p50 / p95 ms", *(_times(p.figures[name]) for p in points)] for name in _RUNS]
    rows += [[f"{name}: a second", *(_rate(p.figures[name]) for p in points)] for name in _AT_ONCE]
    rows += [
        [f"{name}: CPU ms, Postgres + services", *(_cpu(p.figures[name]) for p in points)] for name in _ALONE
    ]
    rows += [
        [f"memory of {process}, MB", *(f"{p.figures['megabytes'][process]:.0f}" for p in points)]
        for process in points[0].figures["megabytes"]
    ]
    rows.append(["bytes an item on disk", *(f"{p.figures['bytes'] / p.rows:,.0f}" for p in points)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _rate(run: Figures) -> str:
    return f"{run['per_s']:.0f}"


def _times(run: Figures) -> str:
    return f"{run['p50']:.1f} / {run['p95']:.1f}"


def _cpu(run: Figures) -> str:
    services = sum(value for name, value in run.items() if name.startswith("cpu_"))
    postgres = run["cpu_postgres"]
    return f"{postgres:.1f} + {services - postgres - run['cpu_valkey']:.1f}"


def ratios(points: Sequence[Point]) -> dict[str, dict[str, float]]:
    """p50 and p95 of the largest size over those of the smallest, by run."""
    small, large = points[0].figures, points[-1].figures
    return {
        name: {p: round(large[name][p] / small[name][p], 2) for p in ("p50", "p95")}
        for name in small
        if isinstance(small[name], Mapping) and "p95" in small[name]
    }


_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 640, 300, 50, 40
_COLORS = ["#4878a8", "#d1783c", "#6a9a4a", "#8a62a8"]


class _Scale(NamedTuple):
    """From a place among the sizes and a value to a point of the drawing."""

    sizes: int
    most: float

    def at(self, place: int, value: float) -> str:
        x = _LEFT + (_WIDTH - _LEFT - 170) * place / max(1, self.sizes - 1)
        return f"{x:.0f},{_HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - 30) * value / self.most:.0f}"


def svg(points: Sequence[Point], title: str, names: Sequence[str] = _RUNS[:4]) -> str:
    """p95 by size (dashed) and p50 (solid), in milliseconds."""
    scale = _Scale(len(points), 1.1 * max(point.figures[name]["p95"] for point in points for name in names))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif"'
        ' font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="4" y="16" font-weight="bold">{escape(title)}</text>',
    ]
    for place, point in enumerate(points):
        x, y = scale.at(place, 0).split(",")
        lines.append(f'<text x="{x}" y="{int(y) + 18}" text-anchor="middle">{point.rows:,}</text>')
    for part in range(5):
        x, y = scale.at(0, scale.most * part / 4).split(",")
        lines.append(f'<text x="{int(x) - 12}" y="{y}" text-anchor="end">{scale.most * part / 4:.0f}</text>')
    for number, name in enumerate(names):
        lines += _lines(points, name, _COLORS[number % len(_COLORS)], scale)
        lines.append(
            f'<text x="{_WIDTH - 150}" y="{40 + 18 * number}" fill="{_COLORS[number % len(_COLORS)]}">'
            f"{escape(name)}</text>"
        )
    return "\n".join([*lines, "</svg>\n"])


def _lines(points: Sequence[Point], name: str, color: str, scale: _Scale) -> list[str]:
    lines = []
    for percentile, dashes in (("p50", ""), ("p95", ' stroke-dasharray="5 3"')):
        path = " ".join(scale.at(n, point.figures[name][percentile]) for n, point in enumerate(points))
        lines.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"{dashes}/>')
    return lines

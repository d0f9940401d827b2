"""The figures of a soak over its time as an SVG, each in a panel of its own; faults are marked. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from proofs.soak.sampling import Sample

_PANELS = {
    "context_mb": "resident memory of the larger replica of context, MB",
    "cache_mb": "of cache, MB",
    "agent_memory_mb": "of agent-memory, MB",
    "spare_mb": "of the largest process for spare time, MB",
    "connections": "connections to Postgres",
    "dead": "largest share of dead rows in a table",
    "backlog": "items that wait for vectors or summaries",
    "unnumbered": "events without a number",
    "database_mb": "size of the database, MB",
    "per_second": "requests a second",
    "p99_ms": "p99 of requests that needed one try, ms",
}
_WIDTH, _HEIGHT, _LEFT, _ROW = 720, 70, 60, 110


def svg(samples: Sequence[Sample], faults: Iterable[float]) -> str:
    height = _ROW * len(_PANELS) + 30
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 20} {height}"'
        ' font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    seconds, marked = max(samples[-1].at, 1.0), list(faults)
    for place, (name, title) in enumerate(_PANELS.items()):
        points = [(sample.at / seconds, float(getattr(sample, name))) for sample in samples]
        lines += _panel(title, points, [at / seconds for at in marked], 10 + place * _ROW)
    lines.append(f'<text x="{_LEFT}" y="{height - 8}">{seconds / 60:.0f} minutes; grey: a fault</text>')
    return "\n".join([*lines, "</svg>\n"])


def _panel(title: str, points: Sequence[tuple[float, float]], faults: Sequence[float], top: int) -> list[str]:
    most, bottom = max(value for _, value in points) or 1.0, top + 20 + _HEIGHT
    line = " ".join(f"{_LEFT + x * _WIDTH:.1f},{bottom - value / most * _HEIGHT:.1f}" for x, value in points)
    shown = f"{most:.2f}" if most < 1 else f"{most:.0f}"
    return [
        f'<text x="{_LEFT}" y="{top + 12}" font-weight="bold">{escape(title)}</text>',
        *(
            f'<line x1="{_LEFT + x * _WIDTH:.1f}" x2="{_LEFT + x * _WIDTH:.1f}" y1="{bottom}" y2="{top + 20}"'
            ' stroke="#dddddd"/>'
            for x in faults
        ),
        f'<text x="{_LEFT - 6}" y="{top + 26}" text-anchor="end">{shown}</text>',
        f'<text x="{_LEFT - 6}" y="{bottom}" text-anchor="end">0</text>',
        f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{bottom}" y2="{bottom}" stroke="#888888"/>',
        f'<polyline points="{line}" fill="none" stroke="#4878a8" stroke-width="1.5"/>',
    ]

"""The main figures of a race as an SVG of horizontal bars. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

Figures = Mapping[str, Any]
_PANELS: dict[str, Callable[[Figures], float]] = {
    "hit@10": lambda f: float(f["hit10"]),
    "search p50, ms, one caller (less is better)": lambda f: float(f["c1"]["p50"]),
    "searches a second, 8 callers": lambda f: float(f["c8"]["per_s"]),
    "writes a second, 8 writers": lambda f: float(f["eight"]["per_s"]),
}
_WIDTH, _LABEL, _BAR, _ROW = 640, 130, 420, 20


def svg(figures: Mapping[str, Figures]) -> str:
    lines: list[str] = []
    top = 0
    for title, value in _PANELS.items():
        lines += _panel(title, {name: value(of) for name, of in figures.items()}, top)
        top += (len(figures) + 2) * _ROW
    size = f'viewBox="0 0 {_WIDTH} {top}" font-family="sans-serif" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, f'<rect width="{_WIDTH}" height="{top}" fill="white"/>', *lines, "</svg>\n"])


def _panel(title: str, values: Mapping[str, float], top: int) -> list[str]:
    most = max(values.values()) or 1.0
    lines = [f'<text x="4" y="{top + 15}" font-weight="bold">{escape(title)}</text>']
    for row, (name, value) in enumerate(values.items(), 1):
        y, width = top + row * _ROW, round(_BAR * value / most)
        color = "#4878a8" if row <= 2 else "#b0b0b0"
        shown = f"{value:.3f}" if value < 1 else f"{value:.0f}"
        lines += [
            f'<text x="4" y="{y + 15}">{escape(name)}</text>',
            f'<rect x="{_LABEL}" y="{y + 4}" width="{width}" height="14" fill="{color}"/>',
            f'<text x="{_LABEL + width + 6}" y="{y + 15}">{shown}</text>',
        ]
    return lines

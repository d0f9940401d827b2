"""The context of a session over its turns as an SVG: levels stacked, faults marked. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bench.paging.measuring import Sample

_WIDTH, _HEIGHT, _LEFT, _TOP = 720, 260, 60, 30
_LEVELS = (
    ("full", "#4878a8"),
    ("detailed summary", "#7fa8cc"),
    ("compact summary", "#b8cfe2"),
    ("stub", "#dde6ee"),
)
_FAULT = "#c0504d"


def svg(samples: Sequence[Sample], budget: int, title: str) -> str:
    size = (
        f'viewBox="0 0 {_LEFT + _WIDTH + 20} {_TOP + _HEIGHT + 60}" font-family="sans-serif" font-size="12"'
    )
    most = max(budget, *(sum(sample.levels) for sample in samples))
    step = _WIDTH / max(1, len(samples))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_LEFT}" y="18" font-weight="bold">{escape(title)}</text>',
    ]
    for turn, sample in enumerate(samples):
        lines += _bar(sample, _LEFT + turn * step, step, most)
    y = _y(budget, most)
    lines.append(
        f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y}" y2="{y}" stroke="black" stroke-dasharray="4"/>'
    )
    lines.append(f'<text x="4" y="{y + 4}">{budget}</text>')
    return "\n".join([*lines, *_legend(), "</svg>\n"])


def _bar(sample: Sample, x: float, width: float, most: int) -> list[str]:
    lines: list[str] = []
    under = 0
    for (_, color), tokens in zip(_LEVELS, sample.levels, strict=True):
        top, bottom = _y(under + tokens, most), _y(under, most)
        if tokens:
            lines.append(
                f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="{bottom - top}" fill="{color}"/>'
            )
        under += tokens
    if sample.faults:
        lines.append(f'<circle cx="{x + width / 2:.1f}" cy="{_y(under, most) - 4}" r="2.5" fill="{_FAULT}"/>')
    return lines


def _legend() -> list[str]:
    lines: list[str] = []
    y = _TOP + _HEIGHT + 30
    for place, (name, color) in enumerate((*_LEVELS, ("a fault", _FAULT))):
        x = _LEFT + place * 140
        lines.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{color}"/>')
        lines.append(f'<text x="{x + 18}" y="{y + 11}">{name}</text>')
    return lines


def _y(tokens: int, most: int) -> int:
    return round(_TOP + _HEIGHT * (1 - tokens / most))

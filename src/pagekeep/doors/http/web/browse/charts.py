"""Bar charts as SVG. Colours come from the style sheet; every chart has its figures in a table beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

_WIDTH, _HEIGHT = 640, 190
_TOP, _BOTTOM = 18, 22
_ROW, _LABEL = 26, 190
_GAP: Final = 0.3
"""Part of the width of a month that is left free."""
_MAX_LABEL_CHARS: Final = 26
_MAX_DATES: Final = 8
"""Labels under the columns; on small screens every other one is hidden."""


@dataclass(frozen=True, slots=True)
class Series:
    """Values of one colour."""

    name: str
    values: Sequence[int]


def draw_columns(title: str, labels: Sequence[str], series: Sequence[Series]) -> Markup:
    """Return columns side by side for each label, such as a month; the largest value is written at its height."""
    top = max((value for one in series for value in one.values), default=0)
    width = _WIDTH / max(1, len(labels))
    each = width * (1 - _GAP) / max(1, len(series))
    room = _HEIGHT - _TOP - _BOTTOM
    parts = [_rule(_TOP), _rule(_HEIGHT - _BOTTOM)]
    parts.append(_text(0, _TOP - 5, f"{top:,}", "scale"))
    for number, label in enumerate(labels):
        for at, one in enumerate(series):
            height = room * one.values[number] / top if top else 0
            x = number * width + width * _GAP / 2 + at * each
            parts.append(
                _bar(x, _HEIGHT - _BOTTOM - height, each, height, at, f"{label}: {one.values[number]:,} {one.name}")
            )
        step = -(-len(labels) // _MAX_DATES)
        if number % step == 0:
            kind = "scale" if number // step % 2 == 0 else "scale second"
            parts.append(_text(number * width + width * _GAP / 2, _HEIGHT - 6, label, kind))
    return _svg(title, _HEIGHT, parts)


def draw_rows(title: str, rows: Sequence[tuple[str, int]]) -> Markup:
    """Return one bar per row, with its name before it and its value after it."""
    top = max((value for _, value in rows), default=0)
    room = _WIDTH - _LABEL - 70
    parts = []
    for number, (name, value) in enumerate(rows):
        y, length = number * _ROW, room * value / top if top else 0
        shown = name if len(name) <= _MAX_LABEL_CHARS else f"{name[: _MAX_LABEL_CHARS - 1]}…"
        parts.append(_text(0, y + 17, shown, "name"))
        parts.append(_bar(_LABEL, y + 5, length, _ROW - 10, 0, f"{name}: {value:,}"))
        parts.append(_text(_LABEL + length + 6, y + 17, f"{value:,}", "scale"))
    return _svg(title, _ROW * len(rows), parts)


def _svg(title: str, height: float, parts: Sequence[Markup]) -> Markup:
    return Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        _WIDTH, max(1, round(height)), title, Markup("").join(parts)
    )


def _bar(x: float, y: float, width: float, height: float, series: int, tip: str) -> Markup:
    return Markup(
        '<rect class="s{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>'
    ).format(series, x, y, width, height, tip)


def _rule(y: float) -> Markup:
    return Markup('<line x1="0" x2="{}" y1="{}" y2="{}"/>').format(_WIDTH, y, y)


def _text(x: float, y: float, text: str, kind: str) -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>').format(kind, x, y, escape(text))

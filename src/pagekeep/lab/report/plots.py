"""Draw small SVG plots; colours come from the page's style sheet, so both themes work."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_BINS = 10
_BAR_HEIGHT = 26
_LABEL_WIDTH = 120


def draw_bars(rows: Sequence[tuple[str, float]]) -> str:
    """Draw horizontal bars from 0 to 1, one per row, each with its name and value."""
    width, scale = 560, 360
    height = len(rows) * _BAR_HEIGHT + 4
    parts = []
    for index, (name, value) in enumerate(rows):
        top, length = index * _BAR_HEIGHT + 4, max(value, 0.0) * scale
        parts += [
            f'<text class="name" x="{_LABEL_WIDTH - 8}" y="{top + 13}">{escape(name)}</text>',
            f'<rect class="track" x="{_LABEL_WIDTH}" y="{top}" width="{scale}" height="18" rx="3"/>',
            f'<rect class="bar" x="{_LABEL_WIDTH}" y="{top}" width="{length:.1f}" height="18" rx="3"/>',
            f'<text class="value" x="{_LABEL_WIDTH + scale + 8}" y="{top + 13}">{value:.3f}</text>',
        ]
    return _svg(width, height, "F1 by kind", parts)


def draw_histogram(values: Sequence[float]) -> str:
    """Draw how many pages are in each tenth of the scale from 0 to 1."""
    counts = count_bins(values)
    highest, step, base = max(*counts, 1), 48, 160
    parts = []
    for index, count in enumerate(counts):
        left, tall = 20 + index * step, count / highest * 130
        parts += [
            f'<rect class="bar" x="{left}" y="{base - tall:.1f}" width="{step - 4}" height="{tall:.1f}" rx="2"/>',
            f'<text class="count" x="{left + step / 2 - 2}" y="{base - tall - 5:.1f}">{count or ""}</text>',
            f'<text class="tick" x="{left - 2}" y="{base + 16}">{index / _BINS:.1f}</text>',
        ]
    parts.append(f'<text class="tick" x="{20 + _BINS * step - 2}" y="{base + 16}">1.0</text>')
    parts.append(f'<line class="axis" x1="18" x2="{20 + _BINS * step}" y1="{base}" y2="{base}"/>')
    return _svg(540, base + 24, "Pages by F1", parts)


def count_bins(values: Sequence[float]) -> list[int]:
    """Count values by tenth; 1.0 belongs to the last."""
    counts = [0] * _BINS
    for value in values:
        counts[min(max(int(value * _BINS), 0), _BINS - 1)] += 1
    return counts


def draw_trend(points: Sequence[tuple[str, float]]) -> str:
    """Draw a value over the runs, oldest left, on a scale from its minimum to its maximum."""
    width, height, left, right = 560, 170, 46, 70
    values = [value for _, value in points]
    low, high = min(values), max(values)
    margin = max((high - low) * 0.15, 0.005)
    low, high = low - margin, high + margin
    step = (width - left - right) / max(len(points) - 1, 1)
    spots = [
        (left + index * step, 10 + (high - value) / (high - low) * (height - 40)) for index, value in enumerate(values)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    parts = [
        f'<line class="axis" x1="{left}" x2="{width - right}" y1="{height - 24}" y2="{height - 24}"/>',
        f'<text class="name" x="{left - 6}" y="{18}">{high:.3f}</text>',
        f'<text class="name" x="{left - 6}" y="{height - 26}">{low:.3f}</text>',
        f'<polyline class="line" points="{line}"/>',
    ]
    for (x, y), (name, value) in zip(spots, points, strict=True):
        parts.append(
            f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{escape(name)}: {value:.4f}</title></circle>'
        )
    last_x, last_y = spots[-1]
    parts.append(f'<text class="value" x="{last_x + 9:.1f}" y="{last_y + 4:.1f}">{values[-1]:.4f}</text>')
    parts.append(f'<text class="tick start" x="{left}" y="{height - 8}">{escape(points[0][0])}</text>')
    return _svg(width, height, "F1 over the runs", parts)


def _svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    head = f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}" xmlns="http://www.w3.org/2000/svg">'
    return f"{head}{''.join(parts)}</svg>"

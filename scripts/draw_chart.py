"""Draw docs/images/benchmarks.svg, the bar chart of the README, from the results that `bench/run.py --json` wrote.

Usage: python scripts/draw_chart.py [RESULTS.json]; default docs/benchmarks.json. With `--check`, write nothing and fail when
the chart does not show those results.
"""

from __future__ import annotations

import json
import sys
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "benchmarks.json"
CHART = ROOT / "docs" / "images" / "benchmarks.svg"
OURS = "pagekeep"
NAMES = {
    "pagekeep": "Pagekeep",
    "trafilatura-markdown": "trafilatura, Markdown + metadata",
    "trafilatura": "trafilatura, text",
    "readability-lxml": "readability-lxml",
    "resiliparse": "resiliparse, text",
}
"""Extractors of the chart, in its order; the bench measures more."""

WIDTH, LABEL, ROW, BAR = 820, 250, 30, 18
HALF = (WIDTH - LABEL) // 2 - 60
"""Pixels of the longest bar in each of the two columns; the rest of a column is for its number."""
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328; } .head { font-weight: 600; } .note { fill: #656d76; }
.ours { fill: #1a7f64; } .peer { fill: #b6bec7; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .note { fill: #8d96a0; } .ours { fill: #3fb68b; } .peer { fill: #57606a; }
}
"""


def main(arguments: list[str]) -> int:
    """Write the chart, or compare it with the results."""
    paths = [argument for argument in arguments if not argument.startswith("--")]
    results = json.loads(Path(paths[0] if paths else RESULTS).read_text(encoding="utf-8"))
    chart = draw(results)
    if "--check" in arguments:
        return int(CHART.read_text(encoding="utf-8") != chart)
    CHART.write_text(chart, encoding="utf-8")
    return 0


def draw(results: dict[str, Any]) -> str:
    """Return the chart: one row per extractor, F1 at the left, CPU time per page at the right."""
    measured = {row["name"]: row for row in results["extractors"]}
    rows = [(NAMES[name], measured[name]) for name in NAMES if name in measured]
    ours = measured[OURS]["seconds"]
    slowest = max(row["seconds"] for _, row in rows)
    second = LABEL + HALF + 60
    parts = [
        f'<text class="head" x="{LABEL}" y="20">Quality (word F1)</text>',
        f'<text class="head" x="{second}" y="20">CPU time per page, Pagekeep = 1</text>',
    ]
    for index, (name, row) in enumerate(rows):
        top = 34 + index * ROW
        style = "ours" if row["name"] == OURS else "peer"
        parts.append(f'<text x="{LABEL - 10}" y="{top + 14}" text-anchor="end">{escape(name)}</text>')
        parts += draw_bar(LABEL, top, HALF * row["f1"], style, f"{row['f1']:.3f}")
        parts += draw_bar(second, top, HALF * row["seconds"] / slowest, style, f"{row['seconds'] / ours:.1f}")
    height = 34 + len(rows) * ROW + 24
    note = f"{results['pages']} pages of {results['corpus']}, one run on one machine ({results['date']})"
    parts.append(f'<text class="note" x="{LABEL}" y="{height - 8}">{escape(note)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="Quality and speed of Pagekeep beside other extractors"><style>{STYLE}</style>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def draw_bar(left: int, top: int, length: float, style: str, number: str) -> list[str]:
    """Return a bar and the number behind it."""
    return [
        f'<rect class="{style}" x="{left}" y="{top}" width="{max(2.0, length):.1f}" height="{BAR}" rx="3"/>',
        f'<text x="{left + max(2.0, length) + 6:.1f}" y="{top + 14}">{number}</text>',
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

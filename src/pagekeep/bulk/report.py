"""The report of a run, as files, in notebooks, and as one HTML page with its plots, which loads nothing from the network."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple

from pagekeep.bulk.counts import Counts
from pagekeep.bulk.output import REPORT_FILE
from pagekeep.bulk.progress import Timings


@dataclass(frozen=True, slots=True)
class ReportData:
    """The result of a run, with the parts that an interrupted run has written before."""

    counts: Counts
    skipped: Mapping[str, int] = field(default_factory=Counter)
    """Records that are never pages, such as requests and metadata, by type."""
    seconds: float = 0.0
    """Duration of this run."""
    new_records: int = 0
    """Records done in this run."""
    timings: Timings = field(default_factory=Timings)
    """Timings of this run."""

    @property
    def rate(self) -> float:
        """Records per second in this run."""
        return self.new_records / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON types."""
        speed = {"seconds": round(self.seconds, 3), "new_records": self.new_records, "per_second": round(self.rate, 2)}
        return {**self.counts.to_json(), "skipped": dict(self.skipped), **speed, **self.timings.to_json()}


class Report(ReportData):
    """The result of a run, which a notebook shows as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        return render_fragment(self)


def write_report(report: ReportData, folder: Path) -> None:
    """Write `report.json` for programs and `report.html` for people."""
    (folder / REPORT_FILE).write_text(json.dumps(report.to_json(), indent=1, ensure_ascii=False) + "\n", "utf-8")
    (folder / "report.html").write_text(render_page(report), "utf-8", "replace")


_WIDTH: Final = 640
_HEIGHT: Final = 200
_LEFT: Final = 48
"""Space for the numbers of the axis."""
_BOTTOM: Final = 22
"""Space for the labels below the axis."""
_TOP: Final = 8
"""Space for the upper half of the highest number."""
_AXIS_PARTS: Final = 4
_MAX_BARS: Final = 20
"""How many bars a list has; the rest are summed up in one line."""


class _Bar(NamedTuple):
    height: float
    label: str
    """The text below the axis; empty for most bars."""
    tooltip: str


def render_page(report: ReportData) -> str:
    """Return the whole page."""
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>Bulk run</title><style>{_PAGE_STYLE}</style></head><body>{render_fragment(report)}</body></html>\n"
    )


def render_fragment(report: ReportData) -> str:
    """Return the content of the page with its own style, so that a notebook can show it among other output."""
    counts = report.counts
    tables = [
        ("Quality levels", counts.levels, "How good the extracted content is."),
        ("Types of files", counts.types if set(counts.types) != {"HTML"} else Counter(), ""),
        ("Kinds of pages", counts.kinds, ""),
        ("Languages", counts.languages, ""),
        ("Left out, by filter", counts.left_out, ""),
        ("Not pages", Counter(report.skipped), "Requests, metadata and similar records. They are not in the output."),
    ]
    plots = [*_rate_plot(report), *_page_time_plot(report), *(_count_table(*table) for table in tables if table[1])]
    html = f"{_tiles(report)}<div class=plots>{''.join(plots)}</div>{_failures(report)}"
    return f"<main class=bulk><style>{_REPORT_STYLE}</style><h1>Bulk run</h1>{html}</main>"


def _tiles(report: ReportData) -> str:
    counts = report.counts
    tiles = [
        ("records", f"{counts.records:,}"),
        ("rows written", f"{counts.rows:,}"),
        ("words", f"{counts.words:,}"),
        ("failed", _with_share(counts.errors.total(), counts.records)),
        ("left out", _with_share(counts.left_out.total(), counts.records)),
        ("records in this run", f"{report.new_records:,}"),
        ("seconds", f"{report.seconds:,.1f}"),
        ("per second", f"{report.rate:,.1f}"),
    ]
    return "<dl class=tiles>" + "".join(f"<div><dt>{name}<dd>{value}</div>" for name, value in tiles) + "</dl>"


def _with_share(number: int, whole: int) -> str:
    return f"{number:,} <small>{100 * number / whole:.1f} %</small>" if number and whole else f"{number:,}"


# Plots over an axis


def _rate_plot(report: ReportData) -> Iterator[str]:
    """Yield the plot of records per second over the time of the run."""
    timings = report.timings
    if len(timings.slices) < 2:
        return
    width, label_every = timings.slice_seconds, max(1, len(timings.slices) // 6)
    bars = []
    for number, records in enumerate(timings.slices):
        seconds = max(min(width, report.seconds - number * width), width / 10)  # the last slice may be shorter
        start = _format_duration(number * width)
        label = start if number % label_every == 0 else ""
        bars.append(_Bar(records / seconds, label, f"{records / seconds:,.1f} per second at {start}"))
    yield _figure("Records per second", "Over the time of this run.", _bar_plot(bars))


def _format_duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def _page_time_plot(report: ReportData) -> Iterator[str]:
    """Yield the histogram of the time per page."""
    timings = report.timings
    if not timings.classes:
        return
    bars = []
    for number, (bound, pages) in enumerate(timings.histogram()):
        label = _format_milliseconds(bound) if number % 4 == 0 else ""
        bars.append(_Bar(pages, label, f"{pages:,} pages in at most {_format_milliseconds(bound)}"))
    median, p95 = _format_milliseconds(timings.quantile(0.5)), _format_milliseconds(timings.quantile(0.95))
    note = f"In this run: half of the pages within {median}, 95 % within {p95}."
    slowest = "".join(
        f"<li><code>{escape(place)}</code> {_format_milliseconds(took)}"
        for took, place in sorted(timings.slowest, reverse=True)
    )
    yield _figure(
        "Time per page",
        note,
        _bar_plot(bars) + f"<details><summary>The slowest pages</summary><ol>{slowest}</ol></details>",
    )


def _format_milliseconds(value: float) -> str:
    return f"{value / 1000:,.1f} s" if value >= 1000 else f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def _bar_plot(bars: Sequence[_Bar]) -> str:
    maximum = _round_up(max(bar.height for bar in bars))
    bar_width, plot_height = (_WIDTH - _LEFT) / len(bars), _HEIGHT - _BOTTOM - _TOP
    steps = [part / _AXIS_PARTS for part in range(_AXIS_PARTS + 1)]
    elements = [_axis_line(_TOP + plot_height * (1 - step), maximum * step) for step in steps]
    for number, bar in enumerate(bars):
        left, height = _LEFT + number * bar_width, plot_height * bar.height / maximum
        elements.append(
            f"<rect x={left:.1f} y={_TOP + plot_height - height:.1f} width={max(bar_width - 1, 0.5):.1f} height={height:.1f}>"
            f"<title>{escape(bar.tooltip)}</title></rect>"
        )
        middle = left + bar_width / 2
        if bar.label and middle < _WIDTH - 20:  # further right it would be cut off
            elements.append(f"<text x={middle:.1f} y={_HEIGHT - 5} class=below>{escape(bar.label)}</text>")
    return f"<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' role=img>{''.join(elements)}</svg>"


def _axis_line(y: float, value: float) -> str:
    number = f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"
    return f"<line x1={_LEFT} x2={_WIDTH} y1={y:.1f} y2={y:.1f} /><text x={_LEFT - 6} y={y + 4:.1f} class=axis>{number}</text>"


def _round_up(value: float) -> float:
    """Return the next number whose quarter is a round number."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= value * 0.999)


# Tables


def _count_table(title: str, counts: Mapping[str, int], note: str) -> str:
    """Return a table with a bar for each name, the most frequent first."""
    total, maximum = sum(counts.values()), max(counts.values())
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    lines = ranked[:_MAX_BARS]
    if len(ranked) > _MAX_BARS:
        lines.append((f"{len(ranked) - _MAX_BARS} others", sum(number for _, number in ranked[_MAX_BARS:])))
    rows = "".join(
        f"<tr><th scope=row>{escape(label)}<td><i style='width:{100 * min(number / maximum, 1):.1f}%'></i>"
        f"<td>{number:,}<td>{100 * number / total:.1f} %"
        for label, number in lines
    )
    return _figure(title, note, f"<table>{rows}</table>")


def _figure(title: str, note: str, content: str) -> str:
    paragraph = f"<p>{note}" if note else ""
    return f"<figure><figcaption><h2>{title}</h2>{paragraph}</figcaption>{content}</figure>"


def _failures(report: ReportData) -> str:
    """Return the failures by type, with the places of the first of each."""
    errors = report.counts.errors
    if not errors:
        return ""
    parts = [
        _count_table("Failures by type", errors, "Each failure has a row in the output, with its type and message.")
    ]
    for error_type, _ in errors.most_common():
        messages = report.counts.examples.get(error_type, {})
        rows = "".join(f"<tr><td><code>{escape(place)}</code><td>{escape(text)}" for place, text in messages.items())
        parts.append(f"<h3>{escape(error_type)}</h3><table class=places>{rows}</table>" if rows else "")
    return f"<section>{''.join(parts)}</section>"


_PAGE_STYLE: Final = ":root{color-scheme:light dark}body{margin:0;background:light-dark(#fff,#14171a)}"
_REPORT_STYLE: Final = (
    ".bulk{--ink:light-dark(#1b1f24,#e6e8eb);--soft:light-dark(#5b6570,#9aa4af);--line:light-dark(#e3e6ea,#30363d);"
    "--bar:light-dark(#2f6f9f,#5da5d8);color:var(--ink);font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:0 auto;"
    "padding:2rem 1rem 4rem;h1{font-size:1.6rem;margin:0 0 1rem}h2{font-size:1.05rem;margin:0}"
    "h3{font-size:.95rem;margin:1.2rem 0 .3rem}p{margin:0 0 .5rem;font-size:.85rem}dt,p,small{color:var(--soft)}"
    "small{font-size:.8rem}code{font-size:.85em;overflow-wrap:anywhere}details{font-size:.85rem;margin-top:.4rem}"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.75rem;margin:0 0 2rem}"
    ".tiles div{border:1px solid var(--line);border-radius:8px;padding:.6rem .8rem;display:flex;flex-flow:column-reverse}"
    "dd{margin:0;font-size:1.35rem;font-variant-numeric:tabular-nums}"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:2rem}"
    "figure{margin:0;min-width:0}section{margin-top:2rem}"
    "svg{width:100%;height:auto;display:block}rect{fill:var(--bar)}line{stroke:var(--line)}"
    "text{font-size:11px;fill:var(--soft);font-variant-numeric:tabular-nums}.axis{text-anchor:end}.below{text-anchor:middle}"
    "table{border-collapse:collapse;width:100%;font-size:.9rem}"
    "th{text-align:left;font-weight:500;padding:.15rem 1rem .15rem 0;white-space:nowrap}"
    "td{padding:.15rem 0 .15rem .75rem;text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    "th+td{width:60%;padding-left:0}i{display:block;height:.8rem;min-width:1px;background:var(--bar);border-radius:2px}"
    ".places td{text-align:left;white-space:normal;vertical-align:top;padding:.2rem 1rem .2rem 0;"
    "border-top:1px solid var(--line)}.places td:first-child{width:35%}}"
)

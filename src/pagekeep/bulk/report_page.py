"""The report for people: one page with its plots in it, that asks nothing of any network."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from pagekeep.bulk.report import Report

_WIDTH: Final = 640
_HEIGHT: Final = 200
_LEFT: Final = 48
"""Room for the numbers of the axis."""
_BOTTOM: Final = 22
_MOST: Final = 20
"""Bars of a list; the others are summed up."""


class _Bar(NamedTuple):
    height: float
    label: str
    """Below the axis; empty for most."""
    said: str
    """When it is pointed at."""


def page(report: Report) -> str:
    """The whole page."""
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>Bulk run</title><style>{_PAPER}</style></head><body>{fragment(report)}</body></html>\n"
    )


def fragment(report: Report) -> str:
    """What stands in it; its style is its own, so that a notebook can show it among other things."""
    account = report.account
    lists = [
        ("Levels", account.levels, "How the content was found."),
        ("Kinds", account.kinds, ""),
        ("Languages", account.languages, ""),
        ("Left out, by filter", account.left_out, ""),
        ("No pages by their nature", Counter(report.skipped), "Requests, metadata and the like; not in the output."),
    ]
    plots = [*_over_time(report), *_page_times(report), *(_list(*one) for one in lists if one[1])]
    shown = f"{_tiles(report)}<div class=plots>{''.join(plots)}</div>{_failures(report)}"
    return f"<main class=bulk><style>{_STYLE}</style><h1>Bulk run</h1>{shown}</main>"


def _tiles(report: Report) -> str:
    account = report.account
    shown = [
        ("records", f"{account.records:,}"),
        ("rows written", f"{account.rows:,}"),
        ("words", f"{account.words:,}"),
        ("failed", _share(account.errors.total(), account.records)),
        ("left out", _share(account.left_out.total(), account.records)),
        ("records in this run", f"{report.new_records:,}"),
        ("seconds", f"{report.seconds:,.1f}"),
        ("a second", f"{report.rate:,.1f}"),
    ]
    return "<dl class=tiles>" + "".join(f"<div><dt>{name}<dd>{value}</div>" for name, value in shown) + "</dl>"


def _share(number: int, whole: int) -> str:
    return f"{number:,} <small>{100 * number / whole:.1f} %</small>" if number and whole else f"{number:,}"


# Plots over an axis


def _over_time(report: Report) -> Iterator[str]:
    """How many records a second, from the run's beginning to its end."""
    times = report.times
    if len(times.slices) < 2:
        return
    width, every = times.slice_seconds, max(1, len(times.slices) // 6)
    bars = []
    for number, records in enumerate(times.slices):
        lasted = max(min(width, report.seconds - number * width), width / 10)  # the last one is not over
        began = _clock(number * width)
        label = began if number % every == 0 else ""
        bars.append(_Bar(records / lasted, label, f"{records / lasted:,.1f} a second at {began}"))
    yield _figure("Records a second", "Over the time of this run.", _plot(bars))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def _page_times(report: Report) -> Iterator[str]:
    """Pages by the time they took."""
    times = report.times
    if not times.classes:
        return
    bars = []
    for number, (bound, pages) in enumerate(times.histogram()):
        label = _milliseconds(bound) if number % 4 == 0 else ""
        bars.append(_Bar(pages, label, f"{pages:,} pages in at most {_milliseconds(bound)}"))
    said = f"In this run; half within {_milliseconds(times.quantile(0.5))}, 95 % within {_milliseconds(times.quantile(0.95))}."
    slowest = "".join(
        f"<li><code>{escape(place)}</code> {_milliseconds(took)}" for took, place in sorted(times.slowest, reverse=True)
    )
    yield _figure(
        "Time per page", said, _plot(bars) + f"<details><summary>The slowest</summary><ol>{slowest}</ol></details>"
    )


def _milliseconds(value: float) -> str:
    return f"{value / 1000:,.1f} s" if value >= 1000 else f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def _plot(bars: Sequence[_Bar]) -> str:
    top = _round_up(max(bar.height for bar in bars))
    wide, high = (_WIDTH - _LEFT) / len(bars), _HEIGHT - _BOTTOM - 8
    drawn = [_line(8 + high * (1 - part / 4), top * part / 4) for part in range(5)]
    for number, bar in enumerate(bars):
        left, tall = _LEFT + number * wide, high * bar.height / top
        drawn.append(
            f"<rect x={left:.1f} y={8 + high - tall:.1f} width={max(wide - 1, 0.5):.1f} height={tall:.1f}>"
            f"<title>{escape(bar.said)}</title></rect>"
        )
        middle = left + wide / 2
        if bar.label and middle < _WIDTH - 20:  # where it would be cut
            drawn.append(f"<text x={middle:.1f} y={_HEIGHT - 5} class=below>{escape(bar.label)}</text>")
    return f"<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' role=img>{''.join(drawn)}</svg>"


def _line(y: float, value: float) -> str:
    number = f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"
    return f"<line x1={_LEFT} x2={_WIDTH} y1={y:.1f} y2={y:.1f} /><text x={_LEFT - 6} y={y + 4:.1f} class=axis>{number}</text>"


def _round_up(value: float) -> float:
    """The next number of which a quarter is easily read."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= value * 0.999)


# Lists


def _list(name: str, counts: Mapping[str, int], said: str) -> str:
    """A bar for each name, the most frequent first."""
    whole, most = sum(counts.values()), max(counts.values())
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = ranked[:_MOST]
    if len(ranked) > _MOST:
        shown.append((f"{len(ranked) - _MOST} others", sum(number for _, number in ranked[_MOST:])))
    rows = "".join(
        f"<tr><th scope=row>{escape(label)}<td><i style='width:{100 * min(number / most, 1):.1f}%'></i>"
        f"<td>{number:,}<td>{100 * number / whole:.1f} %"
        for label, number in shown
    )
    return _figure(name, said, f"<table>{rows}</table>")


def _figure(name: str, said: str, drawn: str) -> str:
    note = f"<p>{said}" if said else ""
    return f"<figure><figcaption><h2>{name}</h2>{note}</figcaption>{drawn}</figure>"


def _failures(report: Report) -> str:
    """What failed and where, so that it can be looked at."""
    errors = report.account.errors
    if not errors:
        return ""
    parts = [_list("Failures by type", errors, "Each has a row in the output, with its type and a sentence.")]
    for kind, _ in errors.most_common():
        places = report.account.examples.get(kind, {})
        rows = "".join(f"<tr><td><code>{escape(place)}</code><td>{escape(said)}" for place, said in places.items())
        parts.append(f"<h3>{escape(kind)}</h3><table class=places>{rows}</table>" if rows else "")
    return f"<section>{''.join(parts)}</section>"


_PAPER: Final = ":root{color-scheme:light dark}body{margin:0;background:light-dark(#fff,#14171a)}"
_STYLE: Final = (
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

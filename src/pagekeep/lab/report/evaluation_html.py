"""Render an evaluation as one HTML file that loads nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from pagekeep.lab.report import plots
from pagekeep.lab.report.mark_words import mark_differences
from pagekeep.lab.scores import EvaluationReport, PageScore, format_cell, format_table
from pagekeep.model import KINDS

MAX_WORST_PAGES = 25
MAX_TREND_RUNS = 60
"""How many runs the trend shows."""

STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf7; --card: #fff; --ink: #1d2126; --soft: #667079; --line: #dfe2e5;
  --bar: #2f6f8f; --track: #eceff1; --miss: #ffd9b0; --extra: #d3d0ff; --bad: #a8321d; }
@media (prefers-color-scheme: dark) { :root { --paper: #16191c; --card: #1e2226; --ink: #e6e4df; --soft: #98a1a9;
  --line: #343a40; --bar: #6fb0d0; --track: #2a2f34; --miss: #6b431a; --extra: #3f3a80; --bad: #ff9c86; } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 84rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 1.5rem; margin: 0 } h2 { font-size: 1.05rem; margin: 2.25rem 0 .75rem }
.soft { color: var(--soft) } .bad { color: var(--bad) }
.cards { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0 }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .6rem 1rem;
  min-width: 7rem }
.card b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .75rem 1rem }
figcaption { color: var(--soft); margin-bottom: .5rem }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif }
svg text { fill: var(--ink) } .name { text-anchor: end } .count, .tick { text-anchor: middle }
svg .tick, svg .name { fill: var(--soft) } .tick.start { text-anchor: start }
.bar { fill: var(--bar) } .track { fill: var(--track) } .axis { stroke: var(--line) }
.line { fill: none; stroke: var(--bar); stroke-width: 2 } .dot { fill: var(--bar) }
.scroll { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap }
th { color: var(--soft); font-weight: 500 } th:first-child, td:first-child { text-align: left }
details { background: var(--card); border: 1px solid var(--line); border-radius: 8px; margin: .5rem 0 }
summary { cursor: pointer; padding: .5rem .9rem; overflow-wrap: anywhere }
summary b { font-variant-numeric: tabular-nums; margin-right: .5rem }
.sides { display: grid; grid-template-columns: 1fr 1fr; border-top: 1px solid var(--line) }
.sides > div { padding: .75rem .9rem; min-width: 0 } .sides > div + div { border-left: 1px solid var(--line) }
.sides h3 { margin: 0 0 .5rem; font-size: .85rem; color: var(--soft); font-weight: 500 }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 32rem; overflow-y: auto;
  font: 13px/1.5 ui-monospace, monospace }
mark { color: inherit; border-radius: 2px }
mark.missing { background: var(--miss) } mark.extra { background: var(--extra) }
@media (max-width: 45rem) { .sides { grid-template-columns: 1fr }
  .sides > div + div { border-left: 0; border-top: 1px solid var(--line) } }
"""


def render_html(report: EvaluationReport, history: Sequence[Mapping[str, str]]) -> str:
    """Return the report: plots, tables, and the worst pages with reference and result side by side."""
    title = f"Evaluation of {escape(report.corpus)}"
    runs = [row for row in history if _is_comparable(row, report)]
    body = [
        f"<h1>{title}</h1>",
        f'<p class="soft">{_run_line(runs)}</p>',
        _cards(report),
        _plots(report, runs),
        "<h2>By kind</h2>",
        render_table(format_table(report)),
        "<h2>Kinds: reference (rows) and detected (columns)</h2>",
        render_table(confusion_rows(report)),
        "<h2>Blocks in the results</h2>",
        render_table(structure_rows(report)),
        "<h2>Worst pages</h2>",
        '<p class="soft">Marked words: <mark class="missing">missing</mark> from the result, '
        '<mark class="extra">extra</mark> in it.</p>',
        *(_render_page(page) for page in report.worst(MAX_WORST_PAGES)),
    ]
    return render_document(title, body)


def render_document(title: str, body: Sequence[str]) -> str:
    """Return a complete HTML document; the title is HTML already."""
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{title}</title><style>{STYLE}</style></head>"
    )
    return f"{head}\n<body>\n" + "\n".join(body) + "\n</body></html>\n"


def _is_comparable(row: Mapping[str, str], report: EvaluationReport) -> bool:
    """Return whether an earlier run measured the same pages: a sample cannot be compared with a whole corpus."""
    pages = sum(int(row.get(name) or 0) for name in ("ok_count", "error_count"))
    return row.get("corpus") == report.corpus and pages == len(report.pages)


def _run_line(runs: Sequence[Mapping[str, str]]) -> str:
    if not runs:
        return ""
    last = runs[-1]
    at = f" at {escape(last['git_sha'])}" if last.get("git_sha") else ""
    return f"{escape(last['run_at'])}{at}, parser version {escape(last.get('parser_version', ''))}"


def _cards(report: EvaluationReport) -> str:
    every = report.summary["all"]
    numbers: list[tuple[str, object]] = [
        ("F1", every.f1),
        ("precision", every.precision),
        ("recall", every.recall),
        ("snippet F1", every.snippet_f1),
        ("titles right", every.title_accuracy),
        ("authors right", every.author_accuracy),
        ("dates right", every.date_accuracy),
        ("pages", every.pages),
        ("errors", every.errors),
        ("ms per page", f"{every.ms:.1f}"),
    ]
    return (
        '<div class="cards">'
        + "".join(f'<div class="card"><b>{format_cell(v)}</b>{n}</div>' for n, v in numbers)
        + "</div>"
    )


def _plots(report: EvaluationReport, runs: Sequence[Mapping[str, str]]) -> str:
    by_kind = [(name, row.f1) for name, row in report.summary.items() if row.f1 is not None]
    figures = [("Word F1 by kind", plots.draw_bars(by_kind))] if by_kind else []
    figures.append(("Pages by rank", plots.draw_histogram([page.rank for page in report.pages])))
    points = [(row["run_at"], float(row["f1_all"])) for row in runs[-MAX_TREND_RUNS:] if row.get("f1_all")]
    if len(points) > 1:
        figures.append((f"Word F1 over the last {len(points)} runs", plots.draw_trend(points)))
    drawn = (f"<figure><figcaption>{caption}</figcaption>{svg}</figure>" for caption, svg in figures)
    return f'<div class="plots">{"".join(drawn)}</div>'


def structure_rows(report: EvaluationReport) -> list[list[str]]:
    """Return the counts of blocks by kind of page, with mean and standard deviation per page; the header first."""
    names = list(report.summary["all"].structure.__dataclass_fields__)
    rows = [
        [kind, *(_count_and_spread(getattr(row.structure, name), *row.structure_per_page[name]) for name in names)]
        for kind, row in report.summary.items()
    ]
    return [["kind", *names], *rows]


def _count_and_spread(total: int, mean: float, deviation: float) -> str:
    return f"{total} ({mean:.1f} ± {deviation:.1f})"


def confusion_rows(report: EvaluationReport) -> list[list[str]]:
    """Return how many pages of each kind were detected as which kind, and the share of right ones."""
    pairs = Counter((page.kind, page.found_kind) for page in report.pages)
    rows = [
        [kind, *(str(pairs[kind, detected]) for detected in KINDS), format_cell(row.kind_accuracy)]
        for kind, row in report.summary.items()
        if kind != "all"
    ]
    return [["", *KINDS, "right"], *rows]


def render_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first row is the header."""
    head, *body = rows
    lines = [_render_row("th", head), *(_render_row("td", row) for row in body)]
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def _render_row(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(text)}</{tag}>" for text in cells) + "</tr>"


def _render_page(page: PageScore) -> str:
    facts = f"{page.kind}, {page.strategy or 'nothing'}, {_describe_faults(page)}"
    error = f' <span class="bad">{escape(page.error)}</span>' if page.error else ""
    summary = (
        f'<b>{page.rank:.3f}</b>{escape(page.name)} <span class="soft">{facts} {escape(page.url or "")}</span>{error}'
    )
    sides = render_side("Gold", mark_differences(page.gold, page.result, "missing")) + render_side(
        "Result", mark_differences(page.result, page.gold, "extra")
    )
    return f'<details><summary>{summary}</summary><div class="sides">{sides}</div></details>'


def _describe_faults(page: PageScore) -> str:
    """Return how many words, or without a reference text how many snippets, are missing and extra."""
    if page.words is not None:
        return f"{page.words.missing} missing, {page.words.extra} extra"
    return f"{page.with_total - page.with_hits} snippets missing, {page.without_hits} extra"


def render_side(name: str, html: str) -> str:
    """Return one of two texts that are shown side by side."""
    return f'<div><h3>{name}</h3><pre dir="auto">{html}</pre></div>'

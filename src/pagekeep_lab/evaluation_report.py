"""Write the results of an evaluation: `summary.csv`, a row in `history.csv`, and `report.html`, which loads nothing else."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from statistics import fmean, pstdev

from pagekeep.errors import ParseError
from pagekeep.model import KINDS, PARSER_VERSION
from pagekeep_lab.scores import EvaluationReport, Overlap, PageScore, Structure, format_cell, format_table, split_words

PARTS = ("links", "images", "videos")
STRUCTURE = tuple(field.name for field in fields(Structure))
"""Blocks that are counted on every page; the history has their mean and standard deviation per page."""

COMMON_COLUMNS = (
    "run_at",
    "git_sha",
    "ok_count",
    "error_count",
    "avg_similarity",
    "std_similarity",
    "coverage_words",
    "std_coverage_words",
    "coverage_links",
    "std_coverage_links",
    "coverage_images",
    "std_coverage_images",
    "coverage_videos",
    "std_coverage_videos",
    "missing_words",
    "extra_words",
    "missing_links",
    "extra_links",
    "missing_images",
    "extra_images",
    "missing_videos",
    "extra_videos",
)
HISTORY_COLUMNS = (
    *COMMON_COLUMNS,
    "corpus",
    "f1_all",
    *(f"f1_{kind}" for kind in KINDS),
    "precision",
    "recall",
    "title_accuracy",
    "author_accuracy",
    "date_accuracy",
    "ms",
    "parser_version",
    "snippet_precision",
    "snippet_recall",
    "snippet_f1",
    *(f"{prefix}_{name}" for name in STRUCTURE for prefix in ("avg", "std")),
)
"""New columns go to the end, so that a history of an older version can be continued."""


def write_evaluation(report: EvaluationReport, out: Path) -> None:
    """Write all results of the run into the folder, which is created when missing."""
    out.mkdir(parents=True, exist_ok=True)
    replace_file(out / "summary.csv", summary_csv(report))
    run_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    history = append_history(out / "history.csv", history_row(report, run_at, read_git_sha()))
    replace_file(out / "report.html", render_html(report, history))


def replace_file(path: Path, text: str) -> None:
    """Replace a file atomically."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8", errors="replace", newline="")
    os.replace(part, path)


def read_git_sha() -> str:
    """Return the commit of this checkout, or an empty text outside one."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=12", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def summary_csv(report: EvaluationReport) -> str:
    """Return the CSV with one row per page."""
    rows = [summary_row(page) for page in report.pages]
    return format_csv(tuple(rows[0]) if rows else (), rows)


def summary_row(page: PageScore) -> dict[str, str]:
    """Return a page's numbers by column name."""
    row: dict[str, object] = {
        "name": page.name,
        "url": page.url or "",
        "kind": page.kind,
        "found_kind": page.found_kind,
        "strategy": page.strategy,
        "level": page.level,
        "error": page.error,
        "precision": page.words and page.words.precision,
        "recall": page.words and page.words.recall,
        "f1": page.words and page.words.f1,
        "similarity": page.similarity,
        "title_right": page.title_right,
        "author_right": page.author_right,
        "date_right": page.date_right,
        "missing_fields": " ".join(page.missing),
        "coverage_words": page.words and page.words.recall,
        "missing_words": page.words and page.words.missing,
        "extra_words": page.words and page.words.extra,
    }
    for part in PARTS:
        overlap: Overlap | None = getattr(page, part)
        for number in Overlap._fields:
            row[f"{number}_{part}"] = None if overlap is None else getattr(overlap, number)
    row |= {"with_hits": page.with_hits, "with_total": page.with_total}
    row |= {"without_hits": page.without_hits, "without_total": page.without_total}
    row |= {name: getattr(page.structure, name) for name in page.structure.__dataclass_fields__}
    row["ms"] = round(page.ms, 2)
    return {name: format_csv_cell(value) for name, value in row.items()}


def history_row(report: EvaluationReport, run_at: str, sha: str) -> dict[str, str]:
    """Return the run's numbers by history column."""
    every = report.summary["all"]
    words = [page.words for page in report.pages if page.words is not None]
    row: dict[str, object] = {
        "run_at": run_at,
        "git_sha": sha,
        "ok_count": every.ok,
        "error_count": every.errors,
        "avg_similarity": every.similarity,
        "std_similarity": every.std_similarity,
        "missing_words": sum(score.missing for score in words),
        "extra_words": sum(score.extra for score in words),
        "corpus": report.corpus,
        "precision": every.precision,
        "recall": every.recall,
        "title_accuracy": every.title_accuracy,
        "author_accuracy": every.author_accuracy,
        "date_accuracy": every.date_accuracy,
        "ms": round(every.ms, 2),
        "parser_version": PARSER_VERSION,
        "snippet_precision": every.snippet_precision,
        "snippet_recall": every.with_share,
        "snippet_f1": every.snippet_f1,
    }
    if words:
        row |= mean_and_std("coverage_words", [score.recall for score in words])
    for part in PARTS:
        row |= _part_totals(report, part)
    for name, (mean, deviation) in every.structure_per_page.items():
        row |= {f"avg_{name}": mean, f"std_{name}": deviation}
    row |= {f"f1_{kind}": summary.f1 for kind, summary in report.summary.items()}
    return {name: format_csv_cell(row.get(name)) for name in HISTORY_COLUMNS}


def _part_totals(report: EvaluationReport, part: str) -> dict[str, object]:
    overlaps: list[Overlap] = [overlap for page in report.pages if (overlap := getattr(page, part)) is not None]
    if not overlaps:
        return {}
    totals: dict[str, object] = {
        f"missing_{part}": sum(overlap.missing for overlap in overlaps),
        f"extra_{part}": sum(overlap.extra for overlap in overlaps),
    }
    coverage = [overlap.coverage for overlap in overlaps if overlap.coverage is not None]
    return totals | (mean_and_std(f"coverage_{part}", coverage) if coverage else {})


def mean_and_std(name: str, values: Sequence[float]) -> dict[str, object]:
    """Return two columns: the mean and the standard deviation."""
    return {name: fmean(values), f"std_{name}": pstdev(values)}


def append_history(
    path: Path, row: Mapping[str, str], columns: Sequence[str] = HISTORY_COLUMNS
) -> list[dict[str, str]]:
    """Add one row to the history and return all rows, oldest first.

    A history that lacks columns gains them. One with unknown columns is left alone and raises `ParseError`.
    """
    rows = read_history(path, columns) if path.exists() else []
    rows.append(dict(row))
    replace_file(path, format_csv(columns, rows))
    return rows


def read_history(path: Path, columns: Sequence[str] = HISTORY_COLUMNS) -> list[dict[str, str]]:
    """Return every earlier run, oldest first; raise `ParseError` when the file has unknown columns."""
    with path.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines)
        unknown = [name for name in reader.fieldnames or () if name not in columns]
        if unknown:
            raise ParseError(
                f"{path.name} has columns this version does not know: {', '.join(unknown)}.",
                suggestions=("Move it away, or write to another folder.",),
            )
        return [{name: row.get(name) or "" for name in columns} for row in reader]


def format_csv(columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> str:
    """Return the rows as CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def format_csv_cell(value: object) -> str:
    """Return a value for CSV: numbers with four decimals, an empty text for `None`."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


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
    figures = [("Word F1 by kind", draw_bars(by_kind))] if by_kind else []
    figures.append(("Pages by rank", draw_histogram([page.rank for page in report.pages])))
    points = [(row["run_at"], float(row["f1_all"])) for row in runs[-MAX_TREND_RUNS:] if row.get("f1_all")]
    if len(points) > 1:
        figures.append((f"Word F1 over the last {len(points)} runs", draw_trend(points)))
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


MAX_CHARS = 12_000
"""How much of a text is shown: long enough to compare, short enough for a page with many texts."""

_WORD = re.compile(r"\w+")


def mark_differences(text: str, other: str, css_class: str) -> str:
    """Return the text as HTML with `<mark>` around every word that the other text lacks.

    Words are counted as for the F1. Lines that both texts have are matched first, so that marks are where the texts differ.
    """
    lines, others = text.splitlines(), other.splitlines()
    spare = Counter(split_words(other))
    shared = _find_shared_lines(lines, others)
    for index in shared:
        spare.subtract(split_words(lines[index]))
    html_lines = [
        escape(line) if index in shared else _mark_line(line, spare, css_class)
        for index, line in enumerate(lines[: _count_fitting_lines(lines, MAX_CHARS)])
    ]
    ending = "\n[...]" if len(html_lines) < len(lines) else ""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(html_lines)) + ending


def _find_shared_lines(lines: list[str], others: list[str]) -> dict[int, None]:
    """Return the indexes of lines that the others have too, each as often as they have it."""
    unmatched = Counter(tuple(split_words(line)) for line in others)
    shared: dict[int, None] = {}
    for index, line in enumerate(lines):
        key = tuple(split_words(line))
        if unmatched[key] > 0:
            unmatched[key] -= 1
            shared[index] = None
    return shared


def _count_fitting_lines(lines: list[str], limit: int) -> int:
    """Return how many lines fit in the limit, at least one."""
    length = 0
    for index, line in enumerate(lines):
        length += len(line)
        if length > limit:
            return index + 1
    return len(lines)


def _mark_line(line: str, spare: Counter[str], css_class: str) -> str:
    parts, end, run = [], 0, False
    for match in _WORD.finditer(line[:MAX_CHARS]):
        word = match.group().lower()
        spare[word] -= 1
        extra = spare[word] < 0
        if extra != run:
            close = "</mark>" if run else ""
            between = escape(line[end : match.start()])
            parts.append(f'{close}{between}<mark class="{css_class}">' if extra else f"{close}{between}")
        else:
            parts.append(escape(line[end : match.start()]))
        parts.append(escape(match.group()))
        end, run = match.end(), extra
    return "".join(parts) + ("</mark>" if run else "") + escape(line[end:MAX_CHARS])


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

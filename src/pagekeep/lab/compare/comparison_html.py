"""Render a comparison as one HTML file that loads nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from pagekeep.lab.compare.clusters import Cluster, find_clusters
from pagekeep.lab.compare.pairs import PARTS, STRUCTURE, Comparison, Pair, mean_structure
from pagekeep.lab.report import plots
from pagekeep.lab.report.evaluation_html import render_document, render_side, render_table
from pagekeep.lab.report.mark_words import mark_differences
from pagekeep.lab.scores import format_cell

MAX_WORST_PAGES = 25
MAX_TREND_RUNS = 60
"""How many runs the trends show."""
MAX_CLUSTER_PAGES = 5
"""How many pages of a cluster are named."""
_TRENDS = (
    ("avg_similarity", "Similarity"),
    ("coverage_words", "Coverage of words"),
    ("coverage_links", "Coverage of links"),
    ("coverage_images", "Coverage of images"),
)


def render_html(comparison: Comparison, history: Sequence[Mapping[str, str]]) -> str:
    """Return the report: plots, tables, clusters of pages that differ in the same way, and the least similar pages."""
    runs = [row for row in history if _is_comparable(row, comparison)]
    title = f"{escape(comparison.a)} and {escape(comparison.b)} on {escape(comparison.corpus)}"
    body = [
        f"<h1>{title}</h1>",
        f'<p class="soft">A is {escape(comparison.a)}, the reference; B is {escape(comparison.b)}. {_run_line(runs)}</p>',
        render_table(summary_rows(comparison)),
        _plots(comparison, runs),
        "<h2>Structure: mean per page</h2>",
        render_table(structure_rows(comparison)),
        "<h2>Where they differ</h2>",
        render_table(cluster_rows(find_clusters(comparison.pairs))),
        "<h2>The least similar pages</h2>",
        '<p class="soft">Marked words: <mark class="missing">missing</mark> from B, '
        '<mark class="extra">extra</mark> in it.</p>',
        *(_render_page(pair) for pair in comparison.worst(MAX_WORST_PAGES)),
    ]
    return render_document(title, body)


def _is_comparable(row: Mapping[str, str], comparison: Comparison) -> bool:
    """Return whether an earlier run compared the same extractors on as many pages."""
    pages = sum(int(row.get(name) or 0) for name in ("ok_count", "error_count"))
    same = (row.get("corpus"), row.get("a"), row.get("b")) == (comparison.corpus, comparison.a, comparison.b)
    return same and pages == len(comparison.pairs)


def _run_line(runs: Sequence[Mapping[str, str]]) -> str:
    return f"{escape(runs[-1]['run_at'])} {escape(runs[-1].get('git_sha', ''))}" if runs else ""


def summary_rows(comparison: Comparison) -> list[list[str]]:
    """Return the means by kind of page: the header, all pages, then each kind."""
    kinds = sorted({pair.kind for pair in comparison.pairs if pair.kind})
    groups = {
        "all": list(comparison.pairs),
        **{kind: [p for p in comparison.pairs if p.kind == kind] for kind in kinds},
    }
    head = ["", "pages", "errors", "similarity", "exact", "words", *PARTS, "F1 of A", "F1 of B", "ms A", "ms B"]
    return [head, *([kind, *_mean_cells(pairs)] for kind, pairs in groups.items())]


def _mean_cells(pairs: Sequence[Pair]) -> list[str]:
    both = [pair for pair in pairs if not pair.error]
    coverage = [[c for pair in both if (c := getattr(pair, part).coverage) is not None] for part in PARTS]
    return [
        str(len(pairs)),
        str(len(pairs) - len(both)),
        format_cell(_mean([pair.similarity for pair in both])),
        format_cell(_mean([pair.similarity_exact for pair in both])),
        format_cell(_mean([pair.words.recall for pair in both])),
        *(format_cell(_mean(values)) for values in coverage),
        format_cell(_mean([pair.f1_a for pair in pairs if pair.f1_a is not None])),
        format_cell(_mean([pair.f1_b for pair in pairs if pair.f1_b is not None])),
        f"{_mean([pair.a.ms for pair in pairs]) or 0:.1f}",
        f"{_mean([pair.b.ms for pair in pairs]) or 0:.1f}",
    ]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def structure_rows(comparison: Comparison) -> list[list[str]]:
    """Return the means of both extractors for each type of block."""
    both = comparison.both
    rows = [
        [name, *(f"{mean_structure(readings, name):.2f}" for readings in ([p.a for p in both], [p.b for p in both]))]
        for name in STRUCTURE
    ]
    return [["", "A", "B"], *rows]


def cluster_rows(found: Sequence[Cluster]) -> list[list[str]]:
    """A row a cluster, with a few of its pages."""
    rows = [
        [
            one.name,
            str(len(one.pairs)),
            format_cell(one.similarity),
            one.kinds,
            ", ".join(p.name for p in one.pairs[:MAX_CLUSTER_PAGES]),
        ]
        for one in found
    ]
    return [["", "pages", "similarity", "kinds", "such as"], *rows]


def _plots(comparison: Comparison, runs: Sequence[Mapping[str, str]]) -> str:
    figures = [("Pages by similarity", plots.draw_histogram([pair.similarity for pair in comparison.pairs]))]
    for column, caption in _TRENDS:
        points = [(row["run_at"], float(row[column])) for row in runs[-MAX_TREND_RUNS:] if row.get(column)]
        if len(points) > 1:
            figures.append((f"{caption} over the last {len(points)} runs", plots.draw_trend(points)))
    drawn = (f"<figure><figcaption>{caption}</figcaption>{svg}</figure>" for caption, svg in figures)
    return f'<div class="plots">{"".join(drawn)}</div>'


def _render_page(pair: Pair) -> str:
    facts = f"{pair.kind} {pair.words.missing} missing, {pair.words.extra} extra {escape(pair.url or '')}"
    error = f' <span class="bad">{escape(pair.error)}</span>' if pair.error else ""
    summary = f'<b>{pair.similarity:.3f}</b>{escape(pair.name)} <span class="soft">{facts}</span>{error}'
    sides = render_side("A", mark_differences(pair.a.text, pair.b.text, "missing")) + render_side(
        "B", mark_differences(pair.b.text, pair.a.text, "extra")
    )
    return f'<details><summary>{summary}</summary><div class="sides">{sides}</div></details>'

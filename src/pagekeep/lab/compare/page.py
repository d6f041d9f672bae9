"""The HTML report of a comparison: one file that asks for nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from pagekeep.lab.compare.clusters import Cluster, clusters
from pagekeep.lab.compare.pairs import PARTS, STRUCTURE, Comparison, Pair, structure_mean
from pagekeep.lab.report import plots
from pagekeep.lab.report.marks import mark
from pagekeep.lab.report.page import page_of, side, table
from pagekeep.lab.report.summary import cell

WORST = 25
RUNS = 60
"""Runs the trends show."""
SHOWN = 5
"""Pages named of a cluster."""
_TRENDS = (
    ("avg_similarity", "Similarity"),
    ("coverage_words", "Coverage of words"),
    ("coverage_links", "Coverage of links"),
    ("coverage_images", "Coverage of images"),
)


def render_html(comparison: Comparison, history: Sequence[Mapping[str, str]]) -> str:
    """Plots, tables, clusters of pages that differ alike, and the least alike side by side."""
    runs = [row for row in history if _comparable(row, comparison)]
    title = f"{escape(comparison.a)} and {escape(comparison.b)} on {escape(comparison.corpus)}"
    body = [
        f"<h1>{title}</h1>",
        f'<p class="soft">A is {escape(comparison.a)}, the reference; B is {escape(comparison.b)}. {_run_line(runs)}</p>',
        table(summary_rows(comparison)),
        _plots(comparison, runs),
        "<h2>Structure: how many a page</h2>",
        table(structure_rows(comparison)),
        "<h2>Where they differ</h2>",
        table(cluster_rows(clusters(comparison.pairs))),
        "<h2>The least alike</h2>",
        '<p class="soft">Marked words: <mark class="missing">missing</mark> from B, '
        '<mark class="extra">extra</mark> in it.</p>',
        *(_page(pair) for pair in comparison.worst(WORST)),
    ]
    return page_of(title, body)


def _comparable(row: Mapping[str, str], comparison: Comparison) -> bool:
    """Whether an earlier run compared the same two on as many pages."""
    pages = sum(int(row.get(name) or 0) for name in ("ok_count", "error_count"))
    same = (row.get("corpus"), row.get("a"), row.get("b")) == (comparison.corpus, comparison.a, comparison.b)
    return same and pages == len(comparison.pairs)


def _run_line(runs: Sequence[Mapping[str, str]]) -> str:
    return f"{escape(runs[-1]['run_at'])} {escape(runs[-1].get('git_sha', ''))}" if runs else ""


def summary_rows(comparison: Comparison) -> list[list[str]]:
    """Means by kind of page, all first; the header before."""
    kinds = sorted({pair.kind for pair in comparison.pairs if pair.kind})
    groups = {
        "all": list(comparison.pairs),
        **{kind: [p for p in comparison.pairs if p.kind == kind] for kind in kinds},
    }
    head = ["", "pages", "errors", "similarity", "exact", "words", *PARTS, "F1 of A", "F1 of B", "ms A", "ms B"]
    return [head, *([kind, *_numbers(pairs)] for kind, pairs in groups.items())]


def _numbers(pairs: Sequence[Pair]) -> list[str]:
    both = [pair for pair in pairs if not pair.error]
    coverage = [[c for pair in both if (c := getattr(pair, part).coverage) is not None] for part in PARTS]
    return [
        str(len(pairs)),
        str(len(pairs) - len(both)),
        cell(_mean([pair.similarity for pair in both])),
        cell(_mean([pair.similarity_exact for pair in both])),
        cell(_mean([pair.words.recall for pair in both])),
        *(cell(_mean(values)) for values in coverage),
        cell(_mean([pair.f1_a for pair in pairs if pair.f1_a is not None])),
        cell(_mean([pair.f1_b for pair in pairs if pair.f1_b is not None])),
        f"{_mean([pair.a.ms for pair in pairs]) or 0:.1f}",
        f"{_mean([pair.b.ms for pair in pairs]) or 0:.1f}",
    ]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def structure_rows(comparison: Comparison) -> list[list[str]]:
    """Means of both for each thing that is counted."""
    both = comparison.both
    rows = [
        [name, *(f"{structure_mean(readings, name):.2f}" for readings in ([p.a for p in both], [p.b for p in both]))]
        for name in STRUCTURE
    ]
    return [["", "A", "B"], *rows]


def cluster_rows(found: Sequence[Cluster]) -> list[list[str]]:
    """A row a cluster, with a few of its pages."""
    rows = [
        [one.name, str(len(one.pairs)), cell(one.similarity), one.kinds, ", ".join(p.name for p in one.pairs[:SHOWN])]
        for one in found
    ]
    return [["", "pages", "similarity", "kinds", "such as"], *rows]


def _plots(comparison: Comparison, runs: Sequence[Mapping[str, str]]) -> str:
    figures = [("Pages by similarity", plots.histogram([pair.similarity for pair in comparison.pairs]))]
    for column, caption in _TRENDS:
        points = [(row["run_at"], float(row[column])) for row in runs[-RUNS:] if row.get(column)]
        if len(points) > 1:
            figures.append((f"{caption} over the last {len(points)} runs", plots.trend(points)))
    drawn = (f"<figure><figcaption>{caption}</figcaption>{svg}</figure>" for caption, svg in figures)
    return f'<div class="plots">{"".join(drawn)}</div>'


def _page(pair: Pair) -> str:
    facts = f"{pair.kind} {pair.words.missing} missing, {pair.words.extra} extra {escape(pair.url or '')}"
    error = f' <span class="bad">{escape(pair.error)}</span>' if pair.error else ""
    summary = f'<b>{pair.similarity:.3f}</b>{escape(pair.name)} <span class="soft">{facts}</span>{error}'
    sides = side("A", mark(pair.a.text, pair.b.text, "missing")) + side("B", mark(pair.b.text, pair.a.text, "extra"))
    return f'<details><summary>{summary}</summary><div class="sides">{sides}</div></details>'

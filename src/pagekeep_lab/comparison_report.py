"""Write the results of a comparison: `summary.csv`, a row in `history.csv`, and `report.html`, which loads nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from statistics import fmean
from typing import Final

from pagekeep.model import PARSER_VERSION
from pagekeep.text import Overlap
from pagekeep_lab import evaluation_report
from pagekeep_lab.evaluation_report import (
    COMMON_COLUMNS,
    append_history,
    format_csv,
    format_csv_cell,
    mark_differences,
    mean_and_std,
    read_git_sha,
    render_document,
    render_side,
    render_table,
    replace_file,
)
from pagekeep_lab.results import PARTS, STRUCTURE, Comparison, Pair, mean_structure
from pagekeep_lab.scores import format_cell

HISTORY_COLUMNS = (
    *COMMON_COLUMNS,
    "corpus",
    "a",
    "b",
    "similarity_exact",
    "f1_a",
    "f1_b",
    *(f"{part}_{side}" for part in STRUCTURE for side in ("a", "b")),
    "ms_a",
    "ms_b",
    "parser_version",
)
"""New columns go to the end."""


def write_comparison(comparison: Comparison, out: Path) -> None:
    """Write all results into the folder, which is created when missing."""
    out.mkdir(parents=True, exist_ok=True)
    rows = [summary_row(pair) for pair in comparison.pairs]
    replace_file(out / "summary.csv", format_csv(tuple(rows[0]) if rows else (), rows))
    run_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    history = append_history(out / "history.csv", history_row(comparison, run_at, read_git_sha()), HISTORY_COLUMNS)
    replace_file(out / "report.html", render_html(comparison, history))


def summary_row(pair: Pair) -> dict[str, str]:
    """Return a page's numbers by column name."""
    row: dict[str, object] = {
        "name": pair.name,
        "url": pair.url or "",
        "kind": pair.kind,
        "error": pair.error,
        "similarity": pair.similarity,
        "similarity_exact": pair.similarity_exact,
        "coverage_words": min(pair.words.recall, 1.0),
        "missing_words": pair.words.missing,
        "extra_words": pair.words.extra,
    }
    for part in PARTS:
        overlap: Overlap = getattr(pair, part)
        row |= {f"{number}_{part}": getattr(overlap, number) for number in Overlap._fields}
    for part in STRUCTURE:
        row |= {f"{part}_a": getattr(pair.a.structure, part), f"{part}_b": getattr(pair.b.structure, part)}
    row |= {"f1_a": pair.f1_a, "f1_b": pair.f1_b, "ms_a": round(pair.a.ms, 2), "ms_b": round(pair.b.ms, 2)}
    return {name: format_csv_cell(value) for name, value in row.items()}


def history_row(comparison: Comparison, run_at: str, sha: str) -> dict[str, str]:
    """Return the run's numbers by history column; means are over the pages that both could extract."""
    both = comparison.both
    row: dict[str, object] = {
        "run_at": run_at,
        "git_sha": sha,
        "ok_count": len(both),
        "error_count": len(comparison.pairs) - len(both),
        "missing_words": sum(pair.words.missing for pair in both),
        "extra_words": sum(pair.words.extra for pair in both),
        "corpus": comparison.corpus,
        "a": comparison.a,
        "b": comparison.b,
        "similarity_exact": _mean([pair.similarity_exact for pair in both]),
        "f1_a": _mean([pair.f1_a for pair in comparison.pairs if pair.f1_a is not None]),
        "f1_b": _mean([pair.f1_b for pair in comparison.pairs if pair.f1_b is not None]),
        "ms_a": _mean([pair.a.ms for pair in comparison.pairs]),
        "ms_b": _mean([pair.b.ms for pair in comparison.pairs]),
        "parser_version": PARSER_VERSION,
    }
    row |= _mean_and_std_columns("avg_similarity", "std_similarity", [pair.similarity for pair in both])
    row |= _mean_and_std_columns("coverage_words", "std_coverage_words", [min(pair.words.recall, 1.0) for pair in both])
    for part in PARTS:
        row |= _part_totals(both, part)
    for part in STRUCTURE:
        row |= {f"{part}_a": mean_structure((pair.a for pair in both), part)}
        row |= {f"{part}_b": mean_structure((pair.b for pair in both), part)}
    return {name: format_csv_cell(row.get(name)) for name in HISTORY_COLUMNS}


def _part_totals(both: Sequence[Pair], part: str) -> dict[str, object]:
    overlaps: list[Overlap] = [getattr(pair, part) for pair in both]
    coverage = [min(overlap.coverage, 1.0) for overlap in overlaps if overlap.coverage is not None]
    return {
        f"missing_{part}": sum(overlap.missing for overlap in overlaps),
        f"extra_{part}": sum(overlap.extra for overlap in overlaps),
        **_mean_and_std_columns(f"coverage_{part}", f"std_coverage_{part}", coverage),
    }


def _mean_and_std_columns(mean: str, deviation: str, values: Sequence[float]) -> dict[str, object]:
    if not values:
        return {}
    columns = mean_and_std("x", values)
    return {mean: columns["x"], deviation: columns["std_x"]}


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


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
        format_cell(_shown_mean([pair.similarity for pair in both])),
        format_cell(_shown_mean([pair.similarity_exact for pair in both])),
        format_cell(_shown_mean([pair.words.recall for pair in both])),
        *(format_cell(_shown_mean(values)) for values in coverage),
        format_cell(_shown_mean([pair.f1_a for pair in pairs if pair.f1_a is not None])),
        format_cell(_shown_mean([pair.f1_b for pair in pairs if pair.f1_b is not None])),
        f"{_shown_mean([pair.a.ms for pair in pairs]) or 0:.1f}",
        f"{_shown_mean([pair.b.ms for pair in pairs]) or 0:.1f}",
    ]


def _shown_mean(values: Sequence[float]) -> float | None:
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
    figures = [
        ("Pages by similarity", evaluation_report.draw_histogram([pair.similarity for pair in comparison.pairs]))
    ]
    for column, caption in _TRENDS:
        points = [(row["run_at"], float(row[column])) for row in runs[-MAX_TREND_RUNS:] if row.get(column)]
        if len(points) > 1:
            figures.append((f"{caption} over the last {len(points)} runs", evaluation_report.draw_trend(points)))
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


@dataclass(frozen=True, slots=True)
class Cluster:
    """Pages that differ in the same way."""

    name: str
    pairs: tuple[Pair, ...]
    """The least similar first."""

    @property
    def similarity(self) -> float:
        return fmean(pair.similarity for pair in self.pairs)

    @property
    def kinds(self) -> str:
        """The kinds of page in the cluster, the most frequent first."""
        counts: dict[str, int] = {}
        for pair in self.pairs:
            counts[pair.kind or "any"] = counts.get(pair.kind or "any", 0) + 1
        return ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])))


_MIN_ALIKE: Final = 0.95
_CLUSTERS: Final[tuple[tuple[str, Callable[[Pair], bool]], ...]] = (
    ("B failed", lambda pair: bool(pair.b.error)),
    ("A failed", lambda pair: bool(pair.a.error)),
    ("B found nothing", lambda pair: bool(pair.a.text.strip()) and not pair.b.text.strip()),
    ("A found nothing", lambda pair: bool(pair.b.text.strip()) and not pair.a.text.strip()),
    ("mostly different text", lambda pair: max(pair.words.recall, pair.words.precision) < 0.5),
    ("B lacks more than half", lambda pair: pair.words.recall < 0.5),
    ("B has more than twice as much", lambda pair: pair.words.precision < 0.5),
    ("B lacks text", lambda pair: pair.words.recall < 0.9 and pair.words.recall <= pair.words.precision),
    ("B has more text", lambda pair: pair.words.precision < 0.9),
    ("code lost in B", lambda pair: pair.a.structure.code > pair.b.structure.code),
    ("tables lost in B", lambda pair: pair.a.structure.tables > pair.b.structure.tables),
    ("lists lost in B", lambda pair: pair.a.structure.lists > pair.b.structure.lists),
    ("images lost in B", lambda pair: pair.images.missing > 0),
    ("videos lost in B", lambda pair: pair.videos.missing > 0),
    ("captions lost in B", lambda pair: pair.a.structure.captions > pair.b.structure.captions),
    ("quotes lost in B", lambda pair: pair.a.structure.quotes > pair.b.structure.quotes),
    ("many links lost in B", lambda pair: pair.links.coverage is not None and pair.links.coverage < 0.8),
    ("small differences", lambda pair: pair.similarity < _MIN_ALIKE),
)
"""A page belongs to the first cluster that fits: the gravest difference comes first."""


def find_clusters(pairs: Sequence[Pair]) -> list[Cluster]:
    """Return the pages that differ in clusters, the largest first; pages that are alike are in none."""
    groups: dict[str, list[Pair]] = {}
    for pair in sorted(pairs, key=lambda pair: (pair.similarity, pair.name)):
        name = next((name for name, fits in _CLUSTERS if fits(pair)), None)
        if name is not None:
            groups.setdefault(name, []).append(pair)
    clusters = [Cluster(name, tuple(group)) for name, group in groups.items()]
    return sorted(clusters, key=lambda cluster: (-len(cluster.pairs), cluster.name))

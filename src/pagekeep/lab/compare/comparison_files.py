"""Write the results of a comparison: `summary.csv`, a row in `history.csv`, and `report.html`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

from pagekeep.lab.compare.comparison_html import render_html
from pagekeep.lab.compare.pairs import PARTS, STRUCTURE, Comparison, Pair, mean_structure
from pagekeep.lab.report.evaluation_files import (
    COMMON_COLUMNS,
    append_history,
    format_csv,
    format_csv_cell,
    mean_and_std,
    read_git_sha,
    replace_file,
)
from pagekeep.model import PARSER_VERSION
from pagekeep.text import Overlap

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

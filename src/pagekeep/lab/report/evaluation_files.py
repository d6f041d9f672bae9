"""Write the results of an evaluation: `summary.csv`, a row in `history.csv`, and `report.html`."""

from __future__ import annotations

import csv
import io
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, pstdev

from pagekeep.errors import ParseError
from pagekeep.lab.metrics import Overlap
from pagekeep.lab.report.evaluation_html import render_html
from pagekeep.lab.scores import EvaluationReport, PageScore, Structure
from pagekeep.model import KINDS, PARSER_VERSION

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

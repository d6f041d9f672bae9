"""The log of the mode `compare`: the results of Pagekeep and of a remote reader for the same pages."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.markdown_parts import MarkdownParts, split_markdown
from pagekeep.config import Settings
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.model import Page
from pagekeep.text import Overlap, overlap, score_words, similarity

MAX_MARKDOWN_CHARS: Final = 200_000
"""Longer texts are cut in the log."""


@dataclass(frozen=True, slots=True)
class Side:
    """The result of one extractor for a page."""

    title: str | None = None
    words: int = 0
    markdown: str = ""
    error: str | None = None
    """Why there is no result."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How our result for a page differs from the remote reader's. The numbers are `None` unless both have one."""

    at: str
    url: str
    ours: Side
    theirs: Side
    similarity: float | None = None
    coverage_words: float | None = None
    """Share of their words that we have; likewise for links and images, `None` when they have none."""
    missing_words: int | None = None
    extra_words: int | None = None
    coverage_links: float | None = None
    missing_links: int | None = None
    extra_links: int | None = None
    coverage_images: float | None = None
    missing_images: int | None = None
    extra_images: int | None = None


def compare(url: str, ours: Page | PagekeepError, theirs: Page | PagekeepError) -> Comparison:
    """Compare two results, each of which can be an error."""
    comparison = Comparison(clock.now(), url, _side(ours), _side(theirs))
    if isinstance(ours, PagekeepError) or isinstance(theirs, PagekeepError):
        return comparison
    return replace(comparison, **_measure(split_markdown(ours.markdown), split_markdown(theirs.markdown)))


def _side(result: Page | PagekeepError) -> Side:
    if isinstance(result, PagekeepError):
        return Side(error=f"{result.type}: {result.message}")
    return Side(result.metadata.title, result.word_count, result.markdown[:MAX_MARKDOWN_CHARS])


def _measure(ours: MarkdownParts, theirs: MarkdownParts) -> dict[str, Any]:
    words = score_words(ours.words, theirs.words)
    return {
        "similarity": similarity(ours.words, theirs.words),
        "coverage_words": words.recall,
        "missing_words": words.missing,
        "extra_words": words.extra,
        **_overlap_fields("links", overlap(ours.links, theirs.links)),
        **_overlap_fields("images", overlap(ours.images, theirs.images)),
    }


def _overlap_fields(part: str, result: Overlap) -> dict[str, Any]:
    return {f"{name}_{part}": getattr(result, name) for name in Overlap._fields}


def log_path(settings: Settings) -> Path:
    """Return the path of the log, next to the library."""
    from pagekeep.store.opening import default_library

    library = settings.library
    if library is None or "://" in library:
        return default_library().with_name("comparisons.jsonl")
    path = Path(library)
    return path.with_name(f"{path.name}.comparisons.jsonl")


def log_comparison(settings: Settings, comparison: Comparison) -> None:
    """Append a comparison to the log in one write, as several processes may do so at the same time."""
    path = log_path(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(asdict(comparison), ensure_ascii=False) + "\n"
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line.encode("utf-8", "replace"))
    finally:
        os.close(file)


def read_log(path: Path) -> Iterator[Comparison]:
    """Yield all comparisons, oldest first, without lines cut off by a crash; raise `NotFound` when there is no log."""
    try:
        lines = path.open(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise NotFound(
            "Nothing has been compared yet.",
            suggestions=("Save pages in the mode `compare`: set PAGEKEEP_MODE=compare.",),
        ) from None
    with lines:
        for line in lines:
            try:
                fields = json.loads(line)
                yield Comparison(**{**fields, "ours": Side(**fields["ours"]), "theirs": Side(**fields["theirs"])})
            except (ValueError, TypeError, KeyError):
                continue


def latest(log: Iterator[Comparison]) -> list[Comparison]:
    """Return the last comparison of each page, in the order of the log."""
    by_url: dict[str, Comparison] = {}
    for comparison in log:
        by_url.pop(comparison.url, None)
        by_url[comparison.url] = comparison
    return list(by_url.values())


def summary(log: Sequence[Comparison]) -> dict[str, Any]:
    """Return the log in numbers: pages, failures, means and deviations, and the totals of missing and extra parts."""
    both = [entry for entry in log if entry.similarity is not None]
    numbers: dict[str, Any] = {
        "pages": len(log),
        "compared": len(both),
        "failed_here": sum(entry.ours.error is not None for entry in log),
        "failed_there": sum(entry.theirs.error is not None for entry in log),
        **_mean("similarity", both),
        **{name: value for part in _PARTS for name, value in _mean(f"coverage_{part}", both).items()},
    }
    for part in _PARTS:
        for kind in ("missing", "extra"):
            numbers[f"{kind}_{part}"] = sum(getattr(entry, f"{kind}_{part}") or 0 for entry in both)
    return numbers


_PARTS: Final = ("words", "links", "images")


def _mean(name: str, log: Sequence[Comparison]) -> Mapping[str, float | None]:
    values = [value for entry in log if (value := getattr(entry, name)) is not None]
    mean, deviation = (fmean(values), pstdev(values)) if values else (None, None)
    return {name: mean, f"std_{name}": deviation}

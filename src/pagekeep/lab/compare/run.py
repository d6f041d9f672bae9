"""Run two extractors over a corpus, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pagekeep.config import Settings
from pagekeep.errors import NotFound
from pagekeep.lab import corpus as corpora
from pagekeep.lab.compare.comparison_files import history_row, summary_row, write_comparison
from pagekeep.lab.compare.comparison_html import summary_rows
from pagekeep.lab.compare.extractors import open_extractor
from pagekeep.lab.compare.pairs import Comparison, Pair, compare_results
from pagekeep.lab.corpus import Case, Reference, Sample

_WARM_UP_PAGE = (
    b"<!doctype html><title>First</title><article><p>" + b"The first page pays for what is loaded once. " * 40
)
_PAGE_PATTERNS = ("*.html", "*.htm", "*.html.gz")


def compare(
    a: str,
    b: str,
    corpus: Path,
    *,
    settings: Settings,
    limit: int | None = None,
    out: Path | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Comparison:
    """Extract the pages of a folder with both and compare the results; with `out`, also write them to that folder.

    The folder is a corpus as for `pagekeep evaluate`, or contains only pages.
    """
    cases = _find_cases(corpus, limit)
    pairs: list[Pair] = []
    with open_extractor(a, settings) as first, open_extractor(b, settings) as second:
        for read in (first, second):
            read(_WARM_UP_PAGE, None)  # so that loading modules does not count as the first page's time
        for sample in _read_samples(cases):
            readings = first(sample.html, sample.url), second(sample.html, sample.url)
            pairs.append(
                compare_results(
                    sample.name, sample.url, *readings, kind=sample.kind, reference=sample.gold.text or None
                )
            )
            progress(len(pairs), len(cases))
    return _finished(Comparison(corpus.resolve().name, a, b, tuple(sorted(pairs, key=lambda one: one.name))), out)


def write_report(out: Path, corpus: str, names: tuple[str, str], pairs: Iterable[Pair]) -> Comparison:
    """Write the report of pages that were compared elsewhere."""
    return _finished(Comparison(corpus, *names, tuple(pairs)), out)


def format_comparison(comparison: Comparison) -> list[list[str]]:
    """Return the summary as rows of strings, the header first."""
    return summary_rows(comparison)


def comparison_to_json(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as plain JSON types: the totals, then the numbers of each page."""
    return {"summary": history_row(comparison, "", ""), "pages": [summary_row(one) for one in comparison.pairs]}


def _finished(comparison: Comparison, out: Path | None) -> Comparison:
    if out is not None:
        write_comparison(comparison, out)
    return comparison


def _find_cases(corpus: Path, limit: int | None) -> list[Case | Path]:
    try:
        return list(corpora.find_cases(corpus, limit))
    except NotFound:
        pages = sorted(path for pattern in _PAGE_PATTERNS for path in corpus.glob(pattern)) if corpus.is_dir() else []
        if not pages:
            raise
    size = len(pages) if limit is None else max(1, min(limit, len(pages)))
    return [pages[index * len(pages) // size] for index in range(size)]


def _read_samples(cases: Iterable[Case | Path]) -> Iterator[Sample]:
    for case in cases:
        if isinstance(case, Case):
            yield corpora.read_case(case)
        else:
            yield Sample(case.name.partition(".html")[0], None, "", corpora.read_bytes(case), Reference(""))

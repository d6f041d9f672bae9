"""Runs two extractors over a corpus, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pagekeep.config import Settings
from pagekeep.errors import NotFound
from pagekeep.lab import corpus as corpora
from pagekeep.lab.compare.extractors import extractor
from pagekeep.lab.compare.files import history_row, summary_row, write_all
from pagekeep.lab.compare.page import summary_rows
from pagekeep.lab.compare.pairs import Comparison, Pair, pair
from pagekeep.lab.corpus import Case, Gold, Sample

_FIRST = b"<!doctype html><title>First</title><article><p>" + b"The first page pays for what is loaded once. " * 40
_PAGES = ("*.html", "*.htm", "*.html.gz")


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
    """Have both read the pages of a folder and measure how they agree; with `out`, write the records there.

    The folder is a corpus as `evaluate` takes it, or holds nothing but pages.
    """
    cases = _cases(corpus, limit)
    pairs: list[Pair] = []
    with extractor(a, settings) as first, extractor(b, settings) as second:
        for read in (first, second):
            read(_FIRST, None)  # pays for what is loaded once
        for sample in _samples(cases):
            readings = first(sample.html, sample.url), second(sample.html, sample.url)
            pairs.append(pair(sample.name, sample.url, *readings, kind=sample.kind, reference=sample.gold.text or None))
            progress(len(pairs), len(cases))
    return _finished(Comparison(corpus.resolve().name, a, b, tuple(sorted(pairs, key=lambda one: one.name))), out)


def report_readings(out: Path, corpus: str, names: tuple[str, str], pairs: Iterable[Pair]) -> Comparison:
    """The same for readings that are at hand."""
    return _finished(Comparison(corpus, *names, tuple(pairs)), out)


def table_of(comparison: Comparison) -> list[list[str]]:
    """The summary as rows of strings, the header first."""
    return summary_rows(comparison)


def numbers_of(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain JSON types: the numbers of the whole, then those of each page."""
    return {"summary": history_row(comparison, "", ""), "pages": [summary_row(one) for one in comparison.pairs]}


def _finished(comparison: Comparison, out: Path | None) -> Comparison:
    if out is not None:
        write_all(comparison, out)
    return comparison


def _cases(corpus: Path, limit: int | None) -> list[Case | Path]:
    try:
        return list(corpora.find(corpus, limit))
    except NotFound:
        pages = sorted(path for pattern in _PAGES for path in corpus.glob(pattern)) if corpus.is_dir() else []
        if not pages:
            raise
    size = len(pages) if limit is None else max(1, min(limit, len(pages)))
    return [pages[index * len(pages) // size] for index in range(size)]


def _samples(cases: Iterable[Case | Path]) -> Iterator[Sample]:
    for case in cases:
        if isinstance(case, Case):
            yield corpora.read(case)
        else:
            yield Sample(case.name.partition(".html")[0], None, "", corpora.bytes_of(case), Gold(""))

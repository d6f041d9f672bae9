"""Runs an extractor over a corpus and scores every page."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from pagekeep import dom, extract
from pagekeep.lab import corpus as corpora
from pagekeep.lab.completeness import missing
from pagekeep.lab.corpus import Case, Sample
from pagekeep.lab.metrics import (
    Overlap,
    overlap,
    same_author,
    same_date,
    same_title,
    score_words,
    similarity,
    snippet_hits,
)
from pagekeep.lab.report.files import write_all
from pagekeep.lab.report.summary import PageScore, Report, Structure, make_report
from pagekeep.model import Page
from pagekeep.rules import Rulebook

Extractor = Callable[[bytes, str | None], Page]

_BATCH = 8
_FIRST = b"<!doctype html><title>First</title><article><p>" + b"The first page pays for what is loaded once. " * 40
_PARTS = {
    "p": "paragraphs",
    "ul": "lists",
    "ol": "lists",
    "dl": "lists",
    "blockquote": "quotes",
    "pre": "code",
    "table": "tables",
    "figcaption": "captions",
}


def pipeline_extract(html: bytes, url: str | None) -> Page:
    """Pagekeep's own extractor with its default options and the shipped rules."""
    return extract(html, url)


def extract_without_rules(html: bytes, url: str | None) -> Page:
    """The same without any rules, to see what they are worth."""
    return extract(html, url, rules=Rulebook())


_OWN: tuple[Extractor, ...] = (pipeline_extract, extract_without_rules)


def _warm_up(extractor: Extractor) -> None:
    """Load what our extractor loads on first use, which would otherwise be counted as the first page's time."""
    if extractor in _OWN:
        extractor(_FIRST, None)


def run(
    corpus: Path,
    *,
    limit: int | None = None,
    out: Path | None = None,
    extractor: Extractor = pipeline_extract,
    workers: int | None = None,
) -> Report:
    """Measure a corpus; with `out`, write the records there too.

    `workers` above 1 needs an extractor that can be pickled; by default Pagekeep's own uses every core, others one.
    """
    cases = corpora.find(corpus, limit)
    if workers is None:
        workers = (os.cpu_count() or 1) if extractor in _OWN and len(cases) > 4 * _BATCH else 1
    report = make_report(corpus.name, _scores(cases, extractor, workers))
    if out is not None:
        write_all(report, out)
    return report


def _scores(cases: list[Case], extractor: Extractor, workers: int) -> Iterable[PageScore]:
    measure = partial(measure_case, extractor=extractor)
    if workers <= 1:
        _warm_up(extractor)
        return [measure(case) for case in cases]
    # Fresh processes, not forks: a fork of a program with threads can hang, and Python warns of it.
    fresh = get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=fresh, initializer=_warm_up, initargs=(extractor,)) as pool:
        return list(pool.map(measure, cases, chunksize=_BATCH))


def measure_case(case: Case, *, extractor: Extractor) -> PageScore:
    """Read, extract and score one page. Only an unreadable corpus raises: a failing extractor is a score of 0."""
    sample = corpora.read(case)
    begin = time.process_time()
    try:
        page = extractor(sample.html, sample.url)
    except Exception as error:  # whatever an extractor raises is a result of the measurement, never its end
        return failed(sample, type(error).__name__, _ms_since(begin))
    return score_page(sample, page, _ms_since(begin))


def _ms_since(begin: float) -> float:
    return (time.process_time() - begin) * 1000


def failed(sample: Sample, error: str, ms: float) -> PageScore:
    """The score of a page that raised: nothing found, so nothing right."""
    gold = sample.gold
    return PageScore(
        name=sample.name,
        url=sample.url,
        kind=sample.kind,
        words=score_words("", gold.text)._replace(precision=0.0, recall=0.0, f1=0.0),
        similarity=0.0,
        title_right=None if gold.title is None else False,
        author_right=None if gold.author is None else False,
        date_right=None if gold.published is None else False,
        with_hits=0,
        with_total=len(gold.with_),
        without_hits=0,
        without_total=0,
        links=_overlap((), gold.links),
        images=_overlap((), gold.images),
        videos=_overlap((), gold.videos),
        ms=ms,
        error=error,
        gold=gold.text,
    )


def score_page(sample: Sample, page: Page, ms: float) -> PageScore:
    """Everything measured about a page that did not raise."""
    gold, found = sample.gold, page.metadata
    return PageScore(
        name=sample.name,
        url=sample.url,
        kind=sample.kind,
        words=score_words(page.text, gold.text),
        similarity=similarity(page.text, gold.text),
        title_right=None if gold.title is None else same_title(found.title, gold.title),
        author_right=None if gold.author is None else same_author(found.author, gold.author),
        date_right=None if gold.published is None else same_date(found.published, gold.published),
        with_hits=snippet_hits(gold.with_, page.text),
        with_total=len(gold.with_),
        without_hits=snippet_hits(gold.without, page.text),
        without_total=len(gold.without),
        links=_overlap((link.url for link in page.links), gold.links),
        images=_overlap((media.url for media in page.media if media.kind == "image"), gold.images),
        videos=_overlap((media.url for media in page.media if media.kind == "video"), gold.videos),
        structure=structure_of(page.html),
        missing=missing(sample, page),
        ms=ms,
        found_kind=page.kind,
        strategy=page.strategy,
        level=page.quality.level,
        gold=gold.text,
        result=page.text,
    )


def _overlap(found: Iterable[str], gold: tuple[str, ...] | None) -> Overlap | None:
    return None if gold is None else overlap(found, gold)


def structure_of(html: str) -> Structure:
    """Counts of the blocks readers notice, from clean HTML."""
    found = dom.select(dom.parse_fragment(html), ", ".join(_PARTS))
    return Structure(**Counter(_PARTS[element.tag] for element in found))

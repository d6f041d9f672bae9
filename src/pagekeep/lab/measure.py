"""Run an extractor over a corpus and score every page."""

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
from pagekeep.lab.completeness import find_missing_fields
from pagekeep.lab.corpus import Case, Sample
from pagekeep.lab.metrics import (
    Overlap,
    count_snippets,
    overlap,
    same_author,
    same_date,
    same_title,
    score_words,
    similarity,
)
from pagekeep.lab.report.evaluation_files import write_evaluation
from pagekeep.lab.scores import EvaluationReport, PageScore, Structure, make_report
from pagekeep.model import Page
from pagekeep.rules import Rulebook

Extractor = Callable[[bytes, str | None], Page]

_BATCH_PAGES = 8
_WARM_UP_PAGE = (
    b"<!doctype html><title>First</title><article><p>" + b"The first page pays for what is loaded once. " * 40
)
_STRUCTURE_NAMES = {
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
    """Extract with Pagekeep's default options and the shipped rules."""
    return extract(html, url)


def extract_without_rules(html: bytes, url: str | None) -> Page:
    """Extract with Pagekeep's default options and no rules."""
    return extract(html, url, rules=Rulebook())


_PAGEKEEP_EXTRACTORS: tuple[Extractor, ...] = (pipeline_extract, extract_without_rules)


def _warm_up(extractor: Extractor) -> None:
    """Extract a page, so that what is loaded on first use does not count as the first page's time."""
    if extractor in _PAGEKEEP_EXTRACTORS:
        extractor(_WARM_UP_PAGE, None)


def run(
    corpus: Path,
    *,
    limit: int | None = None,
    out: Path | None = None,
    extractor: Extractor = pipeline_extract,
    workers: int | None = None,
) -> EvaluationReport:
    """Measure a corpus; with `out`, also write the results to that folder.

    More than one worker needs an extractor that can be pickled. By default Pagekeep's own use every core, others one.
    """
    cases = corpora.find_cases(corpus, limit)
    if workers is None:
        workers = (os.cpu_count() or 1) if extractor in _PAGEKEEP_EXTRACTORS and len(cases) > 4 * _BATCH_PAGES else 1
    report = make_report(corpus.name, _score_cases(cases, extractor, workers))
    if out is not None:
        write_evaluation(report, out)
    return report


def _score_cases(cases: list[Case], extractor: Extractor, workers: int) -> Iterable[PageScore]:
    measure = partial(measure_case, extractor=extractor)
    if workers <= 1:
        _warm_up(extractor)
        return [measure(case) for case in cases]
    # New processes, not forks: a fork of a program with threads can hang, and Python warns of it.
    spawn = get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawn, initializer=_warm_up, initargs=(extractor,)) as pool:
        return list(pool.map(measure, cases, chunksize=_BATCH_PAGES))


def measure_case(case: Case, *, extractor: Extractor) -> PageScore:
    """Read, extract and score one page. An extractor that raises scores 0; a damaged corpus raises."""
    sample = corpora.read_case(case)
    begin = time.process_time()
    try:
        page = extractor(sample.html, sample.url)
    except Exception as error:  # whatever an extractor raises is a result of the measurement, never its end
        return score_failure(sample, type(error).__name__, _ms_since(begin))
    return score_page(sample, page, _ms_since(begin))


def _ms_since(begin: float) -> float:
    return (time.process_time() - begin) * 1000


def score_failure(sample: Sample, error: str, ms: float) -> PageScore:
    """Return the score of a page whose extraction raised: nothing is right."""
    gold = sample.gold
    return PageScore(
        name=sample.name,
        url=sample.url,
        kind=sample.kind,
        words=None if gold.text is None else score_words("", gold.text)._replace(precision=0.0, recall=0.0, f1=0.0),
        similarity=None if gold.text is None else 0.0,
        title_right=None if gold.title is None else False,
        author_right=None if gold.author is None else False,
        date_right=None if gold.published is None else False,
        with_hits=0,
        with_total=len(gold.with_),
        without_hits=0,
        without_total=0,
        links=_overlap_if_known((), gold.links),
        images=_overlap_if_known((), gold.images),
        videos=_overlap_if_known((), gold.videos),
        ms=ms,
        error=error,
        gold=gold.text or "",
    )


def score_page(sample: Sample, page: Page, ms: float) -> PageScore:
    """Return everything measured about an extracted page."""
    gold, metadata = sample.gold, page.metadata
    return PageScore(
        name=sample.name,
        url=sample.url,
        kind=sample.kind,
        words=None if gold.text is None else score_words(page.text, gold.text),
        similarity=None if gold.text is None else similarity(page.text, gold.text),
        title_right=None if gold.title is None else same_title(metadata.title, gold.title),
        author_right=None if gold.author is None else same_author(metadata.author, gold.author),
        date_right=None if gold.published is None else same_date(metadata.published, gold.published),
        with_hits=count_snippets(gold.with_, page.text),
        with_total=len(gold.with_),
        without_hits=count_snippets(gold.without, page.text),
        without_total=len(gold.without),
        links=_overlap_if_known((link.url for link in page.links), gold.links),
        images=_overlap_if_known((media.url for media in page.media if media.kind == "image"), gold.images),
        videos=_overlap_if_known((media.url for media in page.media if media.kind == "video"), gold.videos),
        structure=count_structure(page.html),
        missing=find_missing_fields(sample, page),
        ms=ms,
        found_kind=page.kind,
        strategy=page.strategy,
        level=page.quality.level,
        gold=gold.text or "",
        result=page.text,
    )


def _overlap_if_known(found: Iterable[str], gold: tuple[str, ...] | None) -> Overlap | None:
    return None if gold is None else overlap(found, gold)


def count_structure(html: str) -> Structure:
    """Count the paragraphs, lists, tables and other blocks in clean HTML."""
    blocks = dom.select(dom.parse_fragment(html), ", ".join(_STRUCTURE_NAMES))
    return Structure(**Counter(_STRUCTURE_NAMES[block.tag] for block in blocks))

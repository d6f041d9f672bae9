"""Run an extractor over a corpus, score every page, and compare the report with the floors of the gate file."""

from __future__ import annotations

import os
import re
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from pagekeep import dom, extract
from pagekeep.errors import NotFound, ParseError
from pagekeep.model import KINDS, Page
from pagekeep.rules import Rulebook
from pagekeep_lab import corpus as corpora
from pagekeep_lab.corpus import Case, Sample
from pagekeep_lab.evaluation_report import write_evaluation
from pagekeep_lab.scores import (
    EvaluationReport,
    Overlap,
    PageScore,
    Structure,
    count_snippets,
    make_report,
    overlap,
    same_author,
    same_date,
    same_title,
    score_words,
    similarity,
)

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


_FIELD = re.compile(r"^(\w+):", re.MULTILINE)
_ALWAYS_EXPECTED = ("title", "language", "word_count", "reading_time", "quality")
_EXPECTED_IF_STATED = {
    "description": 'meta[name="description" i][content], meta[property="og:description"][content]',
    "site_name": 'meta[property="og:site_name"][content]',
}


def find_missing_fields(sample: Sample, page: Page) -> tuple[str, ...]:
    """Return the fields the page lacks: those every page has, and those that its reference or its head has."""
    block = page.document.partition("\n---\n")[0] if page.document.startswith("---\n") else ""
    present = frozenset(_FIELD.findall(block))
    return tuple(name for name in _expected_fields(sample) if name not in present)


def _expected_fields(sample: Sample) -> list[str]:
    expected = [*(("source", "domain") if sample.url else ()), *_ALWAYS_EXPECTED]
    if sample.gold.author:
        expected.append("author")
    if sample.gold.published:
        expected.append("published_date")
    document = dom.parse(sample.html.decode("utf-8", "replace"))
    for name, selector in _EXPECTED_IF_STATED.items():
        if any((element.attr("content") or "").strip() for element in dom.select(document, selector)):
            expected.append(name)
    return expected


NUMBERS = (
    "f1",
    "precision",
    "recall",
    "similarity",
    "title_accuracy",
    "author_accuracy",
    "date_accuracy",
    "kind_accuracy",
    "with_share",
    "without_share",
    "snippet_precision",
    "snippet_f1",
)
"""The numbers that can have a floor, for `all` and for every kind. A name without a kind means `all`."""


def find_broken_floors(report: EvaluationReport, gate_file: Path) -> list[str]:
    """Return one sentence for each broken floor.

    A floor whose number was not measured is broken. Raises `NotFound` without the file, and `ParseError` with every
    unknown key.
    """
    broken = (_check_floor(report, group, number, floor) for group, number, floor in read_floors(gate_file))
    return [fault for fault in broken if fault]


def _check_floor(report: EvaluationReport, group: str, number: str, floor: float) -> str:
    summary = report.summary.get(group)
    if summary is None:
        return f"{group}.{number}: no {group} page was measured (floor {floor:.3f})"
    value = getattr(summary, number)
    if value is None:
        return f"{group}.{number}: no page has a reference for it (floor {floor:.3f})"
    return f"{group}.{number}: {value:.4f} is below the floor {floor:.4f}" if value < floor else ""


def read_floors(gate_file: Path) -> list[tuple[str, str, float]]:
    """Return every floor as group, number and value, in the file's order."""
    floors, faults = [], []
    for key, value in _flatten(_read_toml(gate_file)):
        group, _, number = key.rpartition(".")
        group = group or "all"
        if number not in NUMBERS or (group != "all" and group not in KINDS):
            faults.append(f"{key} is not a number that can have a floor")
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            faults.append(f"{key} must be a number from 0 to 1")
        else:
            floors.append((group, number, float(value)))
    if faults or not floors:
        raise _gate_error(gate_file, "; ".join(faults) or "it has no floors")
    return floors


def _gate_error(gate_file: Path, fault: str) -> ParseError:
    hint = f"A floor is a line such as `article.f1 = 0.85`; the numbers are {', '.join(NUMBERS)}."
    return ParseError(f"Gate file {gate_file.name}: {fault}.", suggestions=(hint,))


def _read_toml(gate_file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(gate_file.read_text("utf-8"))
    except OSError as error:
        raise NotFound(f"The gate file {gate_file} cannot be read.") from error
    except ValueError as error:
        raise _gate_error(gate_file, str(error)) from error


def _flatten(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value

"""What each rule is worth: F1 on the pages it matches, with it and with all rules but it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from pagekeep.errors import PagekeepError
from pagekeep.lab import corpus as corpora
from pagekeep.lab.corpus import Case, Sample
from pagekeep.lab.metrics import score_words
from pagekeep.pipeline import extract
from pagekeep.rules import Rulebook, load, shipped

_BATCH = 8


class Difference(NamedTuple):
    """What a rule did to the F1 of one page."""

    rule: str
    page: str
    with_rule: float
    without: float


class Worth(NamedTuple):
    """What a rule did to the pages it matched."""

    rule: str
    pages: int
    with_rule: float
    """Mean F1."""
    without: float
    worst: str
    """The page it helped least or harmed most."""

    @property
    def gain(self) -> float:
        return self.with_rule - self.without


def measure(
    corpus: Path, folder: Path | None = None, *, limit: int | None = None, workers: int | None = None
) -> list[Worth]:
    """Every rule in force, shipped or from the folder, and what it did; those that matched no page have 0 pages."""
    cases = corpora.find(corpus, limit)
    if workers is None:
        workers = (os.cpu_count() or 1) if len(cases) > 4 * _BATCH else 1
    return summarise([rule.id for rule in _book(folder).rules], _differences(cases, folder, workers))


def summarise(rules: Iterable[str], differences: Iterable[Difference]) -> list[Worth]:
    """Means per rule, the most harmful first."""
    found: dict[str, list[Difference]] = {rule: [] for rule in rules}
    for difference in differences:
        found[difference.rule].append(difference)
    worths = [_worth(rule, pages) for rule, pages in found.items()]
    return sorted(worths, key=lambda worth: (not worth.pages, worth.gain, worth.rule))


def _worth(rule: str, pages: list[Difference]) -> Worth:
    if not pages:
        return Worth(rule, 0, 0.0, 0.0, "")
    worst = min(pages, key=lambda page: (page.with_rule - page.without, page.page))
    count = len(pages)
    with_rule, without = sum(page.with_rule for page in pages) / count, sum(page.without for page in pages) / count
    return Worth(rule, count, with_rule, without, worst.page)


def _differences(cases: list[Case], folder: Path | None, workers: int) -> list[Difference]:
    look = partial(differences_of, folder=folder)
    if workers <= 1:
        return [found for case in cases for found in look(case)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return [found for page in pool.map(look, cases, chunksize=_BATCH) for found in page]


def differences_of(case: Case, *, folder: Path | None) -> list[Difference]:
    """One page: as it is, and once more without each rule that matched."""
    sample = corpora.read(case)
    f1, matched = _read(sample, _book(folder))
    return [Difference(rule, case.name, f1, _read(sample, _book_without(folder, rule))[0]) for rule in matched]


def _read(sample: Sample, book: Rulebook) -> tuple[float, list[str]]:
    try:
        page = extract(sample.html, sample.url, rules=book)
    except PagekeepError:
        return 0.0, []
    return score_words(page.text, sample.gold.text).f1, list(dict.fromkeys(match.id for match in page.trace.rules))


@lru_cache(maxsize=4)
def _book(folder: Path | None) -> Rulebook:
    return shipped() if folder is None else load(folder)


@lru_cache(maxsize=256)
def _book_without(folder: Path | None, rule: str) -> Rulebook:
    return _book(folder).without(rule)

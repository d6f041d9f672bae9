"""Measure each rule on the pages it matches, with all rules and with all but this one.

The figure is a page's rank: word F1, or the share of snippets and fields that are right where there is no reference text.
"""

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
from pagekeep.lab.measure import score_page
from pagekeep.pipeline import extract
from pagekeep.rules import Rulebook, load, shipped

_BATCH_PAGES = 8


class RuleEffect(NamedTuple):
    """The effect of a rule on the F1 of one page."""

    rule: str
    page: str
    with_rule: float
    without: float


class RuleStats(NamedTuple):
    """The effect of a rule on all pages that it matches."""

    rule: str
    pages: int
    with_rule: float
    """Mean F1."""
    without: float
    worst: str
    """The page with the smallest gain or the largest loss."""

    @property
    def gain(self) -> float:
        return self.with_rule - self.without


def measure_rules(
    corpus: Path, folder: Path | None = None, *, limit: int | None = None, workers: int | None = None
) -> list[RuleStats]:
    """Return the effect of every active rule, shipped or from the folder; rules without a match have 0 pages."""
    cases = corpora.find_cases(corpus, limit)
    if workers is None:
        workers = (os.cpu_count() or 1) if len(cases) > 4 * _BATCH_PAGES else 1
    return summarise_effects([rule.id for rule in _load_rules(folder).rules], _measure_cases(cases, folder, workers))


def summarise_effects(rules: Iterable[str], effects: Iterable[RuleEffect]) -> list[RuleStats]:
    """Return the means per rule, the most harmful first."""
    by_rule: dict[str, list[RuleEffect]] = {rule: [] for rule in rules}
    for effect in effects:
        by_rule[effect.rule].append(effect)
    stats = [_summarise_rule(rule, pages) for rule, pages in by_rule.items()]
    return sorted(stats, key=lambda rule: (not rule.pages, rule.gain, rule.rule))


def _summarise_rule(rule: str, pages: list[RuleEffect]) -> RuleStats:
    if not pages:
        return RuleStats(rule, 0, 0.0, 0.0, "")
    worst = min(pages, key=lambda page: (page.with_rule - page.without, page.page))
    count = len(pages)
    with_rule, without = sum(page.with_rule for page in pages) / count, sum(page.without for page in pages) / count
    return RuleStats(rule, count, with_rule, without, worst.page)


def _measure_cases(cases: list[Case], folder: Path | None, workers: int) -> list[RuleEffect]:
    measure = partial(measure_case, folder=folder)
    if workers <= 1:
        return [effect for case in cases for effect in measure(case)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return [effect for page in pool.map(measure, cases, chunksize=_BATCH_PAGES) for effect in page]


def measure_case(case: Case, *, folder: Path | None) -> list[RuleEffect]:
    """Extract one page with all rules, and again without each rule that matches."""
    sample = corpora.read_case(case)
    f1, matched = _extract_and_score(sample, _load_rules(folder))
    return [
        RuleEffect(rule, case.name, f1, _extract_and_score(sample, _load_rules_without(folder, rule))[0])
        for rule in matched
    ]


def _extract_and_score(sample: Sample, book: Rulebook) -> tuple[float, list[str]]:
    try:
        page = extract(sample.html, sample.url, rules=book)
    except PagekeepError:
        return 0.0, []
    return score_page(sample, page, 0.0).rank, list(dict.fromkeys(match.id for match in page.trace.rules))


@lru_cache(maxsize=4)
def _load_rules(folder: Path | None) -> Rulebook:
    return shipped() if folder is None else load(folder)


@lru_cache(maxsize=256)
def _load_rules_without(folder: Path | None, rule: str) -> Rulebook:
    return _load_rules(folder).without(rule)

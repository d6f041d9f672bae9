"""Measure each rule on the pages it matches, with all rules and with all but this one.

The figure is a page's rank: word F1, or the share of snippets and fields that are right where there is no reference text; for
a Markdown case the mean of its word F1 and of the aspects that agree. Pages that rules were written with say little about
what a rule gains elsewhere, so they are counted apart."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple

from pagekeep.model import Metadata, Page, RuleMatch
from pagekeep.pipeline import extract
from pagekeep.rules import Rulebook, load, shipped
from pagekeep_lab import corpus as corpora
from pagekeep_lab import evaluate, markdown_cases
from pagekeep_lab.corpus import Case
from pagekeep_lab.markdown_cases import ASPECTS, CaseScore

WRITTEN_WITH: Final = frozenset({"wcxb", "readability", "markdown"})
"""Folder names of the corpora that the shipped rules were written with; every other corpus is new to them."""
_BATCH_PAGES = 8
_WITHOUT_ELEMENTS: Final = frozenset({"quality", "rendering"})


class CorpusPage(NamedTuple):
    """A page of a corpus."""

    corpus: str
    case: Case
    is_markdown: bool = False
    is_one_of_many: bool = False
    """Whether pages of several corpora are measured."""

    @property
    def name(self) -> str:
        return f"{self.corpus}/{self.case.name}" if self.is_one_of_many else self.case.name


class RuleEffect(NamedTuple):
    """The effect of a rule on the rank of one page."""

    rule: str
    page: str
    with_rule: float
    without: float
    changes: bool = True
    """Whether the Markdown or the metadata differ, which no reference may look at."""
    is_new: bool = False
    """Whether the rule was not written with the page."""

    @property
    def gain(self) -> float:
        return self.with_rule - self.without


class Gain(NamedTuple):
    """The effect of a rule on a group of pages that it matches."""

    pages: int = 0
    changed: int = 0
    """Pages whose Markdown or metadata it changes."""
    with_rule: float = 0.0
    """Mean rank."""
    without: float = 0.0
    worst: str = ""
    """The page with the smallest gain or the largest loss."""

    @property
    def gain(self) -> float:
        return self.with_rule - self.without


class RuleStats(NamedTuple):
    """The effect of a rule on all pages that it matches."""

    rule: str
    total: Gain = Gain()
    written_with: Gain = Gain()
    new: Gain = Gain()
    """On pages that it was not written with."""
    basis: str = ""


def measure_rules(
    folders: Sequence[Path], own_rules: Path | None = None, *, limit: int | None = None, workers: int | None = None
) -> list[RuleStats]:
    """Return the effect of every active rule, shipped or from the folder of own rules; rules without a match have 0 pages.

    `limit` bounds the pages of each corpus.
    """
    pages = [page for folder in folders for page in _find_pages(folder, limit)]
    if len(folders) > 1:
        pages = [page._replace(is_one_of_many=True) for page in pages]
    if workers is None:
        workers = (os.cpu_count() or 1) if len(pages) > 4 * _BATCH_PAGES else 1
    bases = {rule.id: rule.basis or "" for rule in _load_rules(own_rules).rules}
    return summarise_effects(bases, _measure_pages(pages, own_rules, workers))


def _find_pages(folder: Path, limit: int | None) -> list[CorpusPage]:
    if not corpora.has_markdown_cases(folder):
        return [CorpusPage(folder.name, case) for case in corpora.find_cases(folder, limit)]
    sources = [path for path in sorted(folder.glob("*.html")) if path.with_suffix(".md").is_file()]
    cases = [Case(path.stem, path, path.with_suffix(".md")) for path in sources]
    return [CorpusPage(folder.name, case, is_markdown=True) for case in corpora.spread_evenly(cases, limit)]


def summarise_effects(bases: Mapping[str, str], effects: Iterable[RuleEffect]) -> list[RuleStats]:
    """Return the means per rule, the most harmful on new pages first; `bases` has the ids of all rules."""
    by_rule: dict[str, list[RuleEffect]] = {rule: [] for rule in bases}
    for effect in effects:
        by_rule[effect.rule].append(effect)
    stats = [
        RuleStats(
            rule,
            summarise_pages(pages),
            summarise_pages([page for page in pages if not page.is_new]),
            summarise_pages([page for page in pages if page.is_new]),
            bases[rule],
        )
        for rule, pages in by_rule.items()
    ]
    return sorted(stats, key=lambda rule: (not rule.total.pages, rule.new.gain, rule.total.gain, rule.rule))


def summarise_pages(pages: Sequence[RuleEffect]) -> Gain:
    """Return the means over the pages."""
    if not pages:
        return Gain()
    worst = min(pages, key=lambda page: (page.gain, page.page))
    count = len(pages)
    with_rule, without = sum(page.with_rule for page in pages) / count, sum(page.without for page in pages) / count
    return Gain(count, sum(page.changes for page in pages), with_rule, without, worst.page)


def _measure_pages(pages: list[CorpusPage], own_rules: Path | None, workers: int) -> list[RuleEffect]:
    measure_one = partial(measure_page, own_rules=own_rules)
    if workers <= 1:
        return [effect for page in pages for effect in measure_one(page)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return [effect for page in pool.map(measure_one, pages, chunksize=_BATCH_PAGES) for effect in page]


def measure_page(page: CorpusPage, *, own_rules: Path | None) -> list[RuleEffect]:
    """Extract one page with all rules, and again without each rule that did something to it."""
    rank, result = _extract_and_rank(page, _load_rules(own_rules))
    if result is None:
        return []
    effects: list[RuleEffect] = []
    is_new = page.corpus not in WRITTEN_WITH
    active = {match.id for match in result.trace.rules if _did_something(match)}
    for rule in dict.fromkeys(match.id for match in result.trace.rules):
        without, other = rank, result
        if rule in active:
            without, maybe = _extract_and_rank(page, _load_rules_without(own_rules, rule))
            other = maybe or result
        changes = _content(other) != _content(result)
        effects.append(RuleEffect(rule, page.name, rank, without, changes, is_new))
    return effects


def _content(page: Page) -> tuple[str, Metadata]:
    return page.markdown, replace(page.metadata, origins={})


def _did_something(match: RuleMatch) -> bool:
    """Return whether a rule found elements, set a threshold or ignores a value of the page."""
    return any(
        effect.count or effect.what in _WITHOUT_ELEMENTS or (effect.what == "metadata" and not effect.selector)
        for effect in match.effects
    )


def _extract_and_rank(page: CorpusPage, book: Rulebook) -> tuple[float, Page | None]:
    """Return the rank of the page's result with these rules, and the result; 0 and `None` for a page that is refused."""
    found: Page | None = None

    def extractor(html: bytes, url: str | None) -> Page:
        nonlocal found
        found = extract(html, url, rules=book)
        return found

    if page.is_markdown:
        return _rank_markdown(markdown_cases.score_case(page.case.source, extractor)), found
    return evaluate.measure_case(page.case, extractor=extractor).rank, found


def _rank_markdown(score: CaseScore) -> float:
    right = sum(aspect not in score.wrong for aspect in ASPECTS if aspect != "words")
    return (score.f1 + right) / len(ASPECTS)


@lru_cache(maxsize=4)
def _load_rules(folder: Path | None) -> Rulebook:
    return shipped() if folder is None else load(folder)


@lru_cache(maxsize=256)
def _load_rules_without(folder: Path | None, rule: str) -> Rulebook:
    return _load_rules(folder).without(rule)

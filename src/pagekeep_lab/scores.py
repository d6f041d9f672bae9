"""The results of an evaluation: metrics, one score per page, one summary per kind of page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, pstdev
from types import MappingProxyType

from pagekeep.model import KINDS
from pagekeep.text import Overlap, WordScore, normalise_tokens, overlap, score_words, similarity, split_words

__all__ = [
    "EvaluationReport",
    "Overlap",
    "PageScore",
    "Structure",
    "Summary",
    "WordScore",
    "count_snippets",
    "format_cell",
    "format_table",
    "make_report",
    "normalise_tokens",
    "overlap",
    "same_author",
    "same_date",
    "same_title",
    "score_words",
    "similarity",
    "split_words",
    "summarise_pages",
]


@dataclass(frozen=True, slots=True)
class Structure:
    """How many blocks of each type the clean HTML has."""

    paragraphs: int = 0
    lists: int = 0
    quotes: int = 0
    code: int = 0
    tables: int = 0
    captions: int = 0


@dataclass(frozen=True, slots=True)
class PageScore:
    """Everything measured about one page. A page whose extraction raised has an `error` and an F1 of 0."""

    name: str
    url: str | None
    kind: str
    """The kind in the reference."""
    words: WordScore | None
    """`None` when the reference has no text; the same for the similarity."""
    similarity: float | None
    title_right: bool | None
    """`None` when the reference has no title; the same for author and date."""
    author_right: bool | None
    date_right: bool | None
    with_hits: int
    with_total: int
    without_hits: int
    """Unwanted snippets that were found."""
    without_total: int
    links: Overlap | None = None
    """`None` when the reference lists no links; the same for images and videos."""
    images: Overlap | None = None
    videos: Overlap | None = None
    structure: Structure = Structure()
    missing: tuple[str, ...] = ()
    """Frontmatter fields that the result lacks although the source has them."""
    ms: float = 0.0
    """CPU time of the extractor."""
    found_kind: str = ""
    strategy: str = ""
    level: str = ""
    error: str = ""
    """Type of the error that was raised, or empty."""
    gold: str = field(default="", repr=False)
    result: str = field(default="", repr=False)

    @property
    def rank(self) -> float:
        """Word F1, or without a reference text the share of the snippets and fields that are right."""
        if self.words is not None:
            return self.words.f1
        fields = [right for right in (self.title_right, self.author_right, self.date_right) if right is not None]
        right = self.with_hits + self.without_total - self.without_hits + sum(fields)
        return right / (self.with_total + self.without_total + len(fields) or 1)


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over the pages of one kind; `None` when no page has a reference for the number."""

    kind: str
    pages: int
    ok: int
    errors: int
    precision: float | None
    recall: float | None
    f1: float | None
    similarity: float | None
    std_similarity: float | None
    title_accuracy: float | None
    author_accuracy: float | None
    date_accuracy: float | None
    complete: float
    """Share of the pages whose frontmatter has every field the source has."""
    kind_accuracy: float
    with_share: float | None
    """Share of the wanted snippets that were found."""
    without_share: float | None
    """Share of the unwanted snippets that were not found."""
    snippet_precision: float | None
    """Share of wanted snippets among all that were found."""
    snippet_f1: float | None
    """F1 of that precision and of `with_share` as the recall."""
    ms: float
    """Mean CPU milliseconds per page."""
    structure: Structure
    """Totals over the pages."""
    structure_per_page: Mapping[str, tuple[float, float]] = field(default_factory=lambda: MappingProxyType({}))
    """Mean and standard deviation of each count over the pages."""


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The result of `run`."""

    corpus: str
    pages: tuple[PageScore, ...]
    """In name order."""
    summary: Mapping[str, Summary] = field(default_factory=lambda: MappingProxyType({}))
    """`all` first, then each kind in the corpus, in the order of `model.KINDS`."""

    def worst(self, count: int) -> list[PageScore]:
        """Return the pages with the lowest rank, worst first."""
        return sorted(self.pages, key=lambda page: (page.rank, page.name))[:count]


def make_report(corpus: str, pages: Iterable[PageScore]) -> EvaluationReport:
    """Return the report of these pages."""
    scores = tuple(sorted(pages, key=lambda page: page.name))
    groups = {"all": scores} | {kind: tuple(page for page in scores if page.kind == kind) for kind in KINDS}
    summary = {kind: summarise_pages(kind, group) for kind, group in groups.items() if group}
    return EvaluationReport(corpus, scores, MappingProxyType(summary))


def summarise_pages(kind: str, pages: Sequence[PageScore]) -> Summary:
    """Return the means over one or more pages."""
    errors = sum(bool(page.error) for page in pages)
    words = [page.words for page in pages if page.words is not None]
    similarities = [page.similarity for page in pages if page.similarity is not None]
    with_hits, without_hits = sum(page.with_hits for page in pages), sum(page.without_hits for page in pages)
    with_share = _ratio(with_hits, sum(page.with_total for page in pages))
    snippet_precision = None if with_share is None else _ratio(with_hits, with_hits + without_hits) or 0.0
    return Summary(
        kind=kind,
        pages=len(pages),
        ok=len(pages) - errors,
        errors=errors,
        precision=_mean([score.precision for score in words]),
        recall=_mean([score.recall for score in words]),
        f1=_mean([score.f1 for score in words]),
        similarity=_mean(similarities),
        std_similarity=pstdev(similarities) if similarities else None,
        title_accuracy=_share_true(page.title_right for page in pages),
        author_accuracy=_share_true(page.author_right for page in pages),
        date_accuracy=_share_true(page.date_right for page in pages),
        complete=fmean(not page.missing and not page.error for page in pages),
        kind_accuracy=fmean(page.found_kind == page.kind for page in pages),
        with_share=with_share,
        without_share=_ratio(
            sum(page.without_total - page.without_hits for page in pages), sum(page.without_total for page in pages)
        ),
        snippet_precision=snippet_precision,
        snippet_f1=_harmonic_mean(snippet_precision, with_share),
        ms=fmean(page.ms for page in pages),
        structure=_sum_structures(page.structure for page in pages),
        structure_per_page=_spread_structures([page.structure for page in pages]),
    )


def _share_true(answers: Iterable[bool | None]) -> float | None:
    known = [answer for answer in answers if answer is not None]
    return fmean(known) if known else None


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _harmonic_mean(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return None
    return 2 * first * second / (first + second) if first and second else 0.0


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _sum_structures(structures: Iterable[Structure]) -> Structure:
    listed = list(structures)
    return Structure(**{name: sum(getattr(item, name) for item in listed) for name in Structure.__dataclass_fields__})


def _spread_structures(structures: Sequence[Structure]) -> Mapping[str, tuple[float, float]]:
    """Return the mean and the standard deviation of each count."""
    counts = {name: [getattr(item, name) for item in structures] for name in Structure.__dataclass_fields__}
    return MappingProxyType({name: (fmean(values), pstdev(values)) for name, values in counts.items()})


_COLUMNS: tuple[tuple[str, Callable[[Summary], object]], ...] = (
    ("kind", lambda row: row.kind),
    ("pages", lambda row: row.pages),
    ("precision", lambda row: row.precision),
    ("recall", lambda row: row.recall),
    ("F1", lambda row: row.f1),
    ("similarity", lambda row: row.similarity),
    ("title", lambda row: row.title_accuracy),
    ("author", lambda row: row.author_accuracy),
    ("date", lambda row: row.date_accuracy),
    ("complete", lambda row: row.complete),
    ("kind right", lambda row: row.kind_accuracy),
    ("with", lambda row: row.with_share),
    ("without", lambda row: row.without_share),
    ("snippet P", lambda row: row.snippet_precision),
    ("snippet F1", lambda row: row.snippet_f1),
    ("errors", lambda row: row.errors),
    ("ms", lambda row: f"{row.ms:.1f}"),
)


def format_table(report: EvaluationReport) -> list[list[str]]:
    """Return the summary as rows of strings, the header first."""
    rows = [[format_cell(value(row)) for _, value in _COLUMNS] for row in report.summary.values()]
    return [[name for name, _ in _COLUMNS], *rows]


def format_cell(value: object) -> str:
    """Return a number with three decimals, or a dash for `None`."""
    return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")


def count_snippets(snippets: Iterable[str], text: str) -> int:
    """Return how many of the snippets are in the text, letter by letter."""
    return sum(snippet in text for snippet in snippets)


def same_title(found: str | None, gold: str) -> bool:
    """Return whether two titles have the same words."""
    return normalise_tokens(found or "") == normalise_tokens(gold)


def same_author(found: str | None, gold: str) -> bool:
    """Return whether two bylines have the same words, or one contains the other."""
    ours, theirs = " ".join(normalise_tokens(found or "")), " ".join(normalise_tokens(gold))
    return bool(ours) and (ours in theirs or theirs in ours)


def same_date(found: str | None, gold: str) -> bool:
    """Return whether two ISO dates agree to the day, or to the month or year when the reference has no more."""
    date, reference = _DATE.match(found or ""), _DATE.match(gold)
    return bool(date and reference and date.group().startswith(reference.group()))

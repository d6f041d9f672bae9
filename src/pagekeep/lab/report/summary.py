"""The values a run gives: one score a page, one summary a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, pstdev
from types import MappingProxyType

from pagekeep.lab.metrics import Overlap, WordScore
from pagekeep.model import KINDS


@dataclass(frozen=True, slots=True)
class Structure:
    """How many of each thing the clean HTML holds."""

    paragraphs: int = 0
    lists: int = 0
    quotes: int = 0
    code: int = 0
    tables: int = 0
    captions: int = 0


@dataclass(frozen=True, slots=True)
class PageScore:
    """Everything measured about one page. A page that raised has an `error` and an F1 of 0."""

    name: str
    url: str | None
    kind: str
    """As the reference says."""
    words: WordScore
    similarity: float
    title_right: bool | None
    """`None` when the reference names no title; the same for author and date."""
    author_right: bool | None
    date_right: bool | None
    with_hits: int
    with_total: int
    without_hits: int
    """Snippets found that must not be there."""
    without_total: int
    links: Overlap | None = None
    """`None` when the reference lists no links; the same for images and videos."""
    images: Overlap | None = None
    videos: Overlap | None = None
    structure: Structure = Structure()
    missing: tuple[str, ...] = ()
    """Frontmatter fields the result lacks although the source has them."""
    ms: float = 0.0
    """CPU time of the extractor."""
    found_kind: str = ""
    strategy: str = ""
    level: str = ""
    error: str = ""
    """Type of the error it raised, empty when it did not."""
    gold: str = field(default="", repr=False)
    result: str = field(default="", repr=False)

    @property
    def f1(self) -> float:
        """Word F1."""
        return self.words.f1


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over the pages of one kind. `None` where no page has a reference for the number."""

    kind: str
    pages: int
    ok: int
    errors: int
    precision: float
    recall: float
    f1: float
    similarity: float
    std_similarity: float
    title_accuracy: float | None
    author_accuracy: float | None
    date_accuracy: float | None
    complete: float
    """Share of the pages whose frontmatter has every field the source has."""
    kind_accuracy: float
    with_share: float | None
    """Share of the wanted snippets that were found."""
    without_share: float | None
    """Share of the unwanted snippets that stayed out."""
    ms: float
    """Mean CPU milliseconds a page."""
    structure: Structure
    """Totals over the pages."""


@dataclass(frozen=True, slots=True)
class Report:
    """What `run` measured."""

    corpus: str
    pages: tuple[PageScore, ...]
    """In name order."""
    summary: Mapping[str, Summary] = field(default_factory=lambda: MappingProxyType({}))
    """`all` first, then each kind the corpus has, in the model's order."""

    def worst(self, count: int) -> list[PageScore]:
        """The pages with the lowest F1, worst first."""
        return sorted(self.pages, key=lambda page: (page.f1, page.name))[:count]


def make_report(corpus: str, pages: Iterable[PageScore]) -> Report:
    """The report over these pages."""
    scores = tuple(sorted(pages, key=lambda page: page.name))
    groups = {"all": scores} | {kind: tuple(page for page in scores if page.kind == kind) for kind in KINDS}
    summary = {kind: summarise(kind, group) for kind, group in groups.items() if group}
    return Report(corpus, scores, MappingProxyType(summary))


def summarise(kind: str, pages: Sequence[PageScore]) -> Summary:
    """Means over at least one page."""
    errors = sum(bool(page.error) for page in pages)
    similarities = [page.similarity for page in pages]
    return Summary(
        kind=kind,
        pages=len(pages),
        ok=len(pages) - errors,
        errors=errors,
        precision=fmean(page.words.precision for page in pages),
        recall=fmean(page.words.recall for page in pages),
        f1=fmean(page.words.f1 for page in pages),
        similarity=fmean(similarities),
        std_similarity=pstdev(similarities),
        title_accuracy=_share(page.title_right for page in pages),
        author_accuracy=_share(page.author_right for page in pages),
        date_accuracy=_share(page.date_right for page in pages),
        complete=fmean(not page.missing and not page.error for page in pages),
        kind_accuracy=fmean(page.found_kind == page.kind for page in pages),
        with_share=_ratio(sum(page.with_hits for page in pages), sum(page.with_total for page in pages)),
        without_share=_ratio(
            sum(page.without_total - page.without_hits for page in pages), sum(page.without_total for page in pages)
        ),
        ms=fmean(page.ms for page in pages),
        structure=_total(page.structure for page in pages),
    )


def _share(answers: Iterable[bool | None]) -> float | None:
    known = [answer for answer in answers if answer is not None]
    return fmean(known) if known else None


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _total(structures: Iterable[Structure]) -> Structure:
    every = list(structures)
    return Structure(**{name: sum(getattr(one, name) for one in every) for name in Structure.__dataclass_fields__})


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
    ("errors", lambda row: row.errors),
    ("ms", lambda row: f"{row.ms:.1f}"),
)


def render_table(report: Report) -> list[list[str]]:
    """The summary as rows of strings, the header first, for a door to align."""
    rows = [[cell(value(row)) for _, value in _COLUMNS] for row in report.summary.values()]
    return [[name for name, _ in _COLUMNS], *rows]


def cell(value: object) -> str:
    """A number as people read it: three decimals, a dash for what is not known."""
    return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)

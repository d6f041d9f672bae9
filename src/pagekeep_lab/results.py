"""The result of an extractor for a page, in one form for all extractors, and two of them compared in numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from statistics import fmean

from pagekeep import dom, extras
from pagekeep.model import Page
from pagekeep.text import Overlap, WordScore, overlap, score_words, similarity, token_similarity
from pagekeep_lab.corpus import block_text, is_video
from pagekeep_lab.evaluate import count_structure
from pagekeep_lab.scores import Structure

_NO_STRUCTURE = Structure()


@dataclass(frozen=True, slots=True)
class ExtractorResult:
    """The parts of an extractor's result that are compared."""

    text: str = field(default="", repr=False)
    title: str = ""
    links: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    structure: Structure = _NO_STRUCTURE
    error: str = ""
    """Type of the error that was raised, or empty."""
    ms: float = 0.0


def result_from_page(page: Page) -> ExtractorResult:
    """Return the result for a page of this version of Pagekeep."""
    media = [(item.kind, item.url) for item in page.media]
    return result_from_parts(page.text, page.html, page.metadata.title or "", (link.url for link in page.links), media)


def result_from_parts(
    text: str, html: str, title: str, links: Iterable[str], media: Iterable[tuple[str, str]]
) -> ExtractorResult:
    """Return the result for the parts of a page, from this version of Pagekeep or another."""
    items = list(media)
    return ExtractorResult(
        text=text,
        title=title,
        links=tuple(links),
        images=tuple(url for kind, url in items if kind == "image"),
        videos=tuple(url for kind, url in items if kind == "video"),
        structure=count_structure(html),
    )


def result_from_html(html: str, title: str = "") -> ExtractorResult:
    """Return the result for extracted HTML."""
    root = dom.parse_fragment(html)
    links = _attribute_values(root, "a[href]", "href")
    players = _attribute_values(root, "iframe[src], embed[src], video[src], source[src]", "src")
    return ExtractorResult(
        text=block_text(root),
        title=title,
        links=tuple(url for url in links if not is_video(url)),
        images=_attribute_values(root, "img[src]", "src"),
        videos=tuple(url for url in (*players, *links) if is_video(url)),
        structure=count_structure(html),
    )


def result_from_markdown(markdown: str, title: str = "") -> ExtractorResult:
    """Return the result for extracted Markdown; raise `PagekeepError` when no renderer is installed."""
    extras.require("evaluate", "Comparing with Markdown")
    from pagekeep_lab.markdown_cases import render_tree

    root = render_tree(markdown)
    for back in dom.select(root, "a.footnote-backref, sup.footnote-ref"):
        dom.drop(back)
    result = result_from_html(dom.inner_html(root), title)
    # The link of a picture to itself does not count as a link.
    return replace(result, links=tuple(url for url in result.links if url not in result.images))


def _attribute_values(root: dom.Element, css: str, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(element.attr(name) or "") for element in dom.select(root, css)))


PARTS = ("links", "images", "videos")


@dataclass(frozen=True, slots=True)
class Pair:
    """The two results for a page, compared."""

    name: str
    url: str | None
    kind: str
    """The kind in the corpus, or empty."""
    a: ExtractorResult
    b: ExtractorResult
    similarity: float
    """Similarity of the normalised texts: case, quotes and spacing do not count."""
    similarity_exact: float
    """Similarity of the texts as they are."""
    words: WordScore
    links: Overlap
    images: Overlap
    videos: Overlap
    f1_a: float | None = None
    """Against the corpus's reference, if it has one."""
    f1_b: float | None = None

    @property
    def error(self) -> str:
        """Which extractor failed and how, or empty."""
        results = (("a", self.a), ("b", self.b))
        return ", ".join(f"{name}: {result.error}" for name, result in results if result.error)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The results of two extractors on a corpus."""

    corpus: str
    a: str
    b: str
    """The names of the extractors."""
    pairs: tuple[Pair, ...]
    """In name order."""

    @property
    def both(self) -> list[Pair]:
        """The pages that both could extract."""
        return [pair for pair in self.pairs if not pair.error]

    def worst(self, count: int) -> list[Pair]:
        """Return the least similar pages, worst first."""
        return sorted(self.pairs, key=lambda pair: (pair.similarity, pair.name))[:count]


def compare_results(
    name: str, url: str | None, a: ExtractorResult, b: ExtractorResult, *, kind: str = "", reference: str | None = None
) -> Pair:
    """Compare two results with each other and, if there is one, with a reference text."""
    return Pair(
        name=name,
        url=url,
        kind=kind,
        a=a,
        b=b,
        similarity=0.0 if a.error or b.error else similarity(b.text, a.text),
        similarity_exact=0.0 if a.error or b.error else token_similarity(b.text.split(), a.text.split()),
        words=score_words(b.text, a.text),
        links=overlap(b.links, a.links),
        images=overlap(b.images, a.images),
        videos=overlap(b.videos, a.videos),
        f1_a=score_words(a.text, reference).f1 if reference else None,
        f1_b=score_words(b.text, reference).f1 if reference else None,
    )


def compare_markdown(url: str, a: tuple[str, str | None], b: tuple[str, str | None]) -> Pair:
    """Compare two Markdown texts of a page; each comes with an error when there is none."""
    readings = [ExtractorResult(error=error) if error else result_from_markdown(text) for text, error in (a, b)]
    return compare_results(url, url, *readings)


def mean_structure(results: Iterable[ExtractorResult], part: str) -> float:
    """Return how many blocks of a type a page has on average."""
    counts = [getattr(result.structure, part) for result in results]
    return fmean(counts) if counts else 0.0


STRUCTURE = tuple(Structure.__dataclass_fields__)

"""Compare two results for a page in numbers. The first is the reference: "missing" is what the second lacks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from pagekeep.lab.compare.results import ExtractorResult, result_from_markdown
from pagekeep.lab.scores import Structure
from pagekeep.text import Overlap, WordScore, overlap, score_words, similarity, token_similarity

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

"""Two readings of a page side by side, in numbers. The first is the reference: missing is what the second lacks of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from pagekeep.lab.compare.results import Reading, of_markdown
from pagekeep.lab.report.summary import Structure
from pagekeep.text import Overlap, WordScore, agreement, overlap, score_words, similarity

PARTS = ("links", "images", "videos")


@dataclass(frozen=True, slots=True)
class Pair:
    """A page as both have it."""

    name: str
    url: str | None
    kind: str
    """As the corpus says, empty when it does not."""
    a: Reading
    b: Reading
    similarity: float
    """Of the canonical texts: forms, case, quotes and spacing do not count."""
    similarity_exact: float
    """Of the texts as they are."""
    words: WordScore
    links: Overlap
    images: Overlap
    videos: Overlap
    f1_a: float | None = None
    """Against the corpus's own reference, where it has one."""
    f1_b: float | None = None

    @property
    def error(self) -> str:
        """Who failed and how, empty when nobody did."""
        said = (f"{who}: {reading.error}" for who, reading in (("a", self.a), ("b", self.b)) if reading.error)
        return ", ".join(said)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that was measured."""

    corpus: str
    a: str
    b: str
    """Names of the two."""
    pairs: tuple[Pair, ...]
    """In order of name."""

    @property
    def both(self) -> list[Pair]:
        """Pages that both could read."""
        return [pair for pair in self.pairs if not pair.error]

    def worst(self, count: int) -> list[Pair]:
        """The least alike, worst first."""
        return sorted(self.pairs, key=lambda pair: (pair.similarity, pair.name))[:count]


def pair(name: str, url: str | None, a: Reading, b: Reading, *, kind: str = "", reference: str | None = None) -> Pair:
    """The two readings measured against each other and, where there is one, against a reference text."""
    return Pair(
        name=name,
        url=url,
        kind=kind,
        a=a,
        b=b,
        similarity=0.0 if a.error or b.error else similarity(b.text, a.text),
        similarity_exact=0.0 if a.error or b.error else agreement(b.text.split(), a.text.split()),
        words=score_words(b.text, a.text),
        links=overlap(b.links, a.links),
        images=overlap(b.images, a.images),
        videos=overlap(b.videos, a.videos),
        f1_a=score_words(a.text, reference).f1 if reference else None,
        f1_b=score_words(b.text, reference).f1 if reference else None,
    )


def pair_of_markdown(url: str, a: tuple[str, str | None], b: tuple[str, str | None]) -> Pair:
    """Two Markdown texts of a page, each with the reason when there is none."""
    readings = [Reading(error=error) if error else of_markdown(text) for text, error in (a, b)]
    return pair(url, url, *readings)


def structure_mean(readings: Iterable[Reading], part: str) -> float:
    """How many of a thing a page holds on average."""
    counts = [getattr(reading.structure, part) for reading in readings]
    return fmean(counts) if counts else 0.0


STRUCTURE = tuple(Structure.__dataclass_fields__)

"""Group pages that differ in the same way, to show what to look at first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from pagekeep.lab.compare.pairs import Pair


@dataclass(frozen=True, slots=True)
class Cluster:
    """Pages that differ in the same way."""

    name: str
    pairs: tuple[Pair, ...]
    """The least similar first."""

    @property
    def similarity(self) -> float:
        return fmean(pair.similarity for pair in self.pairs)

    @property
    def kinds(self) -> str:
        """The kinds of page in the cluster, the most frequent first."""
        counts: dict[str, int] = {}
        for pair in self.pairs:
            counts[pair.kind or "any"] = counts.get(pair.kind or "any", 0) + 1
        return ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])))


_MIN_ALIKE: Final = 0.95
_CLUSTERS: Final[tuple[tuple[str, Callable[[Pair], bool]], ...]] = (
    ("B failed", lambda pair: bool(pair.b.error)),
    ("A failed", lambda pair: bool(pair.a.error)),
    ("B found nothing", lambda pair: bool(pair.a.text.strip()) and not pair.b.text.strip()),
    ("A found nothing", lambda pair: bool(pair.b.text.strip()) and not pair.a.text.strip()),
    ("mostly different text", lambda pair: max(pair.words.recall, pair.words.precision) < 0.5),
    ("B lacks more than half", lambda pair: pair.words.recall < 0.5),
    ("B has more than twice as much", lambda pair: pair.words.precision < 0.5),
    ("B lacks text", lambda pair: pair.words.recall < 0.9 and pair.words.recall <= pair.words.precision),
    ("B has more text", lambda pair: pair.words.precision < 0.9),
    ("code lost in B", lambda pair: pair.a.structure.code > pair.b.structure.code),
    ("tables lost in B", lambda pair: pair.a.structure.tables > pair.b.structure.tables),
    ("lists lost in B", lambda pair: pair.a.structure.lists > pair.b.structure.lists),
    ("images lost in B", lambda pair: pair.images.missing > 0),
    ("videos lost in B", lambda pair: pair.videos.missing > 0),
    ("captions lost in B", lambda pair: pair.a.structure.captions > pair.b.structure.captions),
    ("quotes lost in B", lambda pair: pair.a.structure.quotes > pair.b.structure.quotes),
    ("many links lost in B", lambda pair: pair.links.coverage is not None and pair.links.coverage < 0.8),
    ("small differences", lambda pair: pair.similarity < _MIN_ALIKE),
)
"""A page belongs to the first cluster that fits: the gravest difference comes first."""


def find_clusters(pairs: Sequence[Pair]) -> list[Cluster]:
    """Return the pages that differ in clusters, the largest first; pages that are alike are in none."""
    groups: dict[str, list[Pair]] = {}
    for pair in sorted(pairs, key=lambda pair: (pair.similarity, pair.name)):
        name = next((name for name, fits in _CLUSTERS if fits(pair)), None)
        if name is not None:
            groups.setdefault(name, []).append(pair)
    clusters = [Cluster(name, tuple(group)) for name, group in groups.items()]
    return sorted(clusters, key=lambda cluster: (-len(cluster.pairs), cluster.name))

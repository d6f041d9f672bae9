"""The forest: decision trees of whole numbers, read from a data file and walked here, with the reasons they give.

How it was trained, and on what, is in the module `forest_data` itself; `pagekeep_lab.judge` writes it. It is Python, so that
this room needs no file and loads it as fast as its own code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from pagekeep.extraction.locate.exclusions import Reason
from pagekeep.extraction.prune.judge import forest_data
from pagekeep.extraction.prune.judge.features import NAMES, Lexicon

_FIRST_TREES: Final = 20
"""Trees after which a block that is surely content needs no others; they also explain what spoke against a block."""
_SURE_SCORE: Final = 1_000
"""Score after the first trees over which the others hardly ever change the verdict."""


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees as parallel lists. A place below zero is a leaf: its value is at the place's complement."""

    roots: list[int]
    feature: list[int]
    threshold: list[int]
    """A row goes left when its feature is not over this."""
    left: list[int]
    right: list[int]
    mean: list[int]
    """Mean value of the leaves below each node, for explanations."""
    leaf: list[int]
    """Thousandths of the logarithm of the odds, like all values."""
    lexicon: Lexicon

    def score(self, row: Sequence[int]) -> int:
        """Return how much speaks for a block being content: under zero more speaks against it."""
        feature, threshold, left, right, leaf = self.feature, self.threshold, self.left, self.right, self.leaf
        total = 0
        for trees in (self.roots[:_FIRST_TREES], self.roots[_FIRST_TREES:]):
            for node in trees:
                while node >= 0:
                    node = left[node] if row[feature[node]] <= threshold[node] else right[node]
                total += leaf[~node]
            if total > _SURE_SCORE:
                break
        return total

    def contributions(self, row: Sequence[int]) -> dict[int, int]:
        """Return how much each feature changed the score, summed over the ways through the first trees."""
        features, threshold, left, right, means = self.feature, self.threshold, self.left, self.right, self.mean
        changes: dict[int, int] = {}
        for node in self.roots[:_FIRST_TREES]:
            while node >= 0:
                feature, mean = features[node], means[node]
                node = left[node] if row[feature] <= threshold[node] else right[node]
                value = means[node] if node >= 0 else self.leaf[~node]
                changes[feature] = changes.get(feature, 0) + value - mean
        return changes


@cache
def shipped() -> Forest:
    """Return the forest that comes with the package."""
    return read_forest(forest_data.FEATURES, forest_data.NAMES, forest_data.WORDS, forest_data.TREES)


def read_forest(features: str, names: str, words: str, trees: Iterable[str]) -> Forest:
    """Return the forest in the texts of a data file. Raises `ValueError` for one made for other features.

    `names` and `words` are words with their odds, `word:odds`; a tree is its nodes in the order a walk meets them, left side
    first: `feature:threshold:mean`, and a leaf is its value.
    """
    if tuple(features.split()) != NAMES:
        raise ValueError("the judge's data was made for other features: train it again with `make judge`")
    forest = Forest([], [], [], [], [], [], [], Lexicon(_read_odds(names), _read_odds(words)))
    forest.roots.extend(_add(forest, iter(tree.split())) for tree in trees)
    return forest


def _read_odds(text: str) -> dict[str, int]:
    pairs = (entry.split(":") for entry in text.split())
    return {word: int(odds) for word, odds in pairs}


def _add(forest: Forest, nodes: Iterator[str]) -> int:
    """Add the tree that begins with the next node, and return its place."""
    node = next(nodes)
    if ":" not in node:
        forest.leaf.append(int(node))
        return ~(len(forest.leaf) - 1)
    place = len(forest.feature)
    feature, threshold, mean = map(int, node.split(":"))
    forest.feature.append(feature)
    forest.threshold.append(threshold)
    forest.mean.append(mean)
    forest.left.append(0)
    forest.right.append(0)
    forest.left[place] = _add(forest, nodes)
    forest.right[place] = _add(forest, nodes)
    return place


_GROUPS: Final = {
    Reason.NAMED_UNLIKE_TEXT: "names_min names_max names_mean own_names_min parent_names_min parent_names_max accused",
    Reason.WORDED_UNLIKE_TEXT: "words_mean heading_words",
    Reason.MOSTLY_LINKS: "linked parent_linked outer_linked alike_linked box_linked inline",
    Reason.ONE_OF_MANY: "alike alike_chars",
    Reason.APART_FROM_TEXT: "share_of_parent prose_in_owner prose_in_parent prose_in_outer box_chars",
    Reason.BEFORE_OR_AFTER_TEXT: "prose_before since_prose until_prose since_title since_heading heading_level",
    Reason.OTHER_SUBJECT: "shared title_shared",
    Reason.NO_SENTENCE: "tag parent_tag outer_tag within chars commas closes capitals",
}
_BY_NAME: Final = {name: reason for reason, names in _GROUPS.items() for name in names.split()}
_BY_FEATURE: Final = tuple(_BY_NAME.get(name, Reason.AMONG_OTHERS_LIKE_IT) for name in NAMES)


_KEPT: Final = {
    Reason.NAMED_UNLIKE_TEXT: "named like a text",
    Reason.WORDED_UNLIKE_TEXT: "worded like the text",
    Reason.MOSTLY_LINKS: "few links",
    Reason.ONE_OF_MANY: "like the paragraphs of the text",
    Reason.APART_FROM_TEXT: "together with the text",
    Reason.BEFORE_OR_AFTER_TEXT: "within the text",
    Reason.OTHER_SUBJECT: "about the same subject",
    Reason.NO_SENTENCE: "written like the text",
    Reason.AMONG_OTHERS_LIKE_IT: "judged by what is beside it",
}


def explain_removal(contributions: Mapping[int, int]) -> Reason:
    """Return what most speaks against a block, from how much each feature changed its score."""
    sums = _sum_by_reason(contributions)
    return min(sums, key=lambda reason: (sums[reason], reason), default=Reason.AMONG_OTHERS_LIKE_IT)


def explain_keeping(contributions: Mapping[int, int]) -> str:
    """Return what most speaks for a block, in words."""
    sums = _sum_by_reason(contributions)
    return _KEPT[max(sums, key=lambda reason: (sums[reason], reason), default=Reason.AMONG_OTHERS_LIKE_IT)]


def _sum_by_reason(contributions: Mapping[int, int]) -> dict[Reason, int]:
    sums: dict[Reason, int] = {}
    for feature, change in contributions.items():
        reason = _BY_FEATURE[feature]
        sums[reason] = sums.get(reason, 0) + change
    return sums

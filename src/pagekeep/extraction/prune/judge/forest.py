"""The forest: decision trees of whole numbers, read from a data file and walked here.

How it was trained, and on what, is in the file itself; `pagekeep.lab.judge` makes it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from pagekeep.extraction.prune.judge.features import NAMES, Lexicon

DATA_FILE: Final = "forest.json"
FORMAT: Final = 1
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
    base: int
    """Value of a row before any tree. All values are thousandths of the logarithm of the odds."""
    lexicon: Lexicon

    def score(self, row: Sequence[int]) -> int:
        """Return how much speaks for a block being content: under zero more speaks against it."""
        feature, threshold, left, right, leaf = self.feature, self.threshold, self.left, self.right, self.leaf
        total = self.base
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
        changes: dict[int, int] = {}
        for node in self.roots[:_FIRST_TREES]:
            while node >= 0:
                following = self.left[node] if row[self.feature[node]] <= self.threshold[node] else self.right[node]
                value = self.mean[following] if following >= 0 else self.leaf[~following]
                changes[self.feature[node]] = changes.get(self.feature[node], 0) + value - self.mean[node]
                node = following
        return changes


@cache
def shipped() -> Forest:
    """Return the forest that comes with the package."""
    return read(json.loads((files(__package__) / DATA_FILE).read_text("utf-8")))


def read(data: dict[str, Any]) -> Forest:
    """Return the forest in the content of a data file. Raises `ValueError` for one made for other features."""
    if data["format"] != FORMAT or tuple(data["features"]) != NAMES:
        raise ValueError("the judge's data file was made for other features: train it again with pagekeep.lab.judge")
    forest = Forest([], [], [], [], [], [], [], data["base"], Lexicon(data["names"], data["words"]))
    forest.roots.extend(_add(forest, tree) for tree in data["trees"])
    return forest


def _add(forest: Forest, tree: Any) -> int:
    """Add a tree, `[feature, threshold, mean, left, right]` or the value of a leaf, and return its place."""
    if isinstance(tree, int):
        forest.leaf.append(tree)
        return ~(len(forest.leaf) - 1)
    feature, threshold, mean, left, right = tree
    place = len(forest.feature)
    forest.feature.append(feature)
    forest.threshold.append(threshold)
    forest.mean.append(mean)
    forest.left.append(0)
    forest.right.append(0)
    forest.left[place] = _add(forest, left)
    forest.right[place] = _add(forest, right)
    return place

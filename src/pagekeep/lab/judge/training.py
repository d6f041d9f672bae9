"""Training: from labelled pages to a lexicon and a forest."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pagekeep.extraction.prune.judge.features import NAMES, Features, Lexicon
from pagekeep.extraction.prune.judge.words import short_words
from pagekeep.lab.judge.examples import Example, split_by_site

_LEXICON_PARTS: Final = 6
"""Parts of the training pages: the odds of words that a page is trained with come from the other parts."""
_MIN_PAGES: Final = 5
"""Pages that must have a word, so that it does not belong to one site."""
_LEVELS: Final = 6
_SMOOTHING: Final = 2.0
_SNIPPET_WEIGHT: Final = 2.0
"""Weight of a block that a snippet labels: people chose it because it is hard."""
_MAX_WORDS: Final = 60
"""Words from which on a longer block has no more weight."""
TREES: Final = 60
_PARAMETERS: Final[dict[str, Any]] = {
    "objective": "binary",
    "num_leaves": 31,
    "learning_rate": 0.2,
    "min_data_in_leaf": 60,
    "lambda_l2": 5,
    "feature_fraction": 0.6,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "max_bin": 63,
    "use_missing": False,
    "seed": 1,
    "deterministic": True,
    "num_threads": 1,
    "verbose": -1,
}

Pair = list[float]
"""Pages whose blocks with a word are not content, and are."""


class Trained(NamedTuple):
    """What `forest.read` takes."""

    features: str
    names: str
    words: str
    trees: list[str]


def train(examples: Sequence[Example]) -> Trained:
    """Train a forest on the labelled pages."""
    import lightgbm
    import numpy

    rows: list[list[int]] = []
    labels: list[bool] = []
    weights: list[float] = []
    for part, others in split_by_site(examples, _LEXICON_PARTS):
        lexicon = weigh_words(others)
        for example in part:
            for row, label, weight in _iterate_rows(example, lexicon):
                rows.append(row)
                labels.append(label)
                weights.append(weight)
    data = lightgbm.Dataset(numpy.array(rows, dtype=numpy.int32), numpy.array(labels), weight=numpy.array(weights))
    trees = lightgbm.train(_PARAMETERS, data, TREES).dump_model()["tree_info"]
    lexicon = weigh_words(examples)
    return Trained(
        " ".join(NAMES),
        _write_odds(lexicon.names),
        _write_odds(lexicon.words),
        [" ".join(_write_tree(tree["tree_structure"])[0]) for tree in trees],
    )


def _write_odds(odds: Mapping[str, int]) -> str:
    return " ".join(f"{word}:{value}" for word, value in sorted(odds.items()))


def _iterate_rows(example: Example, lexicon: Lexicon) -> Iterator[tuple[list[int], bool, float]]:
    features = Features(example.view(), lexicon)
    for index, label in enumerate(example.labels):
        if label is not None:
            words = min(max(len(example.blocks.text[index].split()), 2), _MAX_WORDS)
            yield features.row(index), label, math.sqrt(words) * (_SNIPPET_WEIGHT if example.by_snippets else 1)


def weigh_words(examples: Iterable[Example]) -> Lexicon:
    """Return the odds of words in names and in short blocks; each page counts once for a word."""
    names: dict[str, Pair] = defaultdict(lambda: [0.0, 0.0])
    words: dict[str, Pair] = defaultdict(lambda: [0.0, 0.0])
    for example in examples:
        page_names: dict[str, Pair] = defaultdict(lambda: [0.0, 0.0])
        page_words: dict[str, Pair] = defaultdict(lambda: [0.0, 0.0])
        for index, label in enumerate(example.labels):
            if label is None:
                continue
            for word in _find_names(example, example.blocks.owner[index]):
                page_names[word][label] += 1
            for word in set(short_words(example.blocks.text[index])):
                page_words[word][label] += 1
        for page, total in ((page_names, names), (page_words, words)):
            for word, (bad, good) in page.items():
                total[word][0] += bad / (bad + good)
                total[word][1] += good / (bad + good)
    return Lexicon(_find_odds(names), _find_odds(words))


def _find_names(example: Example, element: int) -> set[str]:
    """Return the words in the names of an element and those around it."""
    found: set[str] = set()
    for _ in range(_LEVELS):
        if not element:
            break
        found.update(example.names[element])
        element = example.parent[element]
    return found


def _find_odds(pairs: Mapping[str, Pair]) -> dict[str, int]:
    """Return how far the odds of each word are from those of all, in hundredths of their logarithm."""
    bad, good = (sum(pair[side] for pair in pairs.values()) for side in (0, 1))
    share = good / ((bad + good) or 1)
    if not 0 < share < 1:
        return {}
    base = math.log(share / (1 - share))
    return {
        word: round(100 * (math.log((pair[1] + _SMOOTHING * share) / (pair[0] + _SMOOTHING * (1 - share))) - base))
        for word, pair in pairs.items()
        if sum(pair) >= _MIN_PAGES - 1e-9
    }


def _write_tree(node: Mapping[str, Any]) -> tuple[list[str], int, int]:
    """Return the nodes of a tree as `forest.read` takes them, with the sum of its values over all rows and their number."""
    if "leaf_value" in node:
        value, count = round(1000 * node["leaf_value"]), int(node.get("leaf_count", 1))
        return [str(value)], value * count, count
    left, left_sum, left_count = _write_tree(node["left_child"])
    right, right_sum, right_count = _write_tree(node["right_child"])
    total, count = left_sum + right_sum, left_count + right_count
    # Features are whole numbers: a value is not over the threshold when it is not over its whole part.
    here = f"{node['split_feature']}:{math.floor(node['threshold'])}:{total // (count or 1)}"
    return [here, *left, *right], total, count

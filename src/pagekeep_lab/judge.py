"""Train the judge of `extraction.prune.judge` on labelled pages, and measure it on pages it was not trained with.

    python -m pagekeep_lab.judge CORPUS... [--out FILE] [--measure CORPUS...]

`make judge` runs it on all corpora and writes the data file that is shipped. The result depends only on the pages and on the
versions of the libraries (the extra `train`): the same pages give the same file."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import compress
from multiprocessing import get_context
from operator import not_
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

from pagekeep.errors import NotFound, PagekeepError
from pagekeep.extraction.prune import judge
from pagekeep.extraction.prune.judge import forest_data
from pagekeep.extraction.prune.judge.features import NAMES, Blocks, Features, Lexicon, View, short_words
from pagekeep.extraction.state import State
from pagekeep.extraction.steps import run_steps
from pagekeep.model import Options
from pagekeep.pipeline import STEPS
from pagekeep.rules import shipped
from pagekeep_lab import corpus as corpora

SHIPPED = Path(forest_data.__file__)


def main(arguments: list[str] | None = None) -> int:
    """Train on the corpora and write the data file."""
    parser = argparse.ArgumentParser(prog="python -m pagekeep_lab.judge", description="Train the judge of articles.")
    parser.add_argument(
        "corpus", nargs="+", type=Path, help="folders with pages and references, as `evaluate` reads them"
    )
    parser.add_argument(
        "--out", type=Path, default=SHIPPED, help="the module to write; by default the one that is shipped"
    )
    parser.add_argument(
        "--sites", choices=("all", "even", "odd"), default="all", help="train only on this half of the sites"
    )
    options = parser.parse_args(arguments)
    examples = take_sites(read_examples(options.corpus), options.sites)
    if not examples:
        raise NotFound(
            "There are no labelled articles in these corpora.", suggestions=("Name the folders with pages.",)
        )
    options.out.write_text(write(examples, train(examples)), "utf-8")
    print(f"{options.out}: {options.out.stat().st_size:,} bytes from {len(examples)} pages.")
    return 0


def write(examples: list[Example], trained: Trained) -> str:
    """Return the source of the data module, a tree on each line, so that differences can be read."""
    labels = [label for example in examples for label in example.labels if label is not None]
    provenance = {
        "pages": dict(sorted(Counter(example.corpus for example in examples).items())),
        "blocks of content": sum(labels),
        "other blocks": len(labels) - sum(labels),
        "libraries": {name: version(name) for name in ("lightgbm", "numpy", "rapidfuzz")},
    }
    lines = [
        '"""The trained judge. Written by `make judge` (pagekeep_lab.judge); never edited by hand."""',
        "",
        "from typing import Final",
        "",
        f"PROVENANCE: Final = {_quote(json.dumps(provenance, sort_keys=True))}",
        f"FEATURES: Final = {_quote(trained.features)}",
        f"NAMES: Final = {_quote(trained.names)}",
        f"WORDS: Final = {_quote(trained.words)}",
        "TREES: Final = (",
        *(f"    {_quote(tree)}," for tree in trained.trees),
        ")",
    ]
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    return f"'{text}'" if '"' in text else f'"{text}"'


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


_BATCH_PAGES: Final = 8
_LAST_STEP: Final = "locate"


Label = bool | None
"""Whether a block is content; `None` when the reference does not say."""


@dataclass(frozen=True, slots=True)
class Example:
    """One page."""

    corpus: str
    host: str
    """The site's name, by which pages are kept together: those of one site are alike."""
    tag: list[str]
    parent: list[int]
    chars: list[int]
    linked: list[int]
    names: list[tuple[str, ...]]
    blocks: Blocks
    accused: bytes
    title: str
    labels: list[Label]
    by_snippets: bool
    """Whether the reference is a few snippets rather than the whole text."""

    def view(self) -> View:
        """Return the page as the judge sees it."""
        return View(
            self.tag,
            self.parent,
            self.chars,
            self.linked,
            self.names.__getitem__,
            self.blocks,
            self.accused,
            self.title,
        )


def read_examples(folders: Iterable[Path]) -> list[Example]:
    """Return the labelled articles of the corpora, in the order of their names."""
    cases = [case for folder in folders for case in corpora.find_cases(folder)]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        examples = pool.map(_read_example, cases, chunksize=_BATCH_PAGES)
        return [example for example in examples if example is not None]


def _read_example(case: corpora.Case) -> Example | None:
    """Return a page with labels, or `None` for one that is not an article or has no reference for its text."""
    sample = corpora.read_case(case)
    gold = sample.gold
    if sample.kind != "article" or not (gold.text or gold.with_ or gold.without):
        return None
    state = _locate(sample)
    if state is None or state.kind != "article":
        return None
    view = judge.look(state.facts)
    texts = [view.blocks.text[index] for index in range(len(view.blocks))]
    labels = label_by_text(texts, gold.text) if gold.text else label_by_snippets(texts, gold.with_, gold.without)
    names = [view.names(index) for index in range(len(view.tag))]
    return Example(
        case.reference.parent.name if case.reference.suffix == ".json" else case.reference.parent.parent.name,
        _find_site(sample.url or sample.name), list(view.tag), list(view.parent), list(view.chars), list(view.linked), names,
        replace(view.blocks, text=texts), bytes(view.accused), view.title, labels, gold.text is None,
    )  # fmt: skip


def _locate(sample: corpora.Sample) -> State | None:
    """Run the pipeline until the content is found; return `None` for a page that is refused or discarded."""
    names = [step.name for step in STEPS]
    state = State(sample.html, sample.url, shipped(), Options(skip_steps=frozenset({"judge"})))
    try:
        run_steps(STEPS[: names.index(_LAST_STEP) + 1], state, until=lambda state: bool(state.discarded_by))
    except PagekeepError:
        return None
    return None if state.discarded_by else state


def _find_site(address: str) -> str:
    """Return the last two parts of the host, or the address itself when it has none."""
    return ".".join((urlsplit(address).hostname or address).split(".")[-2:])


def split_by_site(examples: Sequence[Example], parts: int) -> Iterator[tuple[list[Example], list[Example]]]:
    """Yield each part, and all the others, such that pages of one site are in the same part."""
    for part in range(parts):
        is_in = [crc32(example.host.encode()) % parts == part for example in examples]
        yield list(compress(examples, is_in)), list(compress(examples, map(not_, is_in)))


def take_sites(examples: Sequence[Example], sites: str) -> list[Example]:
    """Return the examples of all sites, or of the even or odd half of them."""
    if sites == "all":
        return list(examples)
    return next(halves for halves in split_by_site(examples, 2))[0 if sites == "even" else 1]


_WORD: Final = re.compile(r"\w+")
_MAX_CELLS: Final = 3_000_000_000
"""Words of the page times words of the reference, beyond which they are not aligned."""
_MIN_SHARE: Final = 0.5
"""Share of a block's words that the reference must have in this place."""
_MIN_PART_CHARS: Final = 25
"""Characters from which on a block that is only a part of a snippet is labelled by it."""


def label_by_text(texts: Sequence[str], reference: str) -> list[Label]:
    """Label every block with words by the longest common subsequence of the page's words and the reference's."""
    from rapidfuzz.distance import LCSseq

    words = [_WORD.findall(text.lower()) for text in texts]
    numbers: dict[str, int] = {}
    page = [numbers.setdefault(word, len(numbers)) for block in words for word in block]
    gold = [numbers.setdefault(word, len(numbers)) for word in _WORD.findall(reference.lower())]
    if len(page) * len(gold) > _MAX_CELLS:
        return [None] * len(texts)
    is_shared = bytearray(len(page))
    for operation in LCSseq.opcodes(page, gold):
        if operation.tag == "equal":
            size = operation.src_end - operation.src_start
            is_shared[operation.src_start : operation.src_end] = b"\1" * size
    labels: list[Label] = []
    place = 0
    for block in words:
        shared = sum(is_shared[place : place + len(block)])
        labels.append(shared >= _MIN_SHARE * len(block) if block else None)
        place += len(block)
    return labels


def label_by_snippets(texts: Sequence[str], wanted: Sequence[str], unwanted: Sequence[str]) -> list[Label]:
    """Label the blocks that have a snippet, or are a part of one; what must not be there wins."""
    blocks = ["".join(text.split()) for text in texts]
    labels: list[Label] = [None] * len(texts)
    for is_content, snippets in ((True, wanted), (False, unwanted)):
        for snippet in ("".join(snippet.split()) for snippet in snippets):
            for index, block in enumerate(blocks):
                if snippet in block or (len(block) > _MIN_PART_CHARS and block in snippet):
                    labels[index] = is_content
    return labels


if __name__ == "__main__":
    sys.exit(main())

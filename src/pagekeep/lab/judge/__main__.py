"""The command that trains the judge: `python -m pagekeep.lab.judge CORPUS...`."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

from pagekeep.errors import NotFound
from pagekeep.extraction.prune.judge import forest_data
from pagekeep.lab.judge.examples import Example, read_examples, take_sites
from pagekeep.lab.judge.training import Trained, train

SHIPPED = Path(forest_data.__file__)


def main(arguments: list[str] | None = None) -> int:
    """Train on the corpora and write the data file."""
    parser = argparse.ArgumentParser(prog="python -m pagekeep.lab.judge", description="Train the judge of articles.")
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
        '"""The trained judge. Written by `make judge` (pagekeep.lab.judge); never edited by hand."""',
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


if __name__ == "__main__":
    sys.exit(main())

"""The command that trains the judge: `python -m pagekeep.lab.judge CORPUS...`."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from pagekeep.extraction.prune.judge import forest
from pagekeep.lab.judge.examples import Example, read_examples
from pagekeep.lab.judge.training import train


def main(arguments: list[str] | None = None) -> int:
    """Train on the corpora and write the data file."""
    parser = argparse.ArgumentParser(prog="python -m pagekeep.lab.judge", description=__doc__)
    parser.add_argument("corpus", nargs="+", type=Path, help="folders with pages and references, as `evaluate` reads them")
    shipped = Path(str(files(forest.__package__) / forest.DATA_FILE))
    parser.add_argument("--out", type=Path, default=shipped, help="the data file to write (the shipped one)")
    parser.add_argument("--sites", choices=("all", "even", "odd"), default="all", help="train only on this half of the sites")
    options = parser.parse_args(arguments)
    examples = read_examples(options.corpus)
    if options.sites != "all":
        from zlib import crc32

        wanted = options.sites == "odd"
        examples = [example for example in examples if crc32(example.host.encode()) % 2 == wanted]
    data = {"provenance": _describe(examples)} | train(examples)
    options.out.write_text(_write(data), "utf-8")
    print(f"{options.out}: {options.out.stat().st_size:,} bytes from {len(examples)} pages.")
    return 0


def _describe(examples: list[Example]) -> dict[str, Any]:
    labels = [label for example in examples for label in example.labels if label is not None]
    return {
        "made_by": "python -m pagekeep.lab.judge",
        "pages": dict(sorted(Counter(example.corpus for example in examples).items())),
        "blocks": {"content": sum(labels), "other": len(labels) - sum(labels)},
        "libraries": {name: version(name) for name in ("lightgbm", "numpy", "rapidfuzz")},
    }


def _write(data: dict[str, Any]) -> str:
    """Return the data as JSON, a tree on each line, so that differences can be read."""
    trees = ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in data["trees"])
    rest = {key: value for key, value in data.items() if key != "trees"}
    lines = [f"{json.dumps(key)}:{json.dumps(value, separators=(',', ':'), ensure_ascii=False)}" for key, value in rest.items()]
    return "{" + ",\n".join(lines) + f',\n"trees":[\n{trees}\n]}}\n'


if __name__ == "__main__":
    sys.exit(main())

"""Compare Pagekeep with other extractors on the same pages: word F1 and CPU time.

Every extractor runs in a separate process. They take turns on each page in a rotating order, so that a busy moment of the
machine affects all of them alike. Usage: python bench/run.py [CORPUS] [--pages N] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from statistics import fmean, median
from typing import Any

from worker import EXTRACTORS, read_message, write_message

from pagekeep_lab import corpus as corpora
from pagekeep_lab.corpus import Sample
from pagekeep_lab.scores import WordScore, score_words

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CORPORA = (ROOT.parent / "shared" / "corpora" / "wcxb", ROOT / "tests" / "corpus")
PEERS = ROOT / ".venv-peers" / "bin" / "python"
OURS = "pagekeep"
PARSE = "bare parse"
"""Not an extractor: the part of our time that the HTML library takes, measured on its own."""
YARDSTICK = "trafilatura-markdown"
"""The peer whose work comes nearest to ours; ratios are to its mean time."""
WARM_UP = 10
SCORES = ("f1", "precision", "recall")

_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w-]+)""", re.I)


@dataclass
class Lane:
    """An extractor's process and its results so far."""

    name: str
    process: subprocess.Popen[bytes]
    version: str
    scores: list[WordScore] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    errors: int = 0

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a page and wait for the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        write_message(self.process.stdin, message)
        answer = read_message(self.process.stdout)
        if answer is None:
            raise SystemExit(f"{self.name} died on {message['url']}")
        return answer

    def record(self, answer: dict[str, Any], gold: str) -> None:
        """Add the figures of one page."""
        self.scores.append(score_words(answer["text"], gold))
        self.seconds.append(answer["seconds"])
        self.errors += bool(answer["error"])


def main() -> None:
    """Measure and print the table."""
    options = _options()
    samples = [corpora.read_case(case) for case in corpora.find_cases(options.corpus, options.pages)]
    lanes = [start(name) for name in options.only or EXTRACTORS]
    print(f"{len(samples)} pages of {options.corpus.name}, one process each, CPU time", file=sys.stderr)
    for sample in samples[:WARM_UP]:
        _turn(lanes, sample, record=False)
    for index, sample in enumerate(samples):
        shift = index % len(lanes)
        _turn(lanes[shift:] + lanes[:shift], sample, record=True)
    for row in table(lanes):
        print("  ".join(cell.rjust(width) for cell, width in zip(row, (20, 9, 6, 9, 6, 9, 7, 6, 6), strict=True)))
    for line in ratios({lane.name: fmean(lane.seconds) for lane in lanes}):
        print(line)
    if options.json:
        options.json.write_text(json.dumps(results(lanes, options.corpus.name), indent=1) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Pagekeep beside its peers on the same pages.")
    default = next(folder for folder in CORPORA if folder.is_dir())
    parser.add_argument("corpus", type=Path, nargs="?", default=default)
    parser.add_argument("--pages", type=int, default=150, help="an even sample of this many (150)")
    parser.add_argument("--only", nargs="+", choices=list(EXTRACTORS), help="these extractors alone")
    parser.add_argument("--json", type=Path, help="also write the results here, for scripts/draw_chart.py")
    return parser.parse_args()


def start(name: str) -> Lane:
    """Start a process that runs this extractor in its own environment."""
    python = sys.executable if name in (OURS, PARSE) else str(PEERS)
    if not Path(python).exists():
        raise SystemExit("The peers are not installed: run bench/setup first.")
    command = [python, str(HERE / "worker.py"), name]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    hello = read_message(process.stdout)
    if hello is None:
        raise SystemExit(f"{name} does not start.")
    return Lane(name, process, hello["version"])


def _turn(lanes: list[Lane], sample: Sample, *, record: bool) -> None:
    message = {"raw": sample.html.decode("latin-1"), "text": decode(sample.html), "url": sample.url or ""}
    for lane in lanes:
        answer = lane.ask(message)
        if record:
            lane.record(answer, sample.gold.text)


def decode(raw: bytes) -> str:
    """Return the page as text for extractors that need text: UTF-8, else the declared encoding, else Windows-1252."""
    declared = _CHARSET.search(raw[:4096])
    for name in ("utf-8", declared.group(1).decode() if declared else "", "cp1252"):
        try:
            return raw.decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
    return raw.decode("utf-8", "replace")


def table(lanes: list[Lane]) -> list[list[str]]:
    """Return the results as rows of strings, the header first."""
    rows = [["extractor", "version", "F1", "precision", "recall", "ms median", "ms mean", "ratio", "errors"]]
    yardstick = next((fmean(lane.seconds) for lane in lanes if lane.name == YARDSTICK), None)
    for lane in lanes:
        mean = fmean(lane.seconds)
        numbers = [fmean(getattr(score, name) for score in lane.scores) for name in SCORES]
        times = [f"{median(lane.seconds) * 1000:.2f}", f"{mean * 1000:.2f}"]
        ratio = f"{mean / yardstick:.3f}" if yardstick else "-"
        shown = ["-" if lane.name == PARSE else f"{number:.3f}" for number in numbers]
        rows.append([lane.name, lane.version, *shown, *times, ratio, str(lane.errors)])
    return rows


def results(lanes: list[Lane], corpus: str) -> dict[str, Any]:
    """Return the figures of every extractor for the README's table and chart."""
    return {
        "corpus": corpus,
        "pages": len(lanes[0].scores),
        "date": date.today().isoformat(),
        "extractors": [
            {
                "name": lane.name,
                "version": lane.version,
                **{name: round(fmean(getattr(score, name) for score in lane.scores), 4) for name in SCORES},
                "seconds": round(fmean(lane.seconds), 5),
            }
            for lane in lanes
            if lane.name != PARSE
        ],
    }


def ratios(means: dict[str, float]) -> list[str]:
    """Return how many times faster Pagekeep is than each extractor, and its time beyond parsing in units of parsing."""
    ours, parse = means.get(OURS), means.get(PARSE)
    if ours is None:
        return []
    peers = [f"{mean / ours:.1f} times {name}" for name, mean in means.items() if name not in (OURS, PARSE)]
    lines = [f"Faster by mean: {', '.join(peers)}."] if peers else []
    if parse is not None:
        own = ours - parse
        lines.append(f"Beyond the parse: {own * 1000:.2f} ms a page, {own / parse:.1f} times the parse itself.")
    return lines


if __name__ == "__main__":
    main()

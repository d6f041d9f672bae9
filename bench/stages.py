"""Measure each step of the pipeline in bare parses, and name the steps that are over their budget.

A bare parse is the time the HTML library alone takes for the page: what no version of ours can go below, and a unit that
does not depend on the machine. Usage: python bench/stages.py [CORPUS] [--pages N] [--rounds N] [--update]. `--update` writes
the table of docs/performance.md. A step is over its budget (bench/budget.json) when it takes a tenth more.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from pathlib import Path
from statistics import fmean

from pagekeep import Options, dom, extract
from pagekeep.pipeline import STEPS
from pagekeep_lab import corpus as corpora

ROOT = Path(__file__).resolve().parents[1]
CORPORA = (ROOT.parent / "shared" / "corpora" / "wcxb", ROOT / "tests" / "corpus")
BUDGET = ROOT / "bench" / "budget.json"
DOCS = ROOT / "docs" / "performance.md"
TOLERANCE = 1.1
OTHER = "the rest"
"""What is outside the steps: frontmatter, the check of rules, a second run without a rule."""
TABLE = re.compile(r"(?<=<!-- stages -->\n).*?(?=<!-- /stages -->)", re.S)


def main() -> int:
    """Print the table; return 1 when a step is over its budget."""
    parser = argparse.ArgumentParser(description="Each step's time in bare parses, beside its budget.")
    parser.add_argument("corpus", type=Path, nargs="?", default=next(path for path in CORPORA if path.is_dir()))
    parser.add_argument("--pages", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3, help="of each page; the quickest counts")
    parser.add_argument("--update", action="store_true", help="write the table of docs/performance.md")
    options = parser.parse_args()
    parse, stages = measure(options.corpus, options.pages, options.rounds)
    budget = json.loads(BUDGET.read_text(encoding="utf-8"))
    shares = {name: seconds / parse for name, seconds in stages.items()}
    print(f"{options.pages} pages of {options.corpus.name}; a bare parse takes {1000 * parse:.2f} ms")
    table = write_table(shares, budget)
    print(table, end="")
    if options.update:
        DOCS.write_text(TABLE.sub(lambda _: table, DOCS.read_text(encoding="utf-8")), encoding="utf-8")
    over = [name for name, share in shares.items() if share > TOLERANCE * budget.get(name, 0) and share > 0.02]
    for name in over:
        print(f"OVER BUDGET: {name} takes {shares[name]:.2f} bare parses, its budget is {budget.get(name, 0):.2f}")
    return int(bool(over))


def measure(corpus: Path, pages: int, rounds: int) -> tuple[float, dict[str, float]]:
    """Return the mean seconds of a bare parse, and of each step."""
    samples = [corpora.read_case(case) for case in corpora.find_cases(corpus, pages)]
    timed = Options(timer=time.process_time)
    for sample in samples[:10]:
        extract(sample.html, sample.url)
    parses, found = list[float](), dict[str, list[float]]()
    for sample in samples:
        runs = [_time_page(sample, timed) for _ in range(rounds)]
        parses.append(min(parse for parse, _, _ in runs))
        _, total, steps = min(runs, key=lambda run: run[1])
        steps = {**steps, OTHER: max(0.0, total - sum(steps.values()))}
        for name, seconds in steps.items():
            found.setdefault(name, []).append(seconds)
    order = [step.name for step in STEPS] + [OTHER]
    return fmean(parses), {name: sum(found[name]) / len(samples) for name in order if name in found}


def _time_page(sample: corpora.Sample, options: Options) -> tuple[float, float, dict[str, float]]:
    """Return the seconds of the bare parse, of the extraction, and of its steps."""
    text = sample.html.decode("utf-8", "replace")
    started = time.process_time()
    dom.parse(text)
    parsed = time.process_time()
    page = extract(sample.html, sample.url, options=options)
    return parsed - started, time.process_time() - parsed, dict(page.trace.seconds)


def write_table(shares: dict[str, float], budget: dict[str, float]) -> str:
    """Return a Markdown table of the steps that count, and their sum."""
    small = {name: share for name, share in shares.items() if share < 0.02}
    rows = [
        f"| {name} | {share:.2f} | {budget.get(name, 0):.2f} |" for name, share in shares.items() if name not in small
    ]
    rows.append(f"| {len(small)} others | {sum(small.values()):.2f} | |")
    rows.append(f"| **in all** | **{sum(shares.values()):.2f}** | **{sum(budget.values()):.2f}** |")
    return "\n".join(["| step | bare parses | budget |", "|---|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    sys.exit(main())

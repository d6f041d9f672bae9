"""Put the tool's real output and the bench's figures into README.md and docs/explain.md.

With `--check`, write nothing and fail when one of them is out of date.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = "docs/examples/tide-clock.html"
URL = "https://saltmarsh.example/projects/tide-clock"
EXAMPLES = {"README.md": ("example", "markdown", ()), "docs/explain.md": ("explain", "text", ("--explain",))}
"""File to the mark in it, the fence's language and the command's options."""
RESULTS = ROOT / "docs" / "benchmarks.json"


def main() -> int:
    """Rewrite both files, or compare them."""
    outdated = 0
    for name, (mark, language, options) in EXAMPLES.items():
        path = ROOT / name
        old = path.read_text(encoding="utf-8")
        new = fill(fill(old, mark, example(language, options)), "bench", bench_table())
        outdated += old != new
        if "--check" not in sys.argv[1:]:
            path.write_text(new, encoding="utf-8")
    return int("--check" in sys.argv[1:] and outdated > 0)


def fill(text: str, mark: str, block: str) -> str:
    """Return the text with the block between the two comments of that mark."""
    between = re.compile(f"(<!-- {mark}:start -->\n).*?(<!-- {mark}:end -->)", re.DOTALL)
    return between.sub(lambda found: f"{found[1]}{block}\n{found[2]}", text)


def example(language: str, options: tuple[str, ...]) -> str:
    """Return the command and what it prints for the example page."""
    shell = " ".join(["./pagekeep extract", PAGE, "--url", URL, *options])
    return f"```sh\n{shell}\n```\n\n````{language}\n{run(options)}\n````"


def run(options: tuple[str, ...]) -> str:
    """Return what the command prints, without the times, which differ from run to run."""
    command = [sys.executable, "-m", "pagekeep", "extract", PAGE, "--url", URL, *options]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1742464800"}
    printed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True).stdout.decode()
    return re.sub(r"\n\nTime\n.*", "", re.sub(r", [\d.]+ ms", "", printed), flags=re.DOTALL).strip()


def bench_table() -> str:
    """Return the bench's last results as a table."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    ours = next(row["seconds"] for row in results["extractors"] if row["name"] == "pagekeep")
    lines = ["| | F1 | precision | recall | CPU time |", "|---|---:|---:|---:|---:|"]
    for row in results["extractors"]:
        numbers = f"{row['f1']:.3f} | {row['precision']:.3f} | {row['recall']:.3f} | {row['seconds'] / ours:.1f}"
        lines.append(f"| {row['name']} {row['version']} | {numbers} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

"""Check that two processes with different hash seeds give the same bytes for every page, without errors or slow pages.

Usage: python bench/determinism.py [CORPUS] [--pages N]; exits with 1 when a page differs, raises or is slow.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pagekeep_lab import corpus as corpora

ROOT = Path(__file__).resolve().parent.parent
CORPORA = (ROOT.parent / "shared" / "corpora" / "wcxb", ROOT / "tests" / "corpus")
SEEDS = ("1", "4242")
SECONDS_A_MEGABYTE = 1.0
"""CPU time a page may take for each megabyte; smaller pages count as one."""


def digests(corpus: Path, pages: int | None) -> dict[str, dict[str, Any]]:
    """Return the hash of each page's result, its error and CPU seconds, by name."""
    from pagekeep import extract

    found = {}
    for case in corpora.find_cases(corpus, pages):
        sample = corpora.read_case(case)
        digest, error, begin = "", "", time.process_time()
        try:
            page = extract(sample.html, sample.url)
        except Exception as fault:  # every page that raises is to be named, not only the first
            error = f"{type(fault).__name__}: {fault}"
        seconds = time.process_time() - begin
        if not error:
            whole = json.dumps([page.document, page.html, page.text, page.to_json()], ensure_ascii=True)
            digest = hashlib.sha256(whole.encode()).hexdigest()
        allowed = SECONDS_A_MEGABYTE * max(1.0, len(sample.html) / 1e6)
        found[sample.name] = {"digest": digest, "error": error, "seconds": seconds, "slow": seconds > allowed}
    return found


def start(corpus: Path, pages: int | None, seed: str) -> subprocess.Popen[bytes]:
    """Start this script as a child process with the given hash seed."""
    command = [sys.executable, __file__, str(corpus), "--child"]
    command += ["--pages", str(pages)] if pages is not None else []
    return subprocess.Popen(command, env={**os.environ, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE)


def compare(runs: list[dict[str, dict[str, Any]]]) -> list[str]:
    """Return a sentence for each fault, in page order."""
    faults = []
    for name, first in runs[0].items():
        both = [run[name] for run in runs]
        if len({result["digest"] for result in both}) > 1:
            faults.append(f"{name}: differs between hash seeds")
        if first["error"]:
            faults.append(f"{name}: raises {first['error']}")
        if all(result["slow"] for result in both):  # one slow run alone is the machine's doing
            faults.append(f"{name}: takes {first['seconds']:.1f} s of CPU")
    return faults


def main() -> int:
    """Run both children and report."""
    parser = argparse.ArgumentParser(description="The same page must give the same bytes, whatever the hash seed.")
    parser.add_argument("corpus", type=Path, nargs="?", default=next(folder for folder in CORPORA if folder.is_dir()))
    parser.add_argument("--pages", type=int, default=None)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        json.dump(digests(options.corpus, options.pages), sys.stdout)
        return 0
    children = [start(options.corpus, options.pages, seed) for seed in SEEDS]
    outputs = [child.communicate()[0] for child in children]
    if any(child.returncode for child in children):
        print("A run died.")
        return 1
    runs = [json.loads(output) for output in outputs]
    faults = compare(runs)
    print("\n".join([*faults, f"{len(runs[0])} pages, {len(faults)} faults"]))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())

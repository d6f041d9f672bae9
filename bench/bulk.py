"""Bulk runs: what a second worker gives, what memory they take, and trafilatura in a pool on the same pages.

Usage: python bench/bulk.py [CORPUS] [--pages N] [--long N]. Pages of the corpus are repeated up to the number; `--long` adds a
longer run, to see whether the cost grows with the count. Trafilatura needs bench/setup.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

from pagekeep import bulk
from pagekeep.evaluate import corpus as corpora

ROOT = Path(__file__).resolve().parents[1]
CORPORA = (ROOT.parent / "shared" / "corpora" / "wcxb", ROOT / "tests" / "corpus")
PEERS = ROOT / ".venv-peers" / "bin" / "python"

_POOL = """
import json, sys, time
from concurrent.futures import ProcessPoolExecutor

def work(line):
    import trafilatura
    row = json.loads(line)
    try:
        return len(trafilatura.extract(row["html"], url=row["url"], output_format="markdown", with_metadata=True) or "")
    except Exception:
        return 0

if __name__ == "__main__":
    lines = open(sys.argv[1], encoding="utf-8").readlines()
    with ProcessPoolExecutor(int(sys.argv[2])) as pool:
        list(pool.map(work, lines[:16], chunksize=4))
        started = time.monotonic()
        list(pool.map(work, lines, chunksize=8))
        print(len(lines) / (time.monotonic() - started))
"""


def write_pages(corpus: Path, count: int, path: Path) -> None:
    """So many pages as lines of JSON."""
    samples = [corpora.read(case) for case in corpora.find(corpus)]
    with path.open("w", encoding="utf-8") as file:
        for number, sample in enumerate(islice(cycle(samples), count)):
            row = {
                "url": f"{sample.url or 'https://example.com/'}#{number}",
                "html": sample.html.decode("utf-8", "replace"),
            }
            file.write(json.dumps(row) + "\n")


def _in_a_process(work: Callable[..., None], *arguments: object) -> None:
    """So that what it takes is not counted."""
    running = multiprocessing.get_context("spawn").Process(target=work, args=arguments)
    running.start()
    running.join()


class Memory(threading.Thread):
    """The resident memory of this process and its children, looked at twice a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seen: list[int] = []
        self._ended = threading.Event()

    def run(self) -> None:
        """Until it is told to end."""
        while not self._ended.wait(0.5):
            self.seen.append(sum(_resident(pid) for pid in (os.getpid(), *_children(os.getpid()))))

    def end(self) -> tuple[int, int]:
        """Megabytes at most in the first and in the last third."""
        self._ended.set()
        self.join()
        third = max(1, len(self.seen) // 3)
        return max(self.seen[:third], default=0) // 1_000_000, max(self.seen[-third:], default=0) // 1_000_000


def _children(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(line) for line in found.split()]


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def measure(source: Path, workers: int) -> tuple[float, tuple[int, int]]:
    """Pages a second, and megabytes early and late."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory()
        memory.start()
        report = bulk.run(bulk.Plan(bulk.find([str(source)]), Path(folder) / "out", workers=workers))
        return report.rate, memory.end()


def trafilatura(source: Path, workers: int) -> float | None:
    """Its pages a second in a pool of processes, Markdown with metadata."""
    if not PEERS.exists():
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(_POOL)
        script.flush()
        done = subprocess.run([PEERS, script.name, source, str(workers)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Print ratios."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("corpus", nargs="?", type=Path, default=next(place for place in CORPORA if place.is_dir()))
    options.add_argument("--pages", type=int, default=5_000)
    options.add_argument("--long", type=int)
    chosen = options.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "pages.jsonl"
        _in_a_process(write_pages, chosen.corpus, chosen.pages, source)
        one, _ = measure(source, 1)
        two, memory = measure(source, 2)
        print(f"{chosen.pages} pages: {one:.1f} a second with one worker, {two:.1f} with two: {two / one:.2f} times")
        print(f"memory of all processes: at most {memory[0]} MB in the first third, {memory[1]} MB in the last")
        peer = trafilatura(source, 2)
        if peer:
            print(f"trafilatura Markdown in a pool of two: {peer:.1f} a second; we are {two / peer:.1f} times as fast")
        if chosen.long:
            _in_a_process(write_pages, chosen.corpus, chosen.long, source)
            longer, memory = measure(source, 2)
            print(
                f"{chosen.long} pages: {longer:.1f} a second, {longer / two:.2f} of the shorter run; {memory[1]} MB at the end"
            )
    print(f"took {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()

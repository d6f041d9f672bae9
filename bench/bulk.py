"""Measure bulk runs: the gain of a second worker, memory, and trafilatura in a pool on the same pages.

Usage: python bench/bulk.py [CORPUS] [--pages N] [--long N] [--ray [PAGES]]. The corpus is repeated up to the number of pages;
`--long` adds a longer run, to see whether the cost per page grows; `--ray` measures Ray's cost per page. Trafilatura needs
bench/setup. All figures of docs/bulk.md, on a quiet machine: python bench/bulk.py --long 50000 --ray
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from pagekeep import bulk
from pagekeep_lab import corpus as corpora

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
    """Write this many pages as lines of JSON."""
    samples = [corpora.read_case(case) for case in corpora.find_cases(corpus)]
    with path.open("w", encoding="utf-8") as file:
        for number, sample in enumerate(islice(cycle(samples), count)):
            row = {
                "url": f"{sample.url or 'https://example.com/'}#{number}",
                "html": sample.html.decode("utf-8", "replace"),
            }
            file.write(json.dumps(row) + "\n")


def _in_a_process(work: Callable[..., None], *arguments: object) -> None:
    """Run a function in another process, so that its memory does not count."""
    running = multiprocessing.get_context("spawn").Process(target=work, args=arguments)
    running.start()
    running.join()


class Memory(threading.Thread):
    """Measures the memory of this process and its children every second.

    Resident counts what they share (the libraries) once for each; proportional counts it once: that is what the machine gives.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.resident: list[int] = []
        self.proportional: list[int] = []
        self.parent = self.worker = 0
        self._ended = threading.Event()

    def run(self) -> None:
        """Measure until it is stopped."""
        while not self._ended.wait(1):
            own, *others = [_memory(pid) for pid in (os.getpid(), *_children(os.getpid()))]
            self.resident.append(sum(each[0] for each in (own, *others)))
            self.proportional.append(sum(each[1] for each in (own, *others)))
            self.parent, self.worker = max(self.parent, own[1]), max([self.worker, *(each[1] for each in others)])

    def end(self) -> Memory:
        """Stop, and return the highest figures."""
        self._ended.set()
        self.join()
        return self

    def __str__(self) -> str:
        third = max(1, len(self.resident) // 3)
        early, late = (max(part, default=0) for part in (self.proportional[:third], self.proportional[-third:]))
        return (
            f"{max(self.resident, default=0)} MB resident, {max(self.proportional, default=0)} MB proportional at most "
            f"({early} MB in the first third, {late} MB in the last; parent {self.parent} MB, a worker {self.worker} MB)"
        )


def _children(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(line) for line in found.split()]


def _memory(pid: int) -> tuple[int, int]:
    """Return the resident and the proportional memory in megabytes."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0, 0
    found = {line.split()[0]: int(line.split()[1]) // 1000 for line in lines if line.startswith(("Rss:", "Pss:"))}
    return found.get("Rss:", 0), found.get("Pss:", 0)


class Measured(NamedTuple):
    """The figures of a run."""

    rate: float
    parent: float
    """Milliseconds of CPU a page, of the process that feeds the others."""
    workers: float
    """The same of the workers, their start included."""
    memory: Memory


def measure(source: Path, workers: int) -> Measured:
    """Run over all pages with this many workers."""
    before = _cpu()
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory()
        memory.start()
        report = bulk.run(source, Path(folder) / "out", workers=workers)
        memory.end()
    own, others = (1000 * (after - then) / report.new_records for after, then in zip(_cpu(), before, strict=True))
    return Measured(report.rate, own, others, memory)


def _cpu() -> tuple[float, float]:
    """Return the CPU seconds of this process, and of its children that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    own, others = (each.ru_utime + each.ru_stime for each in used)
    return own, others


_BARE = """
import json, sys, time
from pagekeep import extract
extract("<p>A first page, so that the start does not count.")
started, count = time.monotonic(), 0
with open(sys.argv[1], "rb", buffering=1 << 20) as lines:
    for count, line in enumerate(lines, 1):
        row = json.loads(line)
        extract(row["html"], row["url"])
print(count / (time.monotonic() - started), 1000 * time.process_time() / count)
"""


def bare(source: Path) -> tuple[float, float]:
    """Return the pages per second of `extract` in a loop, and the CPU milliseconds per page."""
    done = subprocess.run([sys.executable, "-c", _BARE, source], capture_output=True, text=True, check=True)
    rate, milliseconds = map(float, done.stdout.split())
    return rate, milliseconds


# Ray listens on every address of the machine, so it gets a separate, empty network.

_FILES = 4


def ray_overhead(source: Path, count: int) -> str:
    """Return the cost of a page besides extraction, on a local Ray and without Ray.

    Each is run over few and over many pages: the difference is what pages cost, the rest what a run costs whatever its size.
    """
    with tempfile.TemporaryDirectory() as place:
        few, many = Path(place) / "few", Path(place) / "many"
        _split(source, few, count // 4)
        _split(source, many, count)
        job = f"ip link set lo up; exec {sys.executable} {__file__} --ray-job {few} {many}"
        environment = {**os.environ, "HOME": place, "RAY_USAGE_STATS_ENABLED": "0"}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        done = subprocess.run(["unshare", "-n", "sh", "-c", job], env=environment, capture_output=True, text=True)
    if done.returncode:
        return f"Ray: failed: {done.stderr[-500:]}"
    found = {line.split()[1]: list(map(float, line.split()[2:])) for line in done.stdout.splitlines() if "used" in line}
    more = count - count // 4
    page = {name: 1000 * (large - small) / more for name, (small, large) in found.items()}
    once = found["ray"][0] - page["ray"] * (count // 4) / 1000
    return (
        f"Ray, {count} pages, one worker: besides reading a page {page['ray']:.1f} ms of CPU, {page['local']:.1f} without it;"
        f" and {once:.0f} s a run"
    )


def _split(source: Path, folder: Path, count: int) -> None:
    folder.mkdir()
    with source.open("rb") as lines:
        for number in range(_FILES):
            (folder / f"{number}.jsonl").write_bytes(b"".join(islice(lines, count // _FILES)))


def ray_job(few: str, many: str) -> None:
    """Print, in the separate network, the CPU seconds of runs over few and many pages."""
    import ray

    for engine in ("local", "ray"):
        if engine == "ray":
            ray.init(log_to_driver=False, include_dashboard=False, configure_logging=False)
        used = []
        for number, source in enumerate((few, few, many)):  # the first one starts what later ones find running
            with _Ticking() as ticking:
                bulk.run(source, f"{source}-{engine}-{number}", engine=engine, workers=1)  # type: ignore[arg-type]
            used.append(ticking.seconds)
        print("used", engine, *used[1:])


class _Ticking:
    """Measures the CPU time of all processes in this network but the workers, often: Ray's processes come and go."""

    def __enter__(self) -> _Ticking:
        self._before, self._latest = _ticks(), dict[str, int]()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        ticks = sum(self._latest.values()) - sum(self._before.get(process, 0) for process in self._latest)
        self.seconds = ticks / os.sysconf("SC_CLK_TCK") - self._cpu_seconds

    def _watch(self) -> None:
        while not self._ended.wait(0.1):
            self._latest.update(_ticks())
        self._latest.update(_ticks())
        self._cpu_seconds = time.thread_time()


def _ticks() -> dict[str, int]:
    """Return the CPU ticks of each process so far."""
    ticks, own = {}, os.readlink("/proc/self/ns/net")
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_text()  # empty for a process that is ending
            if command and "pagekeep.workers.child" not in command and os.readlink(process / "ns" / "net") == own:
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                ticks[f"{process.name} {fields[19]}"] = int(fields[11]) + int(fields[12])
        except OSError:
            continue
    return ticks


def trafilatura(source: Path, workers: int) -> float | None:
    """Return trafilatura's pages per second in a pool of processes, as Markdown with metadata."""
    if not PEERS.exists():
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(_POOL)
        script.flush()
        done = subprocess.run([PEERS, script.name, source, str(workers)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Print all figures of docs/bulk.md."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("corpus", nargs="?", type=Path, default=next(place for place in CORPORA if place.is_dir()))
    options.add_argument("--pages", type=int, default=5_000)
    options.add_argument("--long", type=int)
    options.add_argument("--ray", type=int, nargs="?", const=2_400, metavar="PAGES")
    options.add_argument("--price", type=float, default=0.04, help="USD a core hour")
    options.add_argument("--ray-job", nargs=2, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.ray_job:
        ray_job(*chosen.ray_job)
        return
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "pages.jsonl"
        _in_a_process(write_pages, chosen.corpus, chosen.pages, source)
        _compare(source, chosen)
    print(f"took {time.monotonic() - started:.0f} s")


def _compare(source: Path, chosen: argparse.Namespace) -> None:
    print(f"{chosen.pages} pages of {source.stat().st_size / chosen.pages / 1000:.0f} KB")
    alone, milliseconds = bare(source)
    print(f"extract in a bare loop: {alone:.1f} a second, {milliseconds:.2f} ms of CPU a page")
    one, two = measure(source, 1), measure(source, 2)
    times = two.rate / one.rate
    print(
        f"one worker: {one.rate:.1f} a second, {one.rate / alone:.3f} of the loop; two: {two.rate:.1f}, {times:.2f} times one"
    )
    print(
        f"CPU a page: {two.parent:.2f} ms to feed and write, {two.workers:.2f} ms to read: "
        f" one parent feeds {two.workers / two.parent:.0f} workers"
    )
    print(f"memory with one worker: {one.memory}")
    print(f"memory with two: {two.memory}")
    _price(two, chosen.price)
    peer = trafilatura(source, 2)
    if peer:
        print(f"trafilatura Markdown in a pool of two: {peer:.1f} a second; we are {two.rate / peer:.1f} times as fast")
    if chosen.ray:
        print(ray_overhead(source, min(chosen.ray, chosen.pages)))
    if chosen.long:
        _in_a_process(write_pages, chosen.corpus, chosen.long, source)
        longer = measure(source, 2)
        print(f"{chosen.long} pages: {longer.rate:.1f} a second, {longer.rate / two.rate:.2f} of the shorter run")
        print(f"memory: {longer.memory}")


def _price(run: Measured, price: float) -> None:
    a_page = (run.parent + run.workers) / 1000
    hours = 1_000_000 * a_page / 3600
    print(
        f"a million pages: 1,000,000 x {1000 * a_page:.1f} ms = {hours:.1f} core hours;"
        f" at {price:g} USD a core hour {hours * price:.2f} USD"
    )


if __name__ == "__main__":
    main()

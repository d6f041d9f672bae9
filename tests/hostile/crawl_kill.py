"""Crawl a maze of 2,000 pages with every kind of trap, killed 20 times: every page once, and the same files byte for byte.

    python -m tests.hostile.crawl_kill [--pages 2000] [--kills 20]

Three hosts: one without a pause, one with a crawl delay, one that answers 429 to a client that is too fast; 5 % of the pages fail,
half of them for ever. The first crawl is not disturbed, the second one is killed with SIGKILL. The politeness of both is checked
in the servers' logs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

from pagekeep.library.crawl import addresses
from pagekeep.library.crawl import addresses as traps
from tests.site.maze import TRAPS, Maze, MazeServers

DELAY = 0.05
"""Crawl delay of the second host, in seconds."""
LIMIT = 40
"""Requests per second that the third host bears."""
CLOCK_ERROR = 0.002
"""Seconds by which a server's times may be wrong."""
BOUNDS = {
    "calendar": traps.MAX_CALENDAR,
    "events": 2 * traps.MAX_CALENDAR,
    "shop": 5,
    "store": 3,
    "loop": 2**6,
    "deep": addresses.MAX_SEGMENTS,
    "filter": 2 * traps.MAX_FACETS,
    "ring": 3,
    "hop": traps.MAX_HOPS + 1,
    "echo": 4,
    "list": traps.MAX_CHAIN + 2,
    "table": 1,
    "grow": addresses.MAX_ADDRESS_CHARS // 60 + 1,
}


def command(maze: Maze, folder: Path, name: str, at_a_time: int) -> list[str]:
    outputs = ("--out", "jsonl", str(folder / f"{name}.jsonl"), "--out", "warc", str(folder / f"{name}.warc.gz"))
    seeds = (f"{url}/" for url in maze.urls)
    library = ("--library", str(folder / f"{name}.db"), "--at-a-time", str(at_a_time))
    return [
        sys.executable,
        "-m",
        "pagekeep",
        "crawl",
        *seeds,
        "--depth",
        "100",
        "--render",
        "never",
        *library,
        *outputs,
    ]


def environment() -> dict[str, str]:
    return {
        **os.environ,
        "PAGEKEEP_ALLOW_HOSTS": "127.0.0.0/8",
        "PAGEKEEP_CRAWL_DELAY": "0",
        "SOURCE_DATE_EPOCH": "1700000000",
    }


def crawl(maze: Maze, folder: Path, name: str, kills: int, seconds: float) -> int:
    """Crawl to the end, killed this often before; return how often it was."""
    source = random.Random(name)
    done = 0
    while done < kills:
        process = subprocess.Popen(
            command(maze, folder, name, 4), env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        time.sleep(source.uniform(0.3, 1.2 * seconds / kills))
        if process.poll() is not None:
            break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        done += 1
    subprocess.run(command(maze, folder, name, 4), env=environment(), check=True, stdout=subprocess.DEVNULL)
    return done


def check_pages(maze: Maze, folder: Path, name: str) -> list[str]:
    import json

    kept = [json.loads(line)["url"] for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()]
    faults = [f"{url} was kept twice" for url, number in Counter(kept).items() if number > 1]
    faults += [f"{url} is missing" for url in sorted(maze.expected() - set(kept))]
    strange = {url for url in set(kept) - maze.expected() if url.split("/")[3].partition("?")[0] not in TRAPS}
    return [*faults, *(f"{url} should not be there" for url in sorted(strange))]


def check_requests(maze: Maze, *, kills: int) -> list[str]:
    """Check that nothing was requested too often, and no trap entered beyond its bound."""
    faults = []
    for host, log in enumerate(maze.logs):
        failing = {name for number, name in maze.dead | maze.flaky if number == host}
        counts = Counter(log.targets)
        if not kills:
            limited = host == maze.hosts - 1
            faults += [
                f"{target} was requested {number} times"
                for target, number in counts.items()
                if number > (3 if target in failing else 1) + 10 * limited
            ]
        faults += [f"{target} is forbidden" for target in counts if target.startswith(("/private", "/files"))]
    entered = Counter(target.split("/")[1].partition("?")[0] for target in set(maze.logs[0].targets))
    faults += [f"trap {name}: {entered[name]} addresses" for name in TRAPS if entered[name] > BOUNDS[name]]
    return faults + [f"trap {name} was not found" for name in TRAPS if not entered[name]]


def check_politeness(maze: Maze, starts: int) -> list[str]:
    """Check that the pause after each response was kept; a crawl that was killed and started again may not know the last one."""
    times = maze.logs[1].times
    pairs = pairwise(times)
    short = [round(after[0] - before[1], 4) for before, after in pairs if after[0] - before[1] < DELAY - CLOCK_ERROR]
    refused = maze.statuses.count(429)
    print(f"  second host: {len(times)} requests, {len(short)} pauses below {DELAY} s; third host: {refused} times 429")
    return [f"{len(short)} pauses were too short: {short[:5]}"] if len(short) > starts else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=20)
    options = parser.parse_args()
    maze = Maze(options.pages, 3, delay=DELAY, limit=LIMIT)
    faults: list[str] = []
    with MazeServers(maze), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.monotonic()
        crawl(maze, folder, "once", 0, 1)
        seconds = time.monotonic() - started
        print(f"Undisturbed: {sum(len(log.targets) for log in maze.logs)} requests in {seconds:.0f} s")
        faults += check_pages(maze, folder, "once") + check_requests(maze, kills=0) + check_politeness(maze, 0)
        maze.reset()
        kills = crawl(maze, folder, "often", options.kills, seconds)
        print(f"Killed {kills} times: {sum(len(log.targets) for log in maze.logs)} requests")
        faults += check_pages(maze, folder, "often") + check_requests(maze, kills=kills)
        # An own pause may be missed once per kill: the response was sent, and its worker died before it could note that.
        faults += check_politeness(maze, kills)
        for kind in ("jsonl", "warc.gz"):
            one, other = (folder / f"{name}.{kind}" for name in ("once", "often"))
            digests = [hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in (one, other)]
            print(f"  {kind}: {one.stat().st_size:,} bytes, {digests[0]} {digests[1]}")
            if digests[0] != digests[1]:
                faults.append(f"The {kind} files differ.")
        if kills < options.kills:
            faults.append(f"It ended after {kills} kills: use more pages.")
    print("\n".join(faults) or "No faults.")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()

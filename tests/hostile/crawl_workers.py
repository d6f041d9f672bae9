"""One crawl, and 1, 2 and 4 worker processes on one PostgreSQL, one of them killed: nothing twice, and the same result.

python -m tests.hostile.crawl_workers [--pages 400] [--workers 1 2 4]
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.site.maze import Maze, MazeServers
from tests.store.making import postgres_server


def environment() -> dict[str, str]:
    return {
        **os.environ,
        "PAGEKEEP_ALLOW_HOSTS": "127.0.0.0/8",
        "PAGEKEEP_CRAWL_DELAY": "0",
        "PAGEKEEP_RENDER": "never",
    }


def pagekeep(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pagekeep", *arguments]


def crawl(maze: Maze, library: str, user: str, workers: int, out: Path) -> float:
    """Crawl with some workers; when there are several, the first one is killed. Return the seconds."""
    where = ("--library", library, "--user", user)
    seeds = [f"{url}/" for url in maze.urls]
    subprocess.run(
        pagekeep("crawl", *seeds, "--depth", "8", "--queue", *where),
        env=environment(),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    started = time.monotonic()
    running = [
        subprocess.Popen(
            pagekeep("work", "--until-empty", "--at-a-time", "2", "--library", library, "--user", user),
            env=environment(), stdout=subprocess.DEVNULL, start_new_session=True,
        )
        for _ in range(workers)
    ]  # fmt: skip
    if workers > 1:
        while len(maze.logs[0].targets) < 40 and running[0].poll() is None:
            time.sleep(0.05)
        os.killpg(running[0].pid, signal.SIGKILL)
    for process in running:
        process.wait()
    seconds = time.monotonic() - started
    status = pagekeep("crawl", "status", seeds[0], "--out", "jsonl", str(out), *where)
    subprocess.run(status, env=environment(), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    options = parser.parse_args()
    faults: list[str] = []
    maze = Maze(options.pages, 2)
    with MazeServers(maze), postgres_server() as server, tempfile.TemporaryDirectory() as folder:
        first: bytes | None = None
        for workers in options.workers:
            maze.reset()
            out = Path(folder) / f"{workers}.jsonl"
            seconds = crawl(maze, server.shared, f"reader-{workers}", workers, out)
            data = out.read_bytes()
            requests = sum(len(log.targets) for log in maze.logs)
            print(f"{workers} workers: {len(data.splitlines())} pages, {requests} requests in {seconds:.1f} s")
            first = first or data
            if data != first:
                faults.append(f"The result of {workers} workers differs.")
            for host, log in enumerate(maze.logs):
                failing = {name for number, name in maze.dead | maze.flaky if number == host}
                again = [
                    target for target, number in Counter(log.targets).items() if number > 1 and target not in failing
                ]
                # A killed worker had at most four addresses in its hands.
                if len(again) > (4 if workers > 1 else 0):
                    faults.append(f"{workers} workers: {len(again)} addresses were requested twice: {again[:5]}")
    print("\n".join(faults) or "No faults.")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()

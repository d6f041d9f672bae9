"""Run commands on hostile pages: each ends with a result or a clear error, in bounded memory (H3).

Run: `python -m tests.hostile.command_bombs [SHAPES] [BYTES]`. The commands are `extract`, `explain`, `save`, `reparse` and
`work`. The exit code is the number of faults.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Final

from tests.hostile.parser_bombs import SHAPES
from tests.site.server import Reply, Request, Site

SIZE: Final = 170_000
MAX_MEGABYTES: Final = 1_000
PEAKS: Final[list[int]] = []
"""Megabytes of the largest process of each command."""
_WATCH: Final = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print("", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1000, sep="\\n", end="", file=sys.stderr)
sys.exit(code)
"""


def run(arguments: list[str], folder: Path) -> str | None:
    """Run a command; return what is wrong, if anything."""
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PAGEKEEP_LIBRARY": str(folder / "library.db"),
        "PAGEKEEP_ALLOW_HOSTS": "127.0.0.1",
        "PAGEKEEP_PER_HOST_DELAY": "0",
        "PAGEKEEP_RENDER": "never",
    }
    command = [sys.executable, "-m", "pagekeep", *arguments]
    # Its own process measures the command: children of this process are not only commands.
    watched = [sys.executable, "-c", _WATCH, *command]
    done = subprocess.run(watched, capture_output=True, text=True, check=False, env=environ, timeout=180)
    stderr, _, megabytes = done.stderr.rpartition("\n")
    if done.returncode not in (0, 1, 2) or "Traceback" in stderr:
        return f"exit code {done.returncode}: {stderr[-300:]}"
    peak = int(megabytes)
    PEAKS.append(peak)
    return f"a process had {peak} MB" if peak > MAX_MEGABYTES else None


def attack(shapes: list[str], size: int) -> list[str]:
    """Run every command on every shape; return what is wrong."""
    faults, count = [], 0

    async def send_bomb(request: Request, reply: Reply) -> None:
        await reply.send(SHAPES[shapes[int(request.path.rpartition("/")[2])]](size), content_type="text/html")

    with tempfile.TemporaryDirectory() as name, Site({"bomb": send_bomb}) as site:
        folder = Path(name)
        for number, shape in enumerate(shapes):
            file = folder / f"{number}.html"
            file.write_text(SHAPES[shape](size))
            for arguments in (["extract", str(file)], ["explain", str(file)], ["save", str(file)]):
                count += 1
                if fault := run(arguments, folder):
                    faults.append(f"{shape}, {arguments[0]}: {fault}")
        urls = [site.url(f"/bomb/{number}") for number in range(len(shapes))]
        for arguments in (
            ["save", "--queue", *urls],
            ["work", "--until-empty"],
            ["reparse", "--query", "a", "--force"],
        ):
            count += 1
            if fault := run(arguments, folder):
                faults.append(f"{arguments[0]}: {fault}")
    print(f"{len(shapes)} shapes, {count} commands, peak memory of a process {max(PEAKS, default=0)} MB")
    return faults


def main() -> int:
    """Attack with all shapes, or with this many."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else len(SHAPES)
    size = int(sys.argv[2]) if len(sys.argv) > 2 else SIZE
    faults = attack(list(islice(SHAPES, count)), size)
    print(f"{len(faults)} faults", *faults, sep="\n  ")
    return len(faults)


if __name__ == "__main__":
    sys.exit(main())

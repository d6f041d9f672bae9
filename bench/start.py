"""Measure what a start costs: CPU milliseconds of whole commands, also as a multiple of a Python that does nothing.

`python bench/start.py [PAGE] [--rounds 15]`. Each round runs every command once, so that a busy machine affects all of them.
Counted are the command and its worker process, user and system time; medians are shown. Bytecode is cached by a first round
that does not count. trafilatura is measured too when `make bench` has installed it. Goals: `pagekeep extract` and the same
from Python 150 ms, `pagekeep --help` 60 ms.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "tests/corpus/article-german-nightline.html"
PEERS = ROOT / ".venv-peers/bin"
BARE = "python -c pass"
FROM_PYTHON = "import sys, pagekeep; pagekeep.extract(open(sys.argv[1], 'rb').read()).document"


def commands(page: Path) -> dict[str, list[str]]:
    """Return the commands to measure; they all read the page from stdin or by its path."""
    script = Path(sys.executable).with_name("pagekeep")
    pagekeep = [sys.executable, str(script)] if script.exists() else [sys.executable, "-m", "pagekeep"]
    found = {
        BARE: [sys.executable, "-c", "pass"],
        "pagekeep --help": [*pagekeep, "--help"],
        "pagekeep extract PAGE": [*pagekeep, "extract", str(page)],
        "import pagekeep; extract(PAGE)": [sys.executable, "-c", FROM_PYTHON, str(page)],
    }
    trafilatura = str(PEERS / "trafilatura")
    if os.path.exists(trafilatura):
        found["trafilatura --help"] = [trafilatura, "--help"]
        found["trafilatura --markdown --with-metadata"] = [trafilatura, "--markdown", "--with-metadata"]
    return found


def cpu_ms(command: list[str], page: Path) -> float:
    """Run a command and return the CPU time of it and of the processes it has waited for."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with page.open("rb") as stdin:
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"This command failed with exit code {process.returncode}: {' '.join(command)}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", nargs="?", type=Path, default=PAGE, help="HTML file")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    measured = commands(arguments.page)
    times: dict[str, list[float]] = {name: [] for name in measured}
    for number in range(arguments.rounds + 1):
        for name, command in measured.items():
            taken = cpu_ms(command, arguments.page)
            if number:  # the first round fills the caches
                times[name].append(taken)
    bare = median(times[BARE])
    print(f"{arguments.page.name}, {arguments.page.stat().st_size:,} bytes; {arguments.rounds} rounds")
    print(f"{'command':<40} {'CPU ms':>7} {'fastest':>8} {'x bare Python':>14}")
    for name, values in times.items():
        print(f"{name:<40} {median(values):>7.0f} {min(values):>8.0f} {median(values) / bare:>14.1f}")


if __name__ == "__main__":
    main()

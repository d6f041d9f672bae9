"""Run the command of every line in docs/requirements.md against real parts, and print which requirements hold.

Usage: python scripts/check_requirements.py [NUMBER ...]; numbers such as `001` or `001.3` choose lines. Exits with 1 when a
requirement does not hold. Real parts: a site on loopback with good and bad pages, a server, a library per line, Chromium.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.requirements import commands, pages  # noqa: E402
from tests.site.sandbox import SANDBOX  # noqa: E402

DOCUMENT = ROOT / "docs/requirements.md"
LINE = re.compile(r"- (\d{3}\.\d+) (.+): `([^`]+)`")
SECONDS = 120
"""For one command; a busy machine is slow."""
AT_A_TIME = 2


class Requirement(NamedTuple):
    """One line of the document."""

    number: str
    text: str
    command: str


def read_requirements(chosen: list[str]) -> list[Requirement]:
    """Return the lines whose number starts like one of those chosen; all without a choice."""
    lines = [line for line in DOCUMENT.read_text("utf-8").splitlines() if re.match(r"- \d{3}\.", line)]
    found = []
    for line in lines:
        match = LINE.fullmatch(line)
        if match is None:
            raise SystemExit(f"Not a requirement with its command: {line}")
        found.append(Requirement(*match.groups()))
    return [one for one in found if not chosen or any(f"{one.number}.".startswith(f"{start}.") for start in chosen)]


def run(requirement: Requirement, environment: dict[str, str], folder: Path) -> str | None:
    """Run the command in its own folder; return what went wrong, or `None`."""
    own = folder / requirement.number
    pages.write_files(own)
    try:
        done = subprocess.run(
            ["bash", "-c", requirement.command],
            cwd=own,
            env={**environment, "PAGEKEEP_LIBRARY": str(own / "library.db")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"not done after {SECONDS} s"
    return None if done.returncode == 0 else f"{done.stdout[-1500:]}{done.stderr[-2500:]}\nexit code {done.returncode}"


@contextmanager
def serve(environment: dict[str, str], folder: Path) -> Iterator[str]:
    """Run a server with its own library and yield its address."""
    command = [sys.executable, "-m", "pagekeep", "serve", "--port", "0", "--library", str(folder / "server.db")]
    with (
        open(folder / "server.log", "w") as log,
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        assert process.stdout is not None
        address = process.stdout.readline().split()
        try:
            yield address[-1].rstrip("/") if address else ""
        finally:
            process.send_signal(signal.SIGINT)


def make_environment(folder: Path, site: str) -> dict[str, str]:
    """Return the variables of the commands: nothing of the user's own settings or library."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "PYTHONPATH", "TMPDIR") if name in os.environ}
    return kept | {
        "PATH": f"{folder}:{kept['PATH']}",
        "ROOT": str(ROOT),
        "SITE": site,
        "PYTHON": sys.executable,
        "PAGEKEEP_ALLOW_HOSTS": "127.0.0.1",
        "PAGEKEEP_PER_HOST_DELAY": "0",
        "PAGEKEEP_RETRIES": "0",
        "PAGEKEEP_BROWSER_SANDBOX": str(SANDBOX).lower(),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "data"),
    }


def main(chosen: list[str]) -> int:
    """Check the requirements and print a line for each; return 1 when one does not hold."""
    requirements = read_requirements(chosen)
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        caller = commands.start(folder)  # forks, so before the site starts a thread
        try:
            with pages.make_site() as site:
                environment = make_environment(folder, site.url("").rstrip("/"))
                with serve(environment, folder) as address, ThreadPoolExecutor(AT_A_TIME) as pool:
                    variables = environment | {"API": address}
                    faults = pool.map(lambda one: run(one, variables, folder), requirements)
                    for requirement, fault in zip(requirements, faults, strict=True):
                        failed += fault is not None
                        print(f"{'fails' if fault else 'holds'}  {requirement.number}  {requirement.text}", flush=True)
                        if fault:
                            print(f"       {requirement.command}\n{fault}", file=sys.stderr, flush=True)
        finally:
            os.kill(caller, signal.SIGKILL)
            os.waitpid(caller, 0)
    print(json.dumps({"requirements": len(requirements), "fail": failed}))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

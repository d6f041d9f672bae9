"""A bulk run is killed at random moments and taken up again: the output is that of an undisturbed run, byte for byte.

python -m tests.hostile.bulk_kill 20
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bulk.making import jsonl, page

PAGES = 240
PART = "20"


def _command(source: Path, out: Path, *flags: str) -> list[str]:
    code = (
        "import sys; from pathlib import Path; from pagekeep import bulk;"
        f"bulk.run(bulk.Plan(bulk.find_files([{str(source)!r}]), Path({str(out)!r}), workers=2, part_size={PART},"
        f" duplicates='near'), resume={'--resume' in flags})"
    )
    return [sys.executable, "-c", code]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}


def _digests(out: Path) -> dict[str, str]:
    files = [*out.glob("part-*"), *(out / "_accounts").iterdir()]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def attack(folder: Path, count: int, seed: int = 0) -> list[str]:
    """What differed, in this many runs that were each killed until they were through."""
    source = jsonl(folder / "pages.jsonl", [page(number % 200) for number in range(PAGES)])
    whole = folder / "whole"
    started = time.monotonic()
    subprocess.run(_command(source, whole), env=_environment(), check=True)
    took = time.monotonic() - started
    wanted, chance, faults = _digests(whole), random.Random(seed), []
    for number in range(count):
        out = folder / f"killed-{number}"
        _through(source, out, chance.uniform(0.2, 1.0) * took)
        if _digests(out) != wanted:
            faults.append(f"run {number}: other bytes")
    return faults


def _through(source: Path, out: Path, moment: float) -> None:
    """Kill the run at that moment, then let it go on to its end."""
    running = subprocess.Popen(_command(source, out), env=_environment(), start_new_session=True)
    try:
        running.wait(moment)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        begun = (out / "_run.json").exists()
        subprocess.run(_command(source, out, *(["--resume"] if begun else [])), env=_environment(), check=True)


def main() -> int:
    """The full count, from the command line."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as folder:
        faults = attack(Path(folder), count)
    print(f"{count} runs killed and taken up again, {len(faults)} faults")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

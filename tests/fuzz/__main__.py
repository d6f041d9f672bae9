"""Fuzz all targets in turn, guided by coverage, and turn what fails into cases.

    python -m tests.fuzz --minutes 5               # all targets, 5 minutes in all
    python -m tests.fuzz --minutes 2 feed warc     # these, 2 minutes in all
    python -m tests.fuzz --runs 1000 --seed 7      # this many inputs of each, the same ones every time
    python -m tests.fuzz --replay                  # the cases that were found before

Every finding is made short and written to `tests/fuzz/cases/TARGET/`, where a test replays it. Exit code 1 if there is one.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.child import shorten
from tests.fuzz.target import CASES, PLANTED, Target, load, names

MAX_ENDED = 3
"""Inputs that end the process, of one target in one run: then it is left, as more of the same would follow."""
START_SECONDS = 120
"""What a process may take beyond its search: imports, databases, and a machine that is busy."""
ROOT = Path(__file__).parents[2]
TOO_LONG = "took too long"


@dataclass
class Run:
    """What came of fuzzing one target."""

    executions: int = 0
    edges: list[int] = field(default_factory=list)
    """Places of the code that were reached: by the seeds, and at the end."""
    findings: list[str] = field(default_factory=list)
    unconfirmed: int = 0
    """Inputs that took too long once and not when they were tried again."""
    fault: str = ""
    """Why the target could not be run to its end."""


@dataclass(frozen=True)
class Child:
    """Runs `child.py` for a target, with what the target needs."""

    name: str
    target: Target
    environ: dict[str, str]

    def run(self, action: str, *arguments: object, timeout: float | None = None) -> subprocess.CompletedProcess[str]:
        """Run an action to its end."""
        command = [sys.executable, "-m", "tests.fuzz.child", action, self.name, *map(str, arguments)]
        paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
        environ = {**os.environ, **self.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}
        return subprocess.run(
            command, cwd=ROOT, env=environ, capture_output=True, text=True, errors="replace", timeout=timeout
        )


@contextmanager
def child(name: str) -> Iterator[Child]:
    """Open what a target needs until the end of the block."""
    target = load(name)
    with tempfile.TemporaryDirectory() as folder, target.opened() as environ:
        yield Child(name, target, {"TMPDIR": folder, **environ})


def fuzz(name: str, seed: int, cases: Path, *, seconds: float = 0, runs: int = 0) -> Run:
    """Fuzz a target for some seconds, or with this many inputs."""
    run, end = Run(), time.monotonic() + seconds
    with child(name) as one, tempfile.TemporaryDirectory() as folder:
        target = one.target
        corpus, seeds, found = (Path(folder) / each for each in ("corpus", "seeds", "found"))
        for each in (corpus, seeds, found):
            each.mkdir()
        for number, data in enumerate(target.seeds()):
            (seeds / f"{number:04}").write_bytes(data)
        words = Path(folder) / "words"
        words.write_text("".join(f'"{_escape(word)}"\n' for word in target.words))
        for _ in range(MAX_ENDED):
            left = max(1, round(end - time.monotonic())) if seconds else 0
            bounds = [f"-max_total_time={left}"] if seconds else [f"-runs={max(1, runs - run.executions)}"]
            options = [
                *bounds,
                f"-seed={seed + run.executions}",
                f"-timeout={target.seconds}",
                f"-rss_limit_mb={target.megabytes}",
                f"-max_len={target.max_bytes}",
                f"-artifact_prefix={found}/",
                *([f"-dict={words}"] if target.words else []),
                corpus,
                seeds,
                *([CASES / name] if (CASES / name).is_dir() else []),
            ]
            done = one.run("search", found, *options)
            _count(run, done.stderr)
            known = len(run.findings)
            ended = _collect(run, one, found, cases)
            if done.returncode and not ended:
                run.fault = done.stderr[-2_000:]
            # A process that was ended by a new finding starts again, from what it has found.
            is_over = end - time.monotonic() < 2 if seconds else run.executions >= runs
            if not done.returncode or run.fault or is_over or known == len(run.findings) > 0:
                break
    return run


def _escape(word: bytes) -> str:
    return "".join(chr(code) if 32 < code < 127 and code not in b'"\\' else f"\\x{code:02x}" for code in word)


def _count(run: Run, log: str) -> None:
    numbers = [int(number) for number in re.findall(r"^#(\d+)", log, re.MULTILINE)]
    run.executions += max(numbers, default=0)
    edges = [int(number) for number in re.findall(r"^#\d+\s+(?:INITED|DONE|NEW|REDUCE|pulse)\s+cov: (\d+)", log, re.M)]
    run.edges = [*run.edges[:1], *edges[:1], max([*edges, *run.edges], default=0)][-2:] if edges else run.edges


def _collect(run: Run, one: Child, found: Path, cases: Path) -> bool:
    """Make cases of what was found; return whether one of these ended the process."""
    ended = False
    for file in sorted(path for path in found.iterdir() if path.suffix != ".txt"):
        if file.name.startswith("raised-"):
            sign = one.run("minimise", file).stdout.strip().rpartition("\n")[2]
        else:
            ended = True
            sign = _confirm(one, file)
        if sign:
            finding = f"{sign}: {keep(cases / one.name, file.read_bytes())}"
            run.findings += [finding] if finding not in run.findings else []
        else:
            run.unconfirmed += 1
        file.unlink()
    return ended


def _confirm(one: Child, file: Path) -> str:
    """Try an input that ended the process again, with its own limits; make it shorter, and return how it ends that one."""

    def ending(data: bytes) -> str:
        file.write_bytes(data)
        try:
            done = one.run("replay", file, timeout=START_SECONDS + 10 * one.target.seconds)
        except subprocess.TimeoutExpired:
            return TOO_LONG
        if done.returncode < 0:
            return TOO_LONG if done.returncode == -signal.SIGXCPU else "crashed"
        sign = done.stdout.strip().rpartition("\n")[2] if done.returncode else ""
        return "took too much memory" if sign.startswith("MemoryError") else sign

    data = file.read_bytes()
    if not (how := ending(data)):
        return ""
    file.write_bytes(shorten(data, lambda part: ending(part) == how, tries=8, seconds=10 * one.target.seconds))
    return how


def keep(folder: Path, data: bytes) -> Path:
    """Write a case under the name of its content."""
    folder.mkdir(parents=True, exist_ok=True)
    case = folder / hashlib.sha1(data).hexdigest()[:12]
    case.write_bytes(data)
    return case


def replay(name: str, files: Iterable[Path]) -> subprocess.CompletedProcess[str]:
    """Try cases of a target again, in one process under its limits."""
    with child(name) as one:
        return one.run("replay", *files)


def replay_all(cases: Path) -> bool:
    """Try all cases again; return whether one fails."""
    failed = False
    for name in names():
        files = sorted(path for path in (cases / name).glob("*") if path.is_file())
        if files:
            done = replay(name, files)
            failed = failed or done.returncode != 0
            print(f"{name:12} {len(files):4} cases{' FAILED' if done.returncode else ''}")
            print(*([done.stdout[-2_000:], done.stderr[-4_000:]] if done.returncode else []), end="")
    return failed


def main(arguments: list[str]) -> int:
    """Fuzz, and print a line per target."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("targets", nargs="*", choices=[*names(), *PLANTED, []], help="all by default")
    parser.add_argument("--minutes", type=float, default=5, help="for all targets together")
    parser.add_argument("--runs", type=int, default=0, help="inputs per target, instead of minutes")
    parser.add_argument("--seed", type=int, default=0, help="of the search; by default another one each time")
    parser.add_argument("--cases", type=Path, default=CASES, help="where findings are written")
    parser.add_argument("--replay", action="store_true", help="only try the cases again")
    given = parser.parse_args(arguments)
    if given.replay:
        return int(replay_all(given.cases))
    chosen = given.targets or names()
    seed = given.seed or random.SystemRandom().randrange(1, 1_000_000_000)
    share = 0 if given.runs else given.minutes * 60 / len(chosen)
    print(
        f"seed {seed}: {len(chosen)} targets, " + (f"{given.runs} inputs each" if given.runs else f"{share:.0f} s each")
    )
    failed = False
    for name in chosen:
        run = fuzz(name, seed, given.cases, seconds=share, runs=given.runs)
        failed = failed or bool(run.findings or run.fault)
        reached = " to ".join(map(str, run.edges))
        doubt = f", {run.unconfirmed} slow once" if run.unconfirmed else ""
        print(
            f"{name:12} {run.executions:10,} inputs, {reached} edges, {len(run.findings)} findings{doubt}", flush=True
        )
        for line in [*run.findings, *([run.fault] if run.fault else [])]:
            print(f"    {line}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

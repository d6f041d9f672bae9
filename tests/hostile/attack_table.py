"""Attack a server in each way that once took its own process, beside 20 readers who must not notice.

    python -m tests.hostile.attack_table [SECONDS] [--rows selection,code] [--readers 20] [--connections 4]

A real server with accounts and a library of some hundred items. For every row of the table: readers alone, readers beside the
attack in a loop for SECONDS (60), readers alone again. Goals: the 95th percentile of each action of a reader is at most 3 times
that alone, no reader sees an error, and the memory of the server is at any time at most 100 MB more than the most it had beside
the readers alone (two passwords that are checked at once take 130 MB), and some seconds after the attack at most 30 MB more
than before it; with its workers at most 100 MB more, as they keep what they have loaded. Readers, attackers and the server each have their own processes, but share the processors of this machine: the
report has how much of them the server, its workers and everything else used.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from tests.hostile.attack.machine import Memory, Peak, Times, memory, rested_memory, times, wait_for_rest
from tests.hostile.attack.place import Place, prepare
from tests.hostile.attack.readers import ACTIONS, Readers, Seen
from tests.hostile.attack.rows import PAGES, ROWS, Row, Target
from tests.hostile.server import Served, served
from tests.site.server import Site

MAX_RATIO: Final = 3.0
MAX_PEAK_MEGABYTES: Final = 100.0
MAX_GROWTH_MEGABYTES: Final = 30.0
MAX_TREE_MEGABYTES: Final = 100.0
SETTLE_SECONDS: Final = 60.0
"""At most, after an attack, for work that is under way to end: each page may take its limits, with the lowest priority."""
_SPAWN: Final = multiprocessing.get_context("spawn")


@dataclass
class Outcome:
    """What one attack did."""

    row: str
    alone: Seen = field(default_factory=Seen)
    attacked: Seen = field(default_factory=Seen)
    answers: Counter[str] = field(default_factory=Counter)
    before: Memory = field(default_factory=lambda: Memory(0, 0))
    calm_peak: Memory = field(default_factory=lambda: Memory(0, 0))
    """The most memory beside the readers alone."""
    peak: Memory = field(default_factory=lambda: Memory(0, 0))
    after: Memory = field(default_factory=lambda: Memory(0, 0))
    used: tuple[Times, Times] | None = None
    """Processor time alone and under attack, of each second."""

    def ratios(self) -> dict[str, float]:
        """Return the 95th percentile under attack, against alone, for each action."""
        return {
            action: late(self.attacked.waits[action]) / late(self.alone.waits[action])
            for action in ACTIONS
            if len(self.alone.waits[action]) > 1 and len(self.attacked.waits[action]) > 1
        }

    def faults(self, *, timed: bool = True) -> list[str]:
        """Return the goals that were missed; without `timed`, not those that need long phases."""
        slow = [f"{action} {ratio:.1f} times" for action, ratio in self.ratios().items() if ratio > MAX_RATIO]
        errors = [f"{count} x {fault}" for fault, count in (self.alone.errors + self.attacked.errors).items()]
        sizes = {
            "at a time": (self.peak.main - self.calm_peak.main if timed else 0, MAX_PEAK_MEGABYTES),
            "afterwards": (self.after.main - self.before.main, MAX_GROWTH_MEGABYTES),
            "afterwards with workers": (self.after.tree - self.before.tree, MAX_TREE_MEGABYTES),
        }
        grown = [f"{size:+.0f} MB {when}" for when, (size, limit) in sizes.items() if size > limit]
        return [*(slow if timed else ()), *errors, *grown]


def late(waits: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return quantiles(waits, n=20)[-1]


class Attack:
    """The rows in another process, which attacks in threads until it is stopped."""

    def __init__(self, server: str, place: Place, connections: int) -> None:
        self._here, there = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_attack, args=(server, place, connections, there), daemon=True)

    def __enter__(self) -> Attack:
        self._process.start()
        self._here.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()

    def begin(self, row: Row) -> None:
        """Start to attack."""
        self._here.send(row.name)

    def end(self) -> Counter[str]:
        """Stop; return the answers by status."""
        self._here.send("")
        answers: Counter[str] = self._here.recv()
        return answers


def _attack(server: str, place: Place, connections: int, pipe: Any) -> None:
    """Run in the attackers' process: for each row named, send it in a loop until an empty name arrives."""
    with Site(PAGES) as site:
        target = Target(server, site.url("").rstrip("/"), place)
        rows = {row.name: row for row in ROWS}
        pipe.send("ready")
        while True:
            row = rows[pipe.recv()]
            answers: Counter[str] = Counter()
            ending = threading.Event()
            number = row.connections or connections
            arguments = [(row, target, first, number, ending, answers) for first in range(number)]
            for one in arguments:
                threading.Thread(target=_repeat, args=one, daemon=True).start()
            pipe.recv()
            ending.set()
            pipe.send(answers)


def _repeat(row: Row, target: Target, first: int, step: int, ending: threading.Event, answers: Counter[str]) -> None:
    number = first
    while not ending.is_set():
        answers["sent"] += 1
        answers[row.send(target, number)] += 1
        number += step


@dataclass(frozen=True)
class Phases:
    """Seconds of each part of a row."""

    attack: float = 60.0
    alone: float = 15.0
    """Before the attack, and after it."""
    settle: float = SETTLE_SECONDS


def measure(row: Row, server: Served, readers: Readers, attack: Attack, phases: Phases) -> Outcome:
    """Attack with one row, between two times without an attack."""
    outcome, pid = Outcome(row.name), server.process.pid
    start = times(pid)
    calm_peak, peak = Peak(), Peak()
    with calm_peak.watch(pid):
        outcome.alone.add(readers.run(phases.alone))
    calm, outcome.before, outcome.calm_peak = times(pid).since(start), memory(pid), calm_peak.memory
    with peak.watch(pid):
        start = times(pid)
        attack.begin(row)
        outcome.attacked.add(readers.run(phases.attack))
        outcome.answers = attack.end()
        busy = times(pid).since(start)
    outcome.peak = peak.memory
    outcome.used = calm.each_second(), busy.each_second()
    wait_for_rest(pid, phases.settle)
    outcome.alone.add(readers.run(phases.alone))
    wait_for_rest(pid, phases.settle)
    before = outcome.before
    limit = Memory(before.main + MAX_GROWTH_MEGABYTES, before.tree + MAX_TREE_MEGABYTES)
    outcome.after = rested_memory(pid, limit, phases.settle)
    return outcome


def show(outcome: Outcome) -> None:
    """Print one row."""
    faults = outcome.faults()
    print(f"{'FAIL' if faults else 'ok  '} {outcome.row:15} {', '.join(faults)}")
    for action in ACTIONS:
        alone, attacked = outcome.alone.waits[action], outcome.attacked.waits[action]
        if len(alone) < 2 or len(attacked) < 2:
            continue
        print(
            f"     {action:8} p50 {1000 * median(alone):6.0f} -> {1000 * median(attacked):6.0f} ms, "
            f"p95 {1000 * late(alone):6.0f} -> {1000 * late(attacked):6.0f} ms: "
            f"{late(attacked) / late(alone):5.1f} times, {len(alone)} and {len(attacked)} requests"
        )
    answers = dict(outcome.answers)
    print(f"     attacks {answers.pop('sent', 0)}, answered {answers}")
    before, peak, after = outcome.before, outcome.peak, outcome.after
    print(
        f"     memory {before.main:.0f} -> {after.main:.0f} MB (most {outcome.calm_peak.main:.0f} -> {peak.main:.0f}), "
        f"with workers {before.tree:.0f} -> {after.tree:.0f} MB (most {peak.tree:.0f})"
    )
    if outcome.used:
        for name, used in zip(("alone", "attacked"), outcome.used, strict=True):
            print(
                f"     processors {name:8}: server {used.server:.2f}, its workers {used.tree - used.server:.2f}, all else "
                f"{used.machine - used.tree:.2f}; the server waited {used.wait:.2f} s a second for one"
            )
    sys.stdout.flush()


def run(
    names: Sequence[str], phases: Phases, *, readers: int = 20, connections: int = 4, pause: float = 1.0
) -> list[Outcome]:
    """Attack a new server with these rows; print and return what each did."""
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library.db"
        place = prepare(library, readers)
        settings = {"allow_hosts": "127.0.0.1", "per_host_delay": "0", "render": "never", "rules": f"{folder}/rules"}
        with (
            served(library, "--shared", "--log-level", "error", **settings) as server,
            Attack(server.address, place, connections) as attack,
        ):
            people = Readers(server.address, place.readers, pause)
            people.warm_up()
            for row in ROWS:
                if row.name in names:
                    outcomes.append(measure(row, server, people, attack, phases))
                    show(outcomes[-1])
                    assert server.process.poll() is None, "the server has ended"
    return outcomes


def main() -> int:
    """Return the number of rows with a missed goal."""
    every = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float, nargs="?", default=60.0)
    parser.add_argument("--alone", type=float, default=15.0, help="Seconds without an attack, before and after it.")
    parser.add_argument("--rows", type=lambda names: names.split(","), default=every, help=", ".join(every))
    parser.add_argument("--readers", type=int, default=20)
    parser.add_argument("--connections", type=int, default=4, help="Attacks at the same time.")
    asked = parser.parse_args()
    phases = Phases(asked.seconds, asked.alone)
    outcomes = run(asked.rows, phases, readers=asked.readers, connections=asked.connections)
    missed = [outcome.row for outcome in outcomes if outcome.faults()]
    print(f"{len(outcomes)} rows, {len(missed)} with missed goals: {', '.join(missed) or 'none'}")
    return len(missed)


if __name__ == "__main__":
    sys.exit(main())

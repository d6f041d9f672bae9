"""Compare texts that line differences are slow on (H5).

Run: `python -m tests.hostile.diff_work [LINES]`. Every pair is compared in a worker room within the limits of a server, and
must give lines. The exit code is the number of pairs that did not.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final

from pagekeep.errors import PagekeepError
from pagekeep.present.tasks import CompareTask
from pagekeep.workers import TEXT, Room

LINES: Final = 20_000
Pair = tuple[list[str], list[str]]


def _shuffled(lines: list[str], seed: int) -> list[str]:
    copied = list(lines)
    random.Random(seed).shuffle(copied)
    return copied


def _repeat(lines: list[str], count: int) -> list[str]:
    return (lines * (count // len(lines) + 1))[:count]


def _numbers(count: int) -> list[str]:
    return [f"line {number}" for number in range(count)]


PAIRS: Final[dict[str, Callable[[int], Pair]]] = {
    "equal lines, one more": lambda n: (["x"] * n, ["x"] * (n + 1)),
    "equal lines, half as many": lambda n: (["x"] * n, ["x"] * (n // 2)),
    "two lines in turn, the other way round": lambda n: (_repeat(["a", "b"], n), _repeat(["b", "a"], n)),
    "two lines in turn, three in turn": lambda n: (_repeat(["a", "b"], n), _repeat(["a", "b", "a"], n)),
    "nothing in common": lambda n: (_numbers(n), [f"other {one}" for one in _numbers(n)]),
    "reversed": lambda n: (_numbers(n), _numbers(n)[::-1]),
    "shuffled": lambda n: (_numbers(n), _shuffled(_numbers(n), 1)),
    "every second line changed": lambda n: (
        _numbers(n),
        [f"{line}{'!' * (i % 2)}" for i, line in enumerate(_numbers(n))],
    ),
    "every second line removed": lambda n: (_numbers(n), _numbers(n)[::2]),
    "moved by half": lambda n: (_numbers(n), _numbers(n)[n // 2 :] + _numbers(n)[: n // 2]),
    "ten lines in random order": lambda n: (
        [str(random.Random(i).randrange(10)) for i in range(n)],
        [str(random.Random(n + i).randrange(10)) for i in range(n)],
    ),
    "each line twice, shuffled": lambda n: (_repeat(_numbers(n // 2), n), _shuffled(_repeat(_numbers(n // 2), n), 2)),
    "blank lines between unique ones": lambda n: (
        [line for one in _numbers(n // 2) for line in (one, "")],
        [line for one in _shuffled(_numbers(n // 2), 3) for line in (one, "")],
    ),
    "list items": lambda n: (["- item"] * n, ["- item", "- other"] * (n // 2)),
    "a table row and its separator": lambda n: (_repeat(["| a |", "|---|"], n), _repeat(["|---|", "| a |"], n + 1)),
    "blocks of 51 equal lines": lambda n: (
        [f"{i // 51}" for i in range(n)],
        [f"{i // 51}" for i in range(n)][25:] + ["end"] * 25,
    ),
    "a unique line in the middle": lambda n: (["x"] * n + ["mid"] + ["y"] * n, ["y"] * n + ["mid"] + ["x"] * n),
    "one line against many": lambda n: (["x"], ["x"] * n),
    "very long equal lines": lambda n: (["x" * 5_000] * (n // 100), ["x" * 5_000] * (n // 100) + ["y"]),
    "long lines with a late difference": lambda n: (
        [f"{'x' * 5_000}{i}" for i in range(n // 100)],
        [f"{'x' * 5_000}{i + 1}" for i in range(n // 100)],
    ),
}


def attack(count: int, names: Iterator[str] | None = None) -> list[str]:
    """Compare every pair; return what is wrong."""
    faults = []
    room = Room(1)
    try:
        for name in names or PAIRS:
            before, after = PAIRS[name](count)
            started = time.monotonic()
            try:
                changed = room.run_blocking(CompareTask("\n".join(before), "\n".join(after)), TEXT)
            except PagekeepError as error:
                faults.append(f"{name}: {error.message}")
                continue
            print(f"{name:45} {time.monotonic() - started:6.2f} s {len(changed):7} lines", flush=True)
            if not changed:
                faults.append(f"{name}: no difference")
    finally:
        room.close()
    return faults


def main() -> int:
    """Attack with pairs of this many lines."""
    faults = attack(int(sys.argv[1]) if len(sys.argv) > 1 else LINES)
    print(f"{len(PAIRS)} pairs, {len(faults)} faults", *faults, sep="\n  ")
    return len(faults)


if __name__ == "__main__":
    sys.exit(main())

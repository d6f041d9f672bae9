"""Documents and bombs of every kind, read by forks of a process that has mapped 3 GB.

`python -m tests.hostile.big_process [--full] [KIND...]`; without `--full`, no bombs.

Every sound document is read, every bomb gives a page or a typed error, and no worker takes more than its limit of 1 GB.
"""

from __future__ import annotations

import mmap
import resource
import sys
from collections import Counter

import pagekeep
from pagekeep.errors import PagekeepError
from pagekeep.workers import DOCUMENT
from pagekeep.workers.heap import address_space
from tests.hostile.documents import KINDS


def attack(kinds: list[str], *, with_bombs: bool) -> tuple[list[str], Counter[str]]:
    """Return the faults, and how often each outcome came."""
    mapped = mmap.mmap(-1, 3_000_000_000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    assert address_space() > len(mapped)
    faults, outcomes = [], Counter[str]()
    for kind in kinds:
        for number, original in enumerate(KINDS[kind].originals()):
            outcome = _read(original)
            outcomes[outcome] += 1
            if outcome not in ("article", "simplified"):
                faults.append(f"{kind} {number}: {outcome}")
        for name, data in KINDS[kind].bombs() if with_bombs else ():
            outcome = _read(data)
            outcomes[outcome] += 1
            if "unexpectedly" in outcome:
                faults.append(f"{kind}, {name}: {outcome}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    outcomes["MB in the largest worker"] = peak // 1_000_000
    # Resident memory also counts what a fork shares with this process, most of it modules: at most 300 MB.
    if peak > DOCUMENT.megabytes * 1_000_000 + 300_000_000:
        faults.append(f"a worker took {peak / 1e6:.0f} MB")
    return faults, outcomes


def _read(data: bytes) -> str:
    try:
        return pagekeep.extract(data).quality.level
    except PagekeepError as error:
        return f"{error.type}: {error.message}"


if __name__ == "__main__":
    chosen = [one for one in sys.argv[1:] if one in KINDS] or list(KINDS)
    found, counts = attack(chosen, with_bombs="--full" in sys.argv)
    for line, times in counts.most_common():
        print(f"{times:5} {line}")
    print(f"{len(found)} faults", *found, sep="\n")
    sys.exit(bool(found))

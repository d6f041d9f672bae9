"""The process in which a target runs: `__main__.py` starts it, and reads what it writes.

    python -m tests.fuzz.child search TARGET FOLDER LIBFUZZER_OPTION...
    python -m tests.fuzz.child replay TARGET FILE...
    python -m tests.fuzz.child minimise TARGET FILE

`search` writes every input that raises to FOLDER, one per signature, and goes on; libFuzzer itself writes those that end the
process (crash, time, memory). `replay` and `minimise` run under limits; the last line is the signature of the finding.
"""

from __future__ import annotations

import hashlib
import resource
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.target import Target, load, signature

MINIMISE_SECONDS = 60
MINIMISE_TRIES = 5_000


def search(name: str, folder: Path, options: list[str]) -> None:
    """Search until libFuzzer's limits of time or number are reached; it ends the process itself."""
    import atheris

    # Modules that are imported later, inside of functions, are instrumented too.
    with atheris.instrument_imports(include=["pagekeep", "feedparser", "warcio", "tests.fuzz"]):
        target = load(name)
        # A process that goes on where another ended does not report the same again.
        found = {file.read_text().rstrip("\n").rpartition("\n")[2] for file in folder.glob("*.txt")}

        def run(data: bytes) -> None:
            try:
                target.check(data)
            except Exception as error:
                sign = signature(error)
                if sign not in found:
                    found.add(sign)
                    path = folder / f"raised-{hashlib.sha1(data).hexdigest()[:12]}"
                    path.write_bytes(data)
                    path.with_suffix(".txt").write_text(f"{traceback.format_exc()}\n{sign}\n")

        atheris.Setup([name, *options], run)
        atheris.Fuzz()


def limit(target: Target) -> None:
    """Bound the CPU of all tries together, and the memory beyond what the process has now."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    size = mapped + target.megabytes * 1_000_000
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def allow_seconds(seconds: int) -> None:
    """Let the process end by SIGXCPU when it takes this much CPU from now on."""
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + 1 + seconds, resource.RLIM_INFINITY))


def outcome(target: Target, data: bytes, *, show: bool = False) -> str:
    """Return the signature of what an input raises; empty for none."""
    allow_seconds(target.seconds)
    try:
        target.check(data)
    except Exception as error:
        if show:
            traceback.print_exc()
        return signature(error)
    return ""


def replay(name: str, files: list[Path]) -> int:
    """Try inputs under the limits; return 1 if one of them raises."""
    target = load(name)
    limit(target)
    signs = []
    for file in files:
        print(file, flush=True)  # the last one printed is the one that ends the process
        signs.append(outcome(target, file.read_bytes(), show=True))
    print("".join(f"{sign}\n" for sign in signs if sign), end="")
    return int(any(signs))


def minimise(name: str, file: Path) -> int:
    """Replace an input that raises by a shorter one with the same signature."""
    target, data = load(name), file.read_bytes()
    limit(target)
    wanted = outcome(target, data)
    if not wanted:
        return 0
    data = shorten(data, lambda shorter: outcome(target, shorter) == wanted, MINIMISE_TRIES, MINIMISE_SECONDS)
    file.write_bytes(data)
    print(outcome(target, data, show=True))
    return 1


def shorten(data: bytes, fails: Callable[[bytes], bool], tries: int, seconds: float) -> bytes:
    """Return a part of the input that still fails: pieces are left out, large ones first, as long as limits allow."""
    end, size = time.monotonic() + seconds, max(1, len(data) // 2)
    while True:
        place, before = 0, len(data)
        while place < len(data):
            if tries <= 0 or time.monotonic() > end:
                return data
            tries -= 1
            shorter = data[:place] + data[place + size :]
            if fails(shorter):
                data = shorter
            else:
                place += size
        if size > 1:
            size //= 2
        elif len(data) == before:
            return data


def main(action: str, name: str, *arguments: str) -> int:
    """Run the action."""
    if action == "search":
        search(name, Path(arguments[0]), list(arguments[1:]))
        return 0
    if action == "replay":
        return replay(name, [Path(file) for file in arguments])
    return minimise(name, Path(arguments[0]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

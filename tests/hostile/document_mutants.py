"""K1: mutated and hand-made documents are read in a worker: no crash of ours, a page or a typed error each, within limits.

python -m tests.hostile.document_mutants [COUNT] [TYPE...] [--seeds] [--no-bombs]

Without types, all of them (`tests.hostile.documents`). `--seeds` also reads the mutants under another hash seed, and compares.
"""

from __future__ import annotations

import hashlib
import os
import random
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

from pagekeep.capture.extract import ReadTask, as_fetched
from pagekeep.config import Settings
from pagekeep.errors import PagekeepError
from pagekeep.model import Options, Page
from pagekeep.workers import DOCUMENT, Worker
from pagekeep.workers.task import open_result, run_sealed, seal
from tests.hostile.documents import KINDS


class Reader:
    """Reads files in one worker, as the server does."""

    def __init__(self) -> None:
        self._worker = Worker(f"{run_sealed.__module__}:{run_sealed.__name__}", DOCUMENT)
        self.digest = hashlib.sha256()

    def read(self, data: bytes) -> str:
        """Return what became of a file: a level, or the type of its error."""
        try:
            sealed = seal(ReadTask.prepare(as_fetched(data, None, Options()), Options(), Settings()), DOCUMENT)
            ((result, error),) = self._worker.run([sealed], DOCUMENT)
            page = open_result(ReadTask, result, error)
        except PagekeepError as failure:
            return f"{failure.type}: {failure.message}"
        assert isinstance(page, Page)
        self.digest.update(page.markdown.encode("utf-8", "surrogatepass"))
        self.digest.update(repr(page.metadata).encode("utf-8", "surrogatepass"))
        return page.caught.kind if page.caught else page.quality.level

    def close(self) -> None:
        self._worker.close()


def files(kind: str, count: int, *, with_bombs: bool) -> Iterator[tuple[str, bytes]]:
    """Yield mutants of a type and, if wanted, bombs, with their names."""
    about = KINDS[kind]
    originals = about.originals()
    for number in range(count):
        yield f"mutant {number}", about.mutate(originals[number % len(originals)], random.Random(number))
    if with_bombs:
        yield from about.bombs()


def check(kind: str, count: int, *, with_bombs: bool = True) -> tuple[Counter[str], str]:
    """Read mutants and bombs; return how often each outcome came, and a digest of the mutants' texts.

    Raise `AssertionError` for one that is a bug of ours.
    """
    reader, outcomes, digest = Reader(), Counter[str](), ""
    try:
        for original in KINDS[kind].originals():
            assert reader.read(original) in ("article", "simplified")
        for name, data in files(kind, count, with_bombs=with_bombs):
            is_mutant = name.startswith("mutant")
            digest = digest if is_mutant else digest or reader.digest.hexdigest()
            outcome = reader.read(data)
            assert "unexpectedly" not in outcome, f"{kind}, {name}: {outcome}"
            outcomes[outcome if is_mutant else f"{name}: {outcome}"] += 1
    finally:
        reader.close()
    return outcomes, digest or reader.digest.hexdigest()


def main(arguments: list[str]) -> int:
    """Check the types; return 1 if two hash seeds give different texts."""
    count = next((int(one) for one in arguments if one.isdecimal()), 500)
    kinds = [one for one in arguments if one in KINDS] or list(KINDS)
    differ = False
    for kind in kinds:
        outcomes, digest = check(kind, count, with_bombs="--no-bombs" not in arguments)
        print(f"{kind}: {count} mutants, {outcomes.total() - count} bombs, digest {digest[:16]}")
        for outcome, times in outcomes.most_common():
            print(f"{times:5} {outcome}")
        if "--seeds" in arguments:
            command = [sys.executable, "-m", "tests.hostile.document_mutants", str(count), kind, "--no-bombs"]
            seeded = {**os.environ, "PYTHONHASHSEED": "12345"}
            again = subprocess.run(command, env=seeded, capture_output=True, text=True, check=True)
            is_same = f"digest {digest[:16]}" in again.stdout
            differ = differ or not is_same
            print(f"      under another hash seed: {'the same' if is_same else 'DIFFERENT'}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
    print(f"the largest worker took {peak:.0f} MB")
    return int(differ)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

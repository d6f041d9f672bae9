"""K1: mutated and hand-made PDF files are read in a worker: no crash of ours, a page or a typed error each, within limits.

python -m tests.hostile.pdf_mutants [COUNT]
"""

from __future__ import annotations

import random
import resource
import sys
from collections import Counter

from pagekeep.capture.documents.read import DocumentTask
from pagekeep.errors import PagekeepError
from pagekeep.model import Options, Page
from pagekeep.workers import DOCUMENT, Worker
from pagekeep.workers.task import open_result, run_sealed, seal
from tests.capture.documents.tiny_pdf import TinyPage, make_pdf
from tests.hostile.bombs.pdf import WORDS, bombs


def originals() -> list[bytes]:
    """Return sound files of several shapes."""
    table = TinyPage().paragraph(WORDS, 60, 60)
    table.rules += [(60, 200 + y * 20, 300, 200 + y * 20) for y in range(4)] + [
        (60 + x * 120, 200, 60 + x * 120, 260) for x in range(3)
    ]
    for row in range(3):
        table.write(f"Boat {row}", 64, 214 + row * 20).write(f"{row} m", 184, 214 + row * 20)
    columns = TinyPage()
    for number in range(20):
        columns.write("left word word word word word", 60, 100 + 12 * number).write(
            "right word word word", 310, 100 + 12 * number
        )
    linked = TinyPage().paragraph(WORDS, 60, 100).write("code()", 60, 160, 9, "F3").write("Title", 60, 60, 20, "F2")
    linked.links.append((58, 90, 104, 104, "https://example.com/h"))
    info = {"Title": "The harbour", "Author": "Ann Lee", "CreationDate": "D:20250101000000Z"}
    return [make_pdf([table]), make_pdf([columns, linked, table], info), make_pdf([linked] * 5)]


def mutate(data: bytes, pick: random.Random) -> bytes:
    """Return the file with some bytes changed, repeated, dropped, or numbers made huge."""
    out = bytearray(data)
    for _ in range(pick.choice((1, 3, 10, 40))):
        place = pick.randrange(8, len(out))
        kind = pick.randrange(6)
        if kind == 0:
            out[place] = pick.randrange(256)
        elif kind == 1:
            del out[place : place + pick.randrange(1, 60)]
        elif kind == 2:
            start = pick.randrange(len(out))
            out[place:place] = out[start : start + pick.randrange(200)]
        elif kind == 3:
            out[place : place + 1] = pick.choice((b"99999999999", b"-1", b"1e30", b"0", b"nan", b"(((", b"<<", b"]"))
        elif kind == 4:
            out[place:place] = bytes(pick.randrange(256) for _ in range(8))
        else:
            del out[pick.randrange(len(out) // 2, len(out)) :]
        if len(out) < 20:
            break
    return bytes(out)


class Reader:
    """Reads files in one worker, as the server does."""

    def __init__(self) -> None:
        self._worker = Worker(f"{run_sealed.__module__}:{run_sealed.__name__}", DOCUMENT)

    def read(self, data: bytes) -> str:
        """Return what became of a file: a level, or the type of its error."""
        sealed = seal(DocumentTask(data, None, Options()), DOCUMENT)
        ((result, error),) = self._worker.run([sealed], DOCUMENT)
        try:
            page = open_result(result, error)
        except PagekeepError as failure:
            return f"{failure.type}: {failure.message}"
        assert isinstance(page, Page)
        return page.caught.kind if page.caught else page.quality.level

    def close(self) -> None:
        self._worker.close()


def check(count: int, *, with_bombs: bool = True) -> Counter[str]:
    """Read mutants and bombs; return how often each outcome came. Raise `AssertionError` for one that is a bug of ours."""
    reader, outcomes = Reader(), Counter[str]()
    files = originals()
    try:
        for number in range(count):
            outcome = reader.read(mutate(files[number % len(files)], random.Random(number)))
            assert "unexpectedly" not in outcome, f"mutant {number}: {outcome}"
            outcomes[outcome] += 1
        for name, data in bombs() if with_bombs else ():
            outcome = reader.read(data)
            assert "unexpectedly" not in outcome, f"{name}: {outcome}"
            outcomes[f"{name}: {outcome}"] += 1
    finally:
        reader.close()
    return outcomes


if __name__ == "__main__":
    for outcome, times in check(int(sys.argv[1]) if len(sys.argv) > 1 else 500).most_common():
        print(f"{times:5} {outcome}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
    print(f"the largest worker took {peak:.0f} MB")

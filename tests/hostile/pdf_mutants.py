"""K1: mutated and hand-made PDF files are read in a worker: no crash of ours, a page or a typed error each, within limits.

python -m tests.hostile.pdf_mutants [COUNT]
"""

from __future__ import annotations

import random
import resource
import sys
import zlib
from collections import Counter
from collections.abc import Iterator

from pagekeep.capture.documents.read import DocumentTask
from pagekeep.errors import PagekeepError
from pagekeep.model import Options, Page
from pagekeep.workers import DOCUMENT, Worker
from pagekeep.workers.task import open_result, run_sealed, seal
from tests.capture.documents.tiny_pdf import TinyPage, make_pdf

WORDS = ["The harbour lies north of the town and is older than", "its walls, as the maps of the first keepers show."]


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


def bombs() -> Iterator[tuple[str, bytes]]:
    """Yield files made to take time or memory."""
    yield "many texts", make_pdf([TinyPage(raw="BT /F1 9 Tf 10 10 Td (x) Tj ET " * 100_000)])
    yield "many rules", make_pdf([TinyPage(raw="0 0 m 100 100 l S " * 200_000).paragraph(WORDS, 60, 100)])
    yield "one long path", make_pdf([TinyPage(raw="0 0 m " + "1 1 l " * 500_000 + "S").paragraph(WORDS, 60, 100)])
    yield "nested states", make_pdf([TinyPage(raw="q " * 300_000).paragraph(WORDS, 60, 100)])
    yield "huge type", make_pdf([TinyPage().write("harbour", 10, 10, 1e9)])
    yield "tiny type", make_pdf([TinyPage().write("harbour " * 1000, 10, 10, 1e-9)])
    yield "far away", make_pdf([TinyPage().write("harbour", 1e30, -1e30)])
    yield "grid", make_pdf([_grid(120)])
    yield "many links", make_pdf([_links(5_000)])
    yield "many pages", make_pdf([TinyPage().paragraph(WORDS, 60, 100)] * 3_000)
    yield "looping pages", make_pdf([TinyPage()]).replace(b"/Kids[", b"/Kids[2 0 R ")
    packed = zlib.compress(b"BT /F1 9 Tf (harbour) Tj ET " * 4_000_000, 9)
    body = b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed)
    yield (
        "packed content",
        make_pdf([TinyPage()])
        .replace(b"<</Length 1>>stream\n\n\nendstream", body)
        .replace(b"<</Length 0>>stream\n\nendstream", body),
    )


def _grid(count: int) -> TinyPage:
    page = TinyPage().paragraph(WORDS, 60, 100)
    page.rules += [(0, y * 6, 590, y * 6) for y in range(count)] + [(x * 4, 0, x * 4, 800) for x in range(count)]
    return page


def _links(count: int) -> TinyPage:
    page = TinyPage().paragraph(WORDS * 30, 60, 100)
    page.links += [(0, 0, 590, 840, f"https://example.com/{number}") for number in range(count)]
    return page


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

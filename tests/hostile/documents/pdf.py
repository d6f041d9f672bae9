"""PDF files under attack."""

from __future__ import annotations

from tests.capture.documents.tiny_pdf import TinyPage, make_pdf
from tests.hostile.bombs.pdf import WORDS, bombs
from tests.hostile.documents.kind import Kind


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


KIND = Kind(originals, bombs)

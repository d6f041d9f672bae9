"""PDF files with what programs put into them: passwords, XMP, outlines, turned pages, forms, structure trees."""

from __future__ import annotations

import re

import pytest

from pagekeep.capture.documents.file_types import detect
from pagekeep.capture.documents.read import read_document
from pagekeep.model import Options, Page
from tests.hostile.bombs.pdf import FONT, one_page, plain, write

LINES = [
    "The harbour lies north of the town and is older than its walls, as the",
    "maps of the first keepers show; they drew the pier, the two lights and",
    "the long shed in which the nets were dried when the weather was bad.",
]
TEXT = " ".join(LINES)


def read(data: bytes) -> Page:
    found = detect(data)
    assert found is not None
    return read_document(found, data, None, Options())


def show(lines: list[str], x: float = 60, y: float = 700, size: float = 10) -> bytes:
    """Return operators that show lines below each other; `y` from the bottom."""
    parts = [f"BT /F1 {size} Tf 1 0 0 1 {x} {y - 12 * number} Tm ({line}) Tj ET" for number, line in enumerate(lines)]
    return "\n".join(parts).encode()


def mark(tag: str, number: int, content: bytes) -> bytes:
    """Return marked content."""
    return b"/%s<</MCID %d>>BDC %s EMC\n" % (tag.encode(), number, content)


def tagged(content: bytes, elements: list[bytes]) -> bytes:
    """Return a tagged PDF; the elements have the numbers from 7, and the first is the root of all."""
    parents = {7: 6}
    for number, one in enumerate(elements, 7):
        parents |= {int(kid): number for kid in re.findall(rb"(\d+) 0 R", one.partition(b"/K[")[2])}
    placed = [one.replace(b"/P 0 0 R", b"/P %d 0 R" % parents[number]) for number, one in enumerate(elements, 7)]
    contents = {int(found[1]): n for n, one in enumerate(elements, 7) if (found := re.search(rb"/K (\d+)", one))}
    named = b" ".join(b"%d 0 R" % contents[number] for number in sorted(contents))
    root = b"<</Type/StructTreeRoot/K 7 0 R/ParentTree<</Nums[0[%s]]>>>>" % named
    catalog = b"/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R"
    return one_page(content, root, *placed, catalog=catalog, page=b"/StructParents 0")


def element(tag: str, kids: list[int], more: bytes = b"") -> bytes:
    """Return an element with other elements in it."""
    refs = b" ".join(b"%d 0 R" % kid for kid in kids)
    return b"<</Type/StructElem/S/%s/Pg 3 0 R/P 0 0 R/K[%s]%s>>" % (tag.encode(), refs, more)


def leaf(tag: str, number: int, more: bytes = b"") -> bytes:
    """Return an element with one marked content."""
    return b"<</Type/StructElem/S/%s/Pg 3 0 R/P 0 0 R/K %d%s>>" % (tag.encode(), number, more)


def test_a_file_with_a_password_says_so() -> None:
    encrypt = (
        b"/Encrypt<</Filter/Standard/V 1/R 2/O(12345678901234567890123456789012)"
        b"/U(12345678901234567890123456789012)/P -4>>/ID[<00><00>]"
    )
    page = read(write([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 0/Kids[]>>"], encrypt))
    assert page.caught is not None
    assert page.caught.kind == "encrypted_file"


def test_xmp_names_title_and_authors() -> None:
    packet = (
        b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description><dc:title><rdf:Alt><rdf:li xml:lang="x-default">'
        b"The harbour lies north</rdf:li></rdf:Alt></dc:title><dc:creator><rdf:Seq><rdf:li>Ann Lee</rdf:li><rdf:li>Bo Ek"
        b"</rdf:li></rdf:Seq></dc:creator></rdf:Description></rdf:RDF></x:xmpmeta>"
    )
    data = one_page(show(LINES), plain(packet, b"/Type/Metadata/Subtype/XML"), catalog=b"/Metadata 6 0 R")
    about = read(data).metadata
    assert (about.title, about.author) == ("The harbour lies north", "Ann Lee, Bo Ek")
    assert about.origins["title"] == "xmp"


def test_a_line_that_the_outline_names_is_a_heading() -> None:
    content = show(["On the lights"], y=720) + b"\n" + show(LINES)
    root = b"<</Type/Outlines/First 7 0 R/Last 7 0 R/Count 1>>"
    entry = b"<</Title(On the lights)/Parent 6 0 R/Dest[3 0 R/Fit]>>"
    assert read(one_page(content, root, entry, catalog=b"/Outlines 6 0 R")).markdown == f"# On the lights\n\n{TEXT}\n"
    assert "#" not in read(one_page(content)).markdown


@pytest.mark.parametrize(
    ("turn", "matrix"),
    [
        (90, "0 1 -1 0 {down} 60"),
        (180, "-1 0 0 -1 535 {down}"),
        (270, "0 -1 1 0 {up} 780"),
    ],
)
def test_a_page_that_is_shown_turned_is_read_as_shown(turn: int, matrix: str) -> None:
    parts = []
    for number, line in enumerate(LINES):
        place = matrix.format(down=100 + 12 * number, up=495 - 12 * number)
        parts.append(f"BT /F1 10 Tf {place} Tm ({line}) Tj ET")
    assert read(one_page("\n".join(parts).encode(), page=b"/Rotate %d" % turn)).markdown == f"{TEXT}\n"


def test_text_that_is_turned_on_its_page_is_left_out() -> None:
    stamp = b"\nBT /F1 10 Tf 0 1 -1 0 30 200 Tm (Draft of 1911) Tj ET"
    assert read(one_page(show(LINES) + stamp)).markdown == f"{TEXT}\n"


def test_text_in_forms_within_forms_is_read() -> None:
    inside = plain(show(LINES), b"/Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>>>")
    outside = plain(
        b"q 1 0 0 1 20 -50 cm /Inside Do Q",
        b"/Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</XObject<</Inside 6 0 R>>>>",
    )
    assert (
        read(one_page(b"/Outside Do", inside, outside, resources=b"/XObject<</Outside 7 0 R>>")).markdown == f"{TEXT}\n"
    )


def test_three_columns_are_read_one_after_the_other() -> None:
    columns = [[f"{name} {number} word word word word" for number in range(12)] for name in ("left", "middle", "right")]
    rows = [
        show([column[row]], x=40 + 180 * index, y=700 - 12 * row)
        for row in range(12)
        for index, column in enumerate(columns)
    ]
    words = read(one_page(b"\n".join(rows))).text.split()
    assert [word for word in words if word in ("left", "middle", "right")] == ["left"] * 12 + ["middle"] * 12 + [
        "right"
    ] * 12


def test_a_tagged_file_is_read_by_its_structure() -> None:
    content = (
        mark("P", 0, show(["The old harbour"], y=760, size=20))
        + mark("H1", 1, show(["The pier"], y=730, size=14))
        + mark("P", 2, show(["1. nets"], y=700))
        + mark("P", 3, show(["2. ropes"], y=688))
        + mark("P", 4, show([*LINES, "It closed early."], y=660))
        + mark("P", 5, show(["1"], x=125, y=628, size=6))
        + mark("P", 6, show(["1 In the year of the great storm."], y=60, size=8))
        + mark("P", 7, show(["Figure 1: the pier"], y=560))
        + mark("Figure", 8, b"100 580 50 20 re f")
    )
    elements = [
        element("Document", [8, 9, 10, 14, 17, 18, 19]),
        leaf("P", 0),
        leaf("H1", 1),
        element("L", [11, 12]),
        element("LI", [13]),
        element("LI", [20]),
        leaf("LBody", 2),
        element("P", [15, 16]),
        leaf("Span", 4),
        leaf("Span", 5),
        leaf("Figure", 8, b"/Alt(A boat under sail)"),
        leaf("Note", 6),
        element("Sect", [21]),
        leaf("LBody", 3),
        leaf("Caption", 7),
    ]
    page = read(tagged(content, elements))
    assert page.trace.kind_reasons[0].endswith("read by its structure tree")
    assert page.markdown == (
        f"# The old harbour\n\n## The pier\n\n1. nets\n2. ropes\n\n{TEXT} It closed early.[^1]\n\n*A boat under sail*\n\n"
        "*Figure 1: the pier*\n\n[^1]: In the year of the great storm.\n"
    )


def test_code_of_a_tagged_file_whose_lines_are_paragraphs_is_one_block() -> None:
    mono = FONT.replace(b"Helvetica", b"Courier")
    content = mark("P", 0, show(["def tide(x):"], y=700)) + mark("P", 1, show(["return x"], x=84, y=688))
    elements = [element("Document", [8, 9]), leaf("P", 0), leaf("P", 1)]
    data = tagged(content, elements).replace(FONT, mono)
    assert "```\ndef tide(x):\n    return x\n```" in read(data).markdown

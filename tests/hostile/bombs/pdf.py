"""PDF files made to take time or memory, or to lead a reader in circles: `bombs()` yields each with its name."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from tests.capture.documents.tiny_pdf import TinyPage, make_pdf

WORDS = ["The harbour lies north of the town and is older than", "its walls, as the maps of the first keepers show."]
TEXT = b"BT /F1 10 Tf 60 700 Td (The harbour lies north of the town.) Tj ET"
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


def bombs() -> Iterator[tuple[str, bytes]]:
    """Yield 30 files."""
    yield from _contents()
    yield from _graphs()
    yield from _fonts()
    yield from _streams()
    yield from _structure()


def pack(data: bytes, more: bytes = b"") -> bytes:
    """Return a compressed stream object."""
    packed = zlib.compress(data, 9)
    return b"<</Length %d/Filter/FlateDecode%s>>stream\n%s\nendstream" % (len(packed), more, packed)


def plain(data: bytes, more: bytes = b"") -> bytes:
    """Return a stream object."""
    return b"<</Length %d%s>>stream\n%s\nendstream" % (len(data), more, data)


def write(objects: list[bytes], trailer: bytes = b"") -> bytes:
    """Return a PDF of the objects, the first of which is the catalog."""
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    return (
        out
        + head
        + b"trailer<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n"
        % (
            len(objects) + 1,
            trailer,
            len(out),
        )
    )


def one_page(
    content: bytes = TEXT,
    *more: bytes,
    page: bytes = b"",
    resources: bytes = b"",
    catalog: bytes = b"",
    font: bytes = FONT,
) -> bytes:
    """Return a PDF of one page; the objects `more` have the numbers from 6."""
    resources = b"/Resources<</Font<</F1 5 0 R>>%s>>" % resources
    body = content if content.startswith(b"<<") else plain(content)
    sheet = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R%s%s>>" % (resources, page)
    tree = b"<</Type/Pages/Count 1/Kids[3 0 R]>>"
    return write([b"<</Type/Catalog/Pages 2 0 R%s>>" % catalog, tree, sheet, body, font, *more])


def _contents() -> Iterator[tuple[str, bytes]]:
    yield "many texts", make_pdf([TinyPage(raw="BT /F1 9 Tf 10 10 Td (x) Tj ET " * 100_000)])
    yield "many rules", make_pdf([TinyPage(raw="0 0 m 100 100 l S " * 200_000).paragraph(WORDS, 60, 100)])
    yield "one long path", make_pdf([TinyPage(raw="0 0 m " + "1 1 l " * 500_000 + "S").paragraph(WORDS, 60, 100)])
    yield "nested states", make_pdf([TinyPage(raw="q " * 300_000).paragraph(WORDS, 60, 100)])
    yield "huge type", make_pdf([TinyPage().write("harbour", 10, 10, 1e9)])
    yield "tiny type", make_pdf([TinyPage().write("harbour " * 1000, 10, 10, 1e-9)])
    yield "far away", make_pdf([TinyPage().write("harbour", 1e30, -1e30)])
    grid = TinyPage().paragraph(WORDS, 60, 100)
    grid.rules += [(0, y * 6, 590, y * 6) for y in range(120)] + [(x * 4, 0, x * 4, 800) for x in range(120)]
    yield "grid", make_pdf([grid])
    links = TinyPage().paragraph(WORDS * 30, 60, 100)
    links.links += [(0, 0, 590, 840, f"https://example.com/{number}") for number in range(5_000)]
    yield "many links", make_pdf([links])
    accents = b"BT /F1 10 Tf 60 700 Td (" + b"`e" * 45_000 + b") Tj ET"
    yield "accents", one_page(pack(accents))
    yield "packed content", one_page(pack(b"BT /F1 9 Tf (harbour) Tj ET " * 4_000_000))


def _graphs() -> Iterator[tuple[str, bytes]]:
    """Yield files whose objects lead in circles, or are nested deeply."""
    yield "many pages", make_pdf([TinyPage().paragraph(WORDS, 60, 100)] * 3_000)
    yield "looping pages", make_pdf([TinyPage()]).replace(b"/Kids[", b"/Kids[2 0 R ")
    depth = 20_000
    nodes = [b"<</Type/Pages/Parent %d 0 R/Count 1/Kids[%d 0 R]>>" % (n + 1, n + 3) for n in range(depth)]
    leaf = b"<</Type/Page/Parent %d 0 R/MediaBox[0 0 595 842]>>" % (depth + 1)
    yield "deep page tree", write([b"<</Type/Catalog/Pages 2 0 R>>", *nodes, leaf])
    loop = one_page()
    start = loop.rindex(b"xref\n0")
    yield "xref loop", loop.replace(b"trailer<<", b"trailer<</Prev %d" % start)
    yield "page count that lies", one_page().replace(b"/Count 1", b"/Count 2147483647")
    form = plain(
        b"/X Do " * 40 + TEXT, b"/Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</XObject<</X 6 0 R>>>>"
    )
    yield "form in itself", one_page(b"/X Do", form, resources=b"/XObject<</X 6 0 R>>")
    forms = [
        plain(
            b"/X Do " * 30 if n < 11 else TEXT,
            b"/Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>/XObject<</X %d 0 R>>>>"
            % (n + 1),
        )
        for n in range(6, 12)
    ]
    yield "forms in forms, 30 times each", one_page(b"/X Do", *forms, resources=b"/XObject<</X 6 0 R>>")
    first = b"<</First 7 0 R/Last 7 0 R/Count 1000000>>"
    entry = b"<</Title(Harbour)/Parent 6 0 R/Next 7 0 R/Prev 7 0 R/First 7 0 R/Dest[3 0 R/Fit]>>"
    yield "circular outline", one_page(TEXT, first, entry, catalog=b"/Outlines 6 0 R")


def _fonts() -> Iterator[tuple[str, bytes]]:
    widths = b" ".join([b"500"] * 1_000_000)
    font = b"<</Type/Font/Subtype/TrueType/BaseFont/Harbour/FirstChar 0/LastChar 999999/Widths[%s]>>" % widths
    yield "a million widths", one_page(font=font)
    ranges = b"\n".join(b"100 beginbfrange\n" + b"<0000><FFFF><0041>\n" * 100 + b"endbfrange" for _ in range(200))
    cid = b"<</Type/Font/Subtype/Type0/BaseFont/H/Encoding/Identity-H/DescendantFonts[7 0 R]/ToUnicode 6 0 R>>"
    below = b"<</Type/Font/Subtype/CIDFontType2/BaseFont/H/CIDSystemInfo<</Registry(A)/Ordering(I)/Supplement 0>>>>"
    cmap = b"/CIDInit /ProcSet findresource begin begincmap\n%s\nendcmap end" % ranges
    yield "huge ToUnicode", one_page(b"BT /F1 9 Tf <00410042> Tj ET", pack(cmap), below, font=cid)
    program = pack(b"\x00\x01\x00\x00\xff\xff" + b"A" * 60_000_000, b"/Length1 60000006")
    embedded = b"<</Type/Font/Subtype/TrueType/BaseFont/Harbour/FontDescriptor 6 0 R>>"
    described = b"<</Type/FontDescriptor/FontName/Harbour/Flags 4/FontFile2 7 0 R>>"
    yield "packed font program", one_page(TEXT, described, program, font=embedded)


def _streams() -> Iterator[tuple[str, bytes]]:
    data = b"A" * 100_000_000
    for _ in range(3):
        data = zlib.compress(data, 9)
    filters = b"<</Length %d/Filter[/FlateDecode/FlateDecode/FlateDecode]>>stream\n%s\nendstream"
    yield "packed three times", one_page(filters % (len(data), data))
    size = b"/Type/XObject/Subtype/Image/Width 65000/Height 65000/ColorSpace/DeviceGray/BitsPerComponent 1"
    picture = {
        "JBIG2 of 4 gigapixels": plain(b"\0" * 60, size + b"/Filter/JBIG2Decode"),
        "JPEG 2000 of 4 gigapixels": plain(b"\0\0\0\x0cjP  \r\n\x87\n" + b"\xff" * 200, size + b"/Filter/JPXDecode"),
    }
    for name, body in picture.items():
        yield name, one_page(b"q 500 0 0 700 0 0 cm /X Do Q", body, resources=b"/XObject<</X 6 0 R>>")
    many = b"".join(b"%d %d " % (number, 0) for number in range(100, 200_100))
    nested = pack(many + b"null", b"/Type/ObjStm/N 200000/First %d/Extends 6 0 R" % len(many))
    yield "object stream that extends itself", one_page(TEXT, nested, page=b"/Extra 100 0 R")
    odd = b"/Encrypt<</Filter/Standard/V 5/R 99/Length 99999/O(x)/U(y)/P -1>>/ID[(a)(b)]"
    yield (
        "encrypted with an unknown revision",
        write([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 0/Kids[]>>"], odd),
    )


def _structure() -> Iterator[tuple[str, bytes]]:
    marked = b"/P<</MCID 0>>BDC " + TEXT + b" EMC"
    tagged = b"/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R"
    root = b"<</Type/StructTreeRoot/K 7 0 R/ParentTree<</Nums[0[7 0 R]]>>>>"
    circle = b"<</Type/StructElem/S/Div/P 7 0 R/Pg 3 0 R/K[7 0 R 7 0 R 0]>>"
    yield "structure in a circle", one_page(marked, root, circle, catalog=tagged, page=b"/StructParents 0")
    deep = [
        b"<</Type/StructElem/S/Div/P %d 0 R/Pg 3 0 R/K %s>>" % (n - 1, b"0" if n == 10_006 else b"%d 0 R" % (n + 1))
        for n in range(7, 10_007)
    ]
    root = b"<</Type/StructTreeRoot/K 7 0 R/ParentTree<</Nums[0[10006 0 R]]>>>>"
    yield "deep structure", one_page(marked, root, *deep, catalog=tagged, page=b"/StructParents 0")
    notes = b"/Annots[" + b"<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/Contents(x)>>" * 150_000 + b"]"
    yield "150,000 annotations", one_page(TEXT, page=notes)

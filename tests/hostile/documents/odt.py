"""ODT files under attack."""

from __future__ import annotations

from collections.abc import Iterator

from tests.capture.documents.tiny_office import make_odt
from tests.hostile.documents.archives import archive_bombs
from tests.hostile.documents.kind import WORDS, Kind, mutate_archive

TEXT = " ".join(WORDS)
_P = f"<text:p>{TEXT}</text:p>"


def originals() -> list[bytes]:
    """Return sound files of several shapes."""
    note = f"<text:note><text:note-body>{_P}</text:note-body></text:note>"
    listing = f'<text:list text:style-name="L1"><text:list-item>{_P}<text:list><text:list-item>{_P}</text:list-item></text:list></text:list-item></text:list>'
    row = f'<table:table-row><table:table-cell table:number-columns-spanned="2">{_P}</table:table-cell><table:table-cell>{_P}</table:table-cell></table:table-row>'
    plain = f'<text:h text:outline-level="1">The harbour</text:h><text:p>{TEXT}{note} <text:span text:style-name="B">bold</text:span></text:p>'
    code = '<text:p text:style-name="Preformatted_20_Text">code()<text:s text:c="4"/>x</text:p>'
    meta = "<dc:title>The harbour</dc:title>"
    frame = f"<text:p><draw:frame><draw:text-box>{_P}</draw:text-box></draw:frame></text:p>"
    return [make_odt(plain + listing, meta), make_odt(plain + f"<table:table>{row * 3}</table:table>" + code + frame)]


def bombs() -> Iterator[tuple[str, bytes]]:
    """Yield files made to take time or memory."""
    yield from archive_bombs(originals()[0], "content.xml")
    yield "deep sections", make_odt("<text:section>" * 50_000 + _P + "</text:section>" * 50_000)
    yield "many paragraphs", make_odt("".join(f"<text:p>{n}</text:p>" for n in range(500_000)))
    yield (
        "many spans",
        make_odt(
            "<text:p>"
            + "".join(f'<text:span text:style-name="{"BI"[n % 2]}">w{n * 7919} </text:span>' for n in range(200_000))
            + "</text:p>"
        ),
    )
    cell = f'<table:table-cell table:number-columns-repeated="99999999">{_P}</table:table-cell>'
    yield "repeated cells", make_odt(f"<table:table><table:table-row>{cell * 50}</table:table-row></table:table>")
    yield "many spaces", make_odt("<text:p>" + '<text:s text:c="999999999"/>' * 20_000 + "x</text:p>")
    nested = _P
    for _ in range(30):
        nested = f"<text:list><text:list-item>{nested}{_P}</text:list-item></text:list>"
    yield "nested lists", make_odt(nested)
    notes = "".join(
        f"<text:note><text:note-body><text:p>{n}</text:p></text:note-body></text:note>" for n in range(30_000)
    )
    yield "many notes", make_odt(f"<text:p>{TEXT}{notes}</text:p>")
    inner = TEXT
    for _ in range(35):
        inner = f"x<text:note><text:note-body><text:p>{inner}</text:p></text:note-body></text:note>"
    yield "notes in notes", make_odt(f"<text:p>{inner}</text:p>")
    frames = '<draw:frame><draw:object xlink:href="./O"/></draw:frame>' * 3_000
    yield "many formulas", make_odt(f"<text:p>{TEXT}{frames}</text:p>", O__content="<x/>")
    yield "huge numbers", make_odt('<text:h text:outline-level="99999999999999999999">x</text:h>' + _P)


KIND = Kind(originals, bombs, mutate_archive)

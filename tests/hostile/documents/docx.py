"""DOCX files under attack."""

from __future__ import annotations

from collections.abc import Iterator

from tests.capture.documents.tiny_office import W, item, make_docx, p, r, style
from tests.hostile.documents.archives import archive_bombs
from tests.hostile.documents.kind import WORDS, Kind, mutate_archive

TEXT = " ".join(WORDS)
_FIELD = (
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "https://a.example/"</w:instrText></w:r>'
)


def _refer(key: int) -> str:
    return f'<w:r><w:footnoteReference w:id="{key}"/></w:r>'


def _table(rows: int, columns: int, inner: str = "") -> str:
    cell = f'<w:tc><w:tcPr><w:gridSpan w:val="1"/><w:vMerge w:val="restart"/></w:tcPr>{inner or p(TEXT)}</w:tc>'
    return f"<w:tbl>{f'<w:tr>{cell * columns}</w:tr>' * rows}</w:tbl>"


def originals() -> list[bytes]:
    """Return sound files of several shapes."""
    note = f'<w:footnote w:id="2">{p(TEXT)}</w:footnote>'
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    plain = p("The harbour", "H1") + p(r(TEXT) + reference) + item(TEXT) + item(TEXT, 2, 1) + p("code()", "Code")
    fields = p(
        _FIELD
        + '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        + r("link")
        + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    formula = p(
        "<m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>"
    )
    mixed = (
        p("Title", "Titel")
        + _table(3, 3)
        + fields
        + formula
        + p(f"<w:ins>{r(TEXT)}</w:ins><w:del><w:r><w:delText>x</w:delText></w:r></w:del>")
    )
    core = "<dc:title>The harbour</dc:title><dc:creator>Ann Lee</dc:creator>"
    return [make_docx(plain, note, core=core), make_docx(mixed + plain, note, {"x": "https://a.example/"})]


def bombs() -> Iterator[tuple[str, bytes]]:
    """Yield files made to take time or memory."""
    yield from archive_bombs(originals()[0], "word/document.xml")
    yield "deep tables", make_docx("<w:tbl><w:tr><w:tc>" * 5_000 + p(TEXT) + "</w:tc></w:tr></w:tbl>" * 5_000)
    nested = p(TEXT)
    for _ in range(35):
        nested = f"<w:tbl><w:tr><w:tc>{nested}</w:tc><w:tc>{p('x')}</w:tc></w:tr></w:tbl>"
    yield "nested tables", make_docx(nested)
    yield "many empty paragraphs", make_docx("".join(f'<w:p w:a="{n * 7919}"/>' for n in range(600_000)))
    yield "many elements", make_docx("".join(f"<w:p><w:r><w:t>{n}</w:t></w:r></w:p>" for n in range(450_000)))
    yield (
        "one long paragraph",
        make_docx(p("".join(r(f"w{n * 7919} ", "<w:b/>" if n % 2 else "<w:i/>") for n in range(150_000)))),
    )
    wide = '<w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr>'
    yield "wide cells", make_docx(f"<w:tbl><w:tr>{f'<w:tc>{wide}{p(TEXT)}</w:tc>' * 500}</w:tr></w:tbl>")
    yield (
        "large table",
        make_docx(
            "<w:tbl>"
            + "".join(f"<w:tr>{f'<w:tc>{p(str(n * 7919))}</w:tc>' * 20}</w:tr>" for n in range(5_000))
            + "</w:tbl>"
        ),
    )
    yield "open fields", make_docx(p(_FIELD * 60_000 + r(TEXT)) + p(TEXT))
    yield "notes in notes", make_docx(p(_refer(1)), f'<w:footnote w:id="1">{p(_refer(1))}</w:footnote>')
    chain = "".join(f'<w:footnote w:id="{n}">{p(_refer(n + 1) + r("x"))}</w:footnote>' for n in range(3_000))
    yield "a chain of notes", make_docx(p('<w:r><w:footnoteReference w:id="0"/></w:r>'), chain)
    loop = "".join(style(f"S{n}", f"s{n}", f'<w:basedOn w:val="S{(n + 1) % 3_000}"/>') for n in range(3_000))
    yield (
        "a ring of styles",
        make_docx(
            "".join(p(TEXT, f"S{n}") for n in range(3_000)), word__styles2=f"<w:styles {W}>{loop}</w:styles>"
        ).replace(b"word/styles2", b"word/styles3"),
    )
    yield (
        "deep formula",
        make_docx(
            p("<m:oMath>" + "<m:rad><m:e>" * 50 + "<m:r><m:t>x</m:t></m:r>" + "</m:e></m:rad>" * 50 + "</m:oMath>")
        ),
    )
    yield "deep lists", make_docx("".join(item(TEXT, 1, n % 9) for n in range(20_000)))
    yield "boxes in boxes", make_docx(p(_boxes(20)))


def _boxes(depth: int) -> str:
    inner = r("x")
    for _ in range(depth):
        inner = (
            f"<w:r><w:pict><v:textbox><w:txbxContent>{p(inner) * 2}</w:txbxContent></v:textbox></w:pict></w:r>"
            if len(inner) < 100_000
            else inner
        )
    return inner


KIND = Kind(originals, bombs, mutate_archive)

"""A small file of every type, and what is read of it; for tests of every way in."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from tests.capture.documents.tiny_pdf import TinyPage, make_pdf


def pack(files: Mapping[str, str | bytes]) -> bytes:
    """A ZIP archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def _docx(text: str) -> bytes:
    office, package = "http://schemas.openxmlformats.org", "http://schemas.openxmlformats.org/package/2006"
    word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    kind = f"{office}/officeDocument/2006/relationships/officeDocument"
    return pack(
        {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="xml" ContentType="{word}"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
            f'<Relationship Id="r" Type="{kind}" Target="word/document.xml"/></Relationships>',
            "word/document.xml": f'<w:document xmlns:w="{office}/wordprocessingml/2006/main"><w:body><w:p><w:r>'
            f"<w:t>{text}</w:t></w:r></w:p></w:body></w:document>",
        }
    )


def _epub(text: str) -> bytes:
    opf, dc = "http://www.idpf.org/2007/opf", "http://purl.org/dc/elements/1.1/"
    return pack(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
            "b.opf": f'<package xmlns="{opf}" version="3.0"><metadata xmlns:dc="{dc}"><dc:title>The wall</dc:title></metadata>'
            '<manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest>'
            '<spine><itemref idref="c"/></spine></package>',
            "c.xhtml": f'<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>The wall</h1><p>{text}</p></body></html>',
        }
    )


LINES = ["The harbour lies north of the town and is older", "than the walls that once protected it from the sea."]


def harbour(*lines: str) -> bytes:
    """A PDF with a title and a paragraph."""
    return make_pdf([TinyPage().write("The old harbour", 60, 80, 20).paragraph(list(lines), 60, 110)])


PDF = harbour(*LINES)
TEXT = f"# The old harbour\n\n{' '.join(LINES)}\n"
"""Its Markdown."""
WORD = "quincewort"
"""What every sample says."""
_SENTENCE = f"The {WORD} grows between the stones of the old harbour wall."
_TABLE = "urn:oasis:names:tc:opendocument:xmlns"
SAMPLES: dict[str, bytes] = {
    "wall.pdf": harbour(_SENTENCE),
    "wall.docx": _docx(_SENTENCE),
    "wall.odt": pack(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f'<o:document-content xmlns:o="{_TABLE}:office:1.0" xmlns:t="{_TABLE}:text:1.0"><o:body><o:text>'
            f"<t:p>{_SENTENCE}</t:p></o:text></o:body></o:document-content>",
        }
    ),
    "wall.epub": _epub(_SENTENCE),
    "wall.rtf": f"{{\\rtf1\\ansi {_SENTENCE}\\par}}".encode(),
    "wall.vtt": f"WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n{_SENTENCE}\n".encode(),
    "wall.srt": f"1\n00:00:01,000 --> 00:00:04,000\n{_SENTENCE}\n".encode(),
    "wall.csv": f"plant,place\n{WORD},wall\nmoss,roof\n".encode(),
    "wall.md": f"# The wall\n\n{_SENTENCE}\n".encode(),
    "wall.txt": f"The wall\n\n{_SENTENCE}\n".encode(),
    "wall.eml": f"From: Ada <ada@example.com>\nTo: ben@example.com\nSubject: The wall\nMessage-ID: <1@example.com>\n"
    f"Date: Mon, 6 May 2024 10:00:00 +0000\nContent-Type: text/plain\n\n{_SENTENCE}\n".encode(),
}
"""File name to content, one for every type that is read."""

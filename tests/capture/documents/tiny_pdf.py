"""Small PDFs written by hand: text at places, lines, links, an outline and info, without any library."""

from __future__ import annotations

from dataclasses import dataclass, field

FONTS = {"F1": "Helvetica", "F2": "Helvetica-Bold", "F3": "Courier", "F4": "Times-Italic"}


@dataclass
class PdfText:
    """Text at a place; `y` from the top of the page."""

    text: str
    x: float
    y: float
    size: float = 10.0
    font: str = "F1"


@dataclass
class TinyPage:
    """One page of A4 size."""

    texts: list[PdfText] = field(default_factory=list)
    rules: list[tuple[float, float, float, float]] = field(default_factory=list)
    """Lines from x, y to x, y."""
    links: list[tuple[float, float, float, float, str]] = field(default_factory=list)
    raw: str = ""
    """More operators."""

    def write(self, text: str, x: float, y: float, size: float = 10.0, font: str = "F1") -> TinyPage:
        self.texts.append(PdfText(text, x, y, size, font))
        return self

    def paragraph(self, lines: list[str], x: float, y: float, size: float = 10.0, font: str = "F1") -> TinyPage:
        """Write lines below each other, at 1.2 times their size."""
        for number, line in enumerate(lines):
            self.write(line, x, y + number * size * 1.2, size, font)
        return self

    def content(self) -> bytes:
        out = []
        for text in self.texts:
            escaped = text.text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
            out.append(f"BT /{text.font} {text.size} Tf {text.x} {842 - text.y} Td ({escaped}) Tj ET")
        out += [f"0.5 w {x0} {842 - y0} m {x1} {842 - y1} l S" for x0, y0, x1, y1 in self.rules]
        return "\n".join([*out, self.raw]).encode("cp1252", "replace")


def make_pdf(pages: list[TinyPage], info: dict[str, str] | None = None) -> bytes:
    """Return a PDF of the pages."""
    objects: list[bytes] = []

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    catalog, tree = add(b""), add(b"")
    fonts = " ".join(
        f"/{name} {add(f'<</Type/Font/Subtype/Type1/BaseFont/{base}/Encoding/WinAnsiEncoding>>'.encode())} 0 R"
        for name, base in FONTS.items()
    )
    kids = []
    for page in pages:
        content = page.content()
        stream = add(b"<</Length %d>>stream\n%s\nendstream" % (len(content), content))
        annots = [
            add(f"<</Type/Annot/Subtype/Link/Rect[{a} {842 - d} {c} {842 - b}]/A<</S/URI/URI({url})>>>>".encode())
            for a, b, c, d, url in page.links
        ]
        refs = " ".join(f"{number} 0 R" for number in annots)
        kids.append(
            add(
                f"<</Type/Page/Parent {tree} 0 R/MediaBox[0 0 595 842]/Contents {stream} 0 R"
                f"/Resources<</Font<<{fonts}>>>>/Annots[{refs}]>>".encode()
            )
        )
    objects[tree - 1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(f'{kid} 0 R' for kid in kids)}]>>".encode()
    objects[catalog - 1] = f"<</Type/Catalog/Pages {tree} 0 R>>".encode()
    entries = "".join(f"/{key}({value})" for key, value in (info or {}).items())
    about = add(f"<<{entries}>>".encode())
    out = b"%PDF-1.7\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer<</Size {len(objects) + 1}/Root {catalog} 0 R/Info {about} 0 R>>"
    return out + head.encode() + b"\nstartxref\n%d\n%%%%EOF\n" % len(out)

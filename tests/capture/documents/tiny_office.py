"""Small office files and books, written by hand for the tests."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
NAMESPACES = (
    f'{W} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"'
)
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
ODT = (
    " ".join(
        f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for prefix, name in (
            *(("office", "office"), ("style", "style"), ("text", "text"), ("table", "table"), ("draw", "drawing")),
            *(("svg", "svg-compatible"), ("fo", "xsl-fo-compatible"), ("meta", "meta")),
        )
    )
    + ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)


def pack(files: Mapping[str, str | bytes], stored: str | None = None) -> bytes:
    """Return a ZIP archive of the files; the `stored` one is not compressed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            method = zipfile.ZIP_STORED if name == stored else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the files of a ZIP archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """Return a file of relationships: id to type and target."""
    rows = "".join(
        f'<Relationship Id="{key}" Type="{_RELATIONS}/{kind}" Target="{target}"'
        + (' TargetMode="External"/>' if kind == "hyperlink" else "/>")
        for key, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{rows}</Relationships>'


def style(key: str, name: str, more: str = "", kind: str = "paragraph") -> str:
    """Return a style of Word."""
    return f'<w:style w:type="{kind}" w:styleId="{key}"><w:name w:val="{name}"/>{more}</w:style>'


STYLES = "".join(
    (
        style("Normal", "Normal"),
        style("Titel", "Title"),
        *(style(f"H{level}", f"heading {level}", "<w:rPr><w:b/></w:rPr>") for level in (1, 2, 3)),
        style("Own", "My head", '<w:basedOn w:val="H2"/>'),
        style("Code", "Source Code", '<w:rPr><w:rFonts w:ascii="Consolas"/></w:rPr>'),
        style("Q", "Quote"),
        style("Cap", "caption"),
        style("LP", "List Paragraph"),
        style("TOC1", "toc 1"),
        style("Bullets", "List Bullet", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'),
        style("Bullets2", "List Bullet 2", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'),
        style("Strong", "Strong", "<w:rPr><w:b/></w:rPr>", "character"),
        style("TG", "Table Grid", kind="table"),
        style("TF", "Fancy Table", kind="table"),
    )
)


def _level(level: int, format_: str, text: str, start: int = 1) -> str:
    return f'<w:lvl w:ilvl="{level}"><w:start w:val="{start}"/><w:numFmt w:val="{format_}"/><w:lvlText w:val="{text}"/></w:lvl>'


NUMBERING = (
    f'<w:abstractNum w:abstractNumId="10">{_level(0, "bullet", "•")}{_level(1, "bullet", "o")}</w:abstractNum>'
    f'<w:abstractNum w:abstractNumId="11">{_level(0, "decimal", "%1.")}{_level(1, "lowerLetter", "%1.%2")}</w:abstractNum>'
    f'<w:abstractNum w:abstractNumId="12">{_level(0, "bullet", " ")}{_level(1, "bullet", " ")}</w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="10"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="11"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="12"/></w:num><w:num w:numId="4"><w:abstractNumId w:val="11"/>'
    '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>'
)


def p(text: str, style_key: str = "", more: str = "") -> str:
    """Return a paragraph of Word; text without markup becomes a run."""
    runs = text if text.startswith("<") else f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'
    about = f'<w:pStyle w:val="{style_key}"/>' if style_key else ""
    return f"<w:p><w:pPr>{about}{more}</w:pPr>{runs}</w:p>"


def r(text: str, properties: str = "") -> str:
    """Return a run of Word."""
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def item(text: str, number: int = 1, level: int = 0) -> str:
    """Return an item of a list of Word."""
    return p(text, "", f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def make_docx(body: str, notes: str = "", links: Mapping[str, str] | None = None, core: str = "", **more: str) -> bytes:
    """Return a DOCX file with this body; `notes` are its footnotes, `more` other files by name."""
    targets = {"s": ("styles", "styles.xml"), "n": ("numbering", "numbering.xml"), "f": ("footnotes", "footnotes.xml")}
    targets |= {key: ("hyperlink", target) for key, target in (links or {}).items()}
    return pack(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
            "_rels/.rels": relations({"d": ("officeDocument", "word/document.xml")}),
            "word/document.xml": f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations(targets),
            "word/styles.xml": f"<w:styles {W}>{STYLES}</w:styles>",
            "word/numbering.xml": f"<w:numbering {W}>{NUMBERING}</w:numbering>",
            "word/footnotes.xml": f"<w:footnotes {NAMESPACES}>{notes}</w:footnotes>",
            "docProps/core.xml": '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
            f'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">{core}</cp:coreProperties>',
            **{name.replace("__", "/"): data for name, data in more.items()},
        }
    )


ODT_STYLES = (
    '<style:style style:name="B" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>'
    '<style:style style:name="I" style:family="text"><style:text-properties fo:font-style="italic"/></style:style>'
    '<style:style style:name="S" style:family="text"><style:text-properties style:text-line-through-style="solid"/></style:style>'
    '<style:style style:name="Up" style:family="text"><style:text-properties style:text-position="super 58%"/></style:style>'
    '<style:style style:name="M" style:family="text"><style:text-properties style:font-name="Courier New"/></style:style>'
    '<style:style style:name="V" style:family="text"><style:text-properties text:display="none"/></style:style>'
    '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Quotations"/>'
    '<style:style style:name="Quotations" style:family="paragraph"/>'
    '<style:style style:name="Preformatted_20_Text" style:display-name="Preformatted Text" style:family="paragraph"/>'
    '<style:style style:name="Title" style:family="paragraph"/>'
    '<style:style style:name="Table" style:display-name="Table caption" style:family="paragraph"/>'
    '<text:list-style style:name="L1"><text:list-level-style-bullet text:level="1" text:bullet-char="•"/>'
    '<text:list-level-style-number text:level="2" style:num-format="1"/></text:list-style>'
    '<text:list-style style:name="L2"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>'
)


def make_odt(body: str, meta: str = "", manifest: str = "", **more: str) -> bytes:
    """Return an ODT file with this text."""
    return pack(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {ODT}><office:automatic-styles>{ODT_STYLES}</office:automatic-styles>"
            f"<office:body><office:text>{body}</office:text></office:body></office:document-content>",
            "meta.xml": f"<office:document-meta {ODT}><office:meta>{meta}</office:meta></office:document-meta>",
            "META-INF/manifest.xml": '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            f"{manifest}</manifest:manifest>",
            **{name.replace("__", "/"): data for name, data in more.items()},
        },
        stored="mimetype",
    )


def make_epub(
    pages: Mapping[str, str],
    contents: str = "",
    metadata: str = "<dc:title>The harbour book</dc:title><dc:creator>Ann Lee</dc:creator><dc:language>en</dc:language>",
    *,
    ncx: str = "",
    spine: str | None = None,
    files: Mapping[str, str] | None = None,
) -> bytes:
    """Return an EPUB file: `pages` are bodies by file name, `contents` the list of its navigation, `ncx` that of version 2."""
    manifest = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in pages)
    manifest += (
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>' if contents else ""
    )
    manifest += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>' if ncx else ""
    order = "".join(f'<itemref idref="{name}"/>' for name in pages) if spine is None else spine
    html = 'xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"'
    return pack(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<metadata>{metadata}</metadata><manifest>{manifest}</manifest><spine>{order}</spine></package>",
            **{
                f"OEBPS/{name}": f"<html {html}><head><title/></head><body>{body}</body></html>"
                for name, body in pages.items()
            },
            **(
                {"OEBPS/nav.xhtml": f'<html {html}><body><nav epub:type="toc">{contents}</nav></body></html>'}
                if contents
                else {}
            ),
            **(
                {"OEBPS/toc.ncx": f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{ncx}</navMap></ncx>'}
                if ncx
                else {}
            ),
            **(files or {}),
        },
        stored="mimetype",
    )

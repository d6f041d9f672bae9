"""Print documents with LibreOffice Writer: flat OpenDocument files, as people write them, tagged and not."""

from __future__ import annotations

import random
import shutil
import subprocess
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pagekeep import dom
from printed.compose import Sample

_FONTS = ("Liberation Serif", "Liberation Sans", "DejaVu Serif", "DejaVu Sans Condensed")
_NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{path}:1.0"'
    for name, path in {
        "office": "office",
        "style": "style",
        "text": "text",
        "table": "table",
        "fo": "xsl-fo-compatible",
    }.items()
)


def print_office(samples: list[Sample], folder: Path) -> None:
    """Write the PDF of every document."""
    for tagged in (True, False):
        group = [one for one in samples if one.tagged == tagged]
        if not group:
            continue
        with TemporaryDirectory(prefix="office-") as name:
            for one in group:
                Path(name, f"{one.name}.fodt").write_text(make_source(one), "utf-8")
            value = str(tagged).lower()
            options = f'pdf:writer_pdf_Export:{{"UseTaggedPDF":{{"type":"boolean","value":"{value}"}}}}'
            profile = f"-env:UserInstallation=file://{name}/profile"
            files = sorted(map(str, Path(name).glob("*.fodt")))
            command = ["soffice", profile, "--headless", "--convert-to", options, "--outdir", name, *files]
            subprocess.run(command, capture_output=True, check=True, timeout=600)
            for one in group:
                shutil.copy(Path(name, f"{one.name}.pdf"), folder)


def make_source(sample: Sample) -> str:
    """Return a document as flat OpenDocument text."""
    pick = random.Random(f"office-style-{sample.number}")
    writer = _Office(sample)
    root = dom.parse_fragment(sample.body)
    body = "".join(writer.block(node) for node in root.children if isinstance(node, dom.Element))
    if sample.columns == 2:
        body = f'<text:section text:style-name="Columns" text:name="s">{body}</text:section>'
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document {_NAMESPACES} xmlns:xlink="http://www.w3.org/1999/xlink"'
        f' office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">'
        f"{_styles(sample, pick)}<office:body><office:text>{body}</office:text></office:body></office:document>"
    )


def _styles(sample: Sample, pick: random.Random) -> str:
    size, font = pick.choice((10, 11, 12)), pick.choice(_FONTS)
    border = pick.choice(("0.5pt solid #000000", "none", "0.5pt solid #999999"))
    align, space = pick.choice(("start", "justify")), pick.choice((6, 8))
    paragraph = pick.choice((f'fo:margin-bottom="{space}pt"', 'fo:margin-bottom="0pt" fo:text-indent="0.5cm"'))
    country = {"en": "GB"}.get(sample.language, sample.language.upper())

    def style(name: str, properties: str, letters: str = "", parent: str = "Standard") -> str:
        return (
            f'<style:style style:name="{name}" style:family="paragraph" style:parent-style-name="{parent}">'
            f"<style:paragraph-properties {properties}/><style:text-properties {letters}/></style:style>"
        )

    named = [
        f'<style:default-style style:family="paragraph"><style:paragraph-properties fo:text-align="{align}"/>'
        f'<style:text-properties style:font-name="{font}" fo:font-family="{font}" fo:font-size="{size}pt"'
        f' fo:language="{sample.language}" fo:country="{country}" fo:hyphenate="false"/></style:default-style>',
        '<style:style style:name="Standard" style:family="paragraph"/>',
        style("Text_20_body", f'{paragraph} fo:line-height="{pick.choice((100, 115, 130))}%"'),
        style("Title", 'fo:text-align="center" fo:margin-bottom="8pt"', 'fo:font-size="22pt" fo:font-weight="bold"'),
        style("Heading_20_1", _HEADING, 'fo:font-size="16pt" fo:font-weight="bold"'),
        style("Heading_20_2", _HEADING, f'fo:font-size="{size + 1.5}pt" fo:font-weight="bold"'),
        style("Quotations", 'fo:margin-left="1cm" fo:margin-right="1cm" fo:margin-bottom="6pt"'),
        style("Preformatted_20_Text", 'fo:text-align="start"', _MONO),
        style("Caption", 'fo:margin-top="4pt" fo:margin-bottom="4pt"', 'fo:font-style="italic"'),
        style("Footnote", 'fo:margin-left="0.5cm" fo:text-indent="-0.5cm"', f'fo:font-size="{size - 2}pt"'),
        style("Header", 'fo:text-align="center"', 'fo:font-size="9pt"'),
        style("Cell", 'fo:text-align="start"'),
        '<style:style style:name="B" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>',
        '<style:style style:name="I" style:family="text"><style:text-properties fo:font-style="italic"/></style:style>',
        f'<style:style style:name="C" style:family="text"><style:text-properties {_MONO}/></style:style>',
        _list_style("ul"),
        _list_style("ol"),
    ]
    automatic = (
        '<style:page-layout style:name="pm"><style:page-layout-properties fo:page-width="21cm" fo:page-height="29.7cm"'
        ' fo:margin-top="2cm" fo:margin-bottom="2cm" fo:margin-left="2.2cm" fo:margin-right="2.2cm"/>'
        '<style:header-style><style:header-footer-properties fo:min-height="1cm" fo:margin-bottom="0.5cm"/>'
        '</style:header-style><style:footer-style><style:header-footer-properties fo:min-height="1cm"'
        ' fo:margin-top="0.5cm"/></style:footer-style></style:page-layout>'
        '<style:style style:name="Columns" style:family="section"><style:section-properties>'
        '<style:columns fo:column-count="2" fo:column-gap="0.8cm"/></style:section-properties></style:style>'
        f'<style:style style:name="TC" style:family="table-cell"><style:table-cell-properties fo:padding="0.1cm"'
        f' fo:border="{border}"/></style:style>'
    )
    master = (
        '<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="pm"><style:header>'
        f'<text:p text:style-name="Header">{escape(sample.head)}</text:p></style:header><style:footer>'
        '<text:p text:style-name="Header"><text:page-number/></text:p></style:footer></style:master-page>'
        "</office:master-styles>"
    )
    return (
        f"<office:styles>{''.join(named)}</office:styles>"
        f"<office:automatic-styles>{automatic}</office:automatic-styles>{master}"
    )


_HEADING = 'fo:text-align="start" fo:margin-top="12pt" fo:margin-bottom="6pt" fo:keep-with-next="always"'
_MONO = 'style:font-name="Liberation Mono" fo:font-family="Liberation Mono" fo:font-size="9pt"'


def _list_style(tag: str) -> str:
    levels = []
    for level in (1, 2):
        place = f'fo:margin-left="{0.6 * level + 0.4}cm" fo:text-indent="-0.6cm" text:label-followed-by="listtab"'
        inner = (
            '<style:list-level-properties text:list-level-position-and-space-mode="label-alignment">'
            f"<style:list-level-label-alignment {place}/></style:list-level-properties>"
        )
        if tag == "ol" and level == 1:
            mark = '<text:list-level-style-number text:level="1" style:num-suffix="." style:num-format="1">'
            levels.append(f"{mark}{inner}</text:list-level-style-number>")
        else:
            mark = f'<text:list-level-style-bullet text:level="{level}" text:bullet-char="{"•◦"[level - 1]}">'
            levels.append(f"{mark}{inner}</text:list-level-style-bullet>")
    return f'<text:list-style style:name="{tag}">{"".join(levels)}</text:list-style>'


class _Office:
    def __init__(self, sample: Sample) -> None:
        self._notes = sample.notes

    def block(self, node: Any) -> str:
        tag, kind = node.tag, node.attr("class") or ""
        if tag == "section":
            return ""
        if tag == "h1":
            return f'<text:p text:style-name="Title">{self.inline(node)}</text:p>'
        if tag in ("h2", "h3"):
            level = int(tag[1]) - 1
            style = f'text:style-name="Heading_20_{level}" text:outline-level="{level}"'
            return f"<text:h {style}>{self.inline(node)}</text:h>"
        if tag in ("ul", "ol"):
            return self._list(node, f' text:style-name="{tag}"')
        if tag == "table":
            return self._table(node)
        if tag == "blockquote":
            return f'<text:p text:style-name="Quotations">{self.inline(node)}</text:p>'
        if tag == "pre":
            lines = "<text:line-break/>".join(map(_spaced, dom.text_of(node).rstrip().split("\n")))
            return f'<text:p text:style-name="Preformatted_20_Text">{lines}</text:p>'
        style = {"caption": "Caption"}.get(kind, "Text_20_body")
        return f'<text:p text:style-name="{style}">{self.inline(node)}</text:p>'

    def inline(self, node: Any) -> str:
        out = []
        for child in node.children:
            if isinstance(child, dom.Text):
                out.append(escape(child.data))
            elif child.tag == "a":
                out.append(
                    f'<text:a xlink:type="simple" xlink:href="{child.attr("href")}">{self.inline(child)}</text:a>'
                )
            elif child.tag == "sup":
                number = int(dom.text_of(child))
                note = f'<text:p text:style-name="Footnote">{escape(self._notes[number - 1])}</text:p>'
                out.append(
                    f'<text:note text:note-class="footnote"><text:note-citation>{number}</text:note-citation>'
                    f"<text:note-body>{note}</text:note-body></text:note>"
                )
            else:
                style = {"b": "B", "i": "I", "code": "C"}.get(child.tag)
                inner = self.inline(child)
                out.append(f'<text:span text:style-name="{style}">{inner}</text:span>' if style else inner)
        return "".join(out)

    def _list(self, node: Any, style: str = "") -> str:
        out = []
        for item in node.children:
            nested = [child for child in item.children if getattr(child, "tag", None) == "ul"]
            inner = "".join(self._list(child, ' text:style-name="ul"') for child in nested)
            for child in nested:
                dom.drop(child)
            out.append(
                f'<text:list-item><text:p text:style-name="Cell">{self.inline(item)}</text:p>{inner}</text:list-item>'
            )
        return f"<text:list{style}>{''.join(out)}</text:list>"

    def _table(self, node: Any) -> str:
        rows = []
        for number, row in enumerate(dom.select(node, "tr")):
            cells = "".join(
                f'<table:table-cell table:style-name="TC"><text:p text:style-name="Cell">'
                f"{_bold(self.inline(cell)) if not number else self.inline(cell)}</text:p></table:table-cell>"
                for cell in dom.select(row, "td, th")
            )
            line = f"<table:table-row>{cells}</table:table-row>"
            rows.append(f"<table:table-header-rows>{line}</table:table-header-rows>" if not number else line)
        columns = len(dom.select(dom.select(node, "tr")[0], "td, th"))
        head = f'<table:table-column table:number-columns-repeated="{columns}"/>'
        return f'<table:table>{head}{"".join(rows)}</table:table><text:p text:style-name="Cell"/>'


def _bold(inner: str) -> str:
    return f'<text:span text:style-name="B">{inner}</text:span>'


def _spaced(line: str) -> str:
    indent = len(line) - len(line.lstrip(" "))
    return (f'<text:s text:c="{indent}"/>' if indent else "") + escape(line.strip(" "))

"""DOCX: our own reader of Office Open XML, from paragraphs and their styles to blocks."""

from __future__ import annotations

import posixpath
from typing import Final
from xml.etree.ElementTree import Element

from pagekeep.capture.documents.docx.body import Body
from pagekeep.capture.documents.docx.numbering import Numbering
from pagekeep.capture.documents.docx.styles import Styles
from pagekeep.capture.documents.parsed import ParsedDocument
from pagekeep.capture.documents.parts import xml
from pagekeep.capture.documents.parts.about import Declared, make_metadata
from pagekeep.capture.documents.parts.archive import Archive
from pagekeep.capture.documents.parts.blocks import first_heading, first_words, write_blocks
from pagekeep.capture.documents.refusals import DamagedFile, EmptyFile
from pagekeep.model import Options

_MAIN: Final = "word/document.xml"


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the document in a DOCX file."""
    package = Package(Archive(data))
    body = package.read_body()
    blocks = body.read_document(package.main)
    html = write_blocks(blocks)
    declared = package.read_declared()
    if not html.strip():
        raise EmptyFile(metadata=make_metadata(declared, "", ""))
    metadata = make_metadata(declared, first_heading(blocks), first_words(blocks))
    return ParsedDocument(
        f"{html}\n{body.notes.write()}",
        metadata,
        "a DOCX, read by its styles",
        tuple(body.dropped.removals()),
        tuple(body.dropped.warnings()),
    )


class Package:
    """The parts of the file, found by the relationships between them."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        targets = self._relations("")
        self.main_name = next((target for kind, target, _ in targets.values() if kind == "officeDocument"), _MAIN)
        self.main = xml.parse(archive.read(self.main_name if self.main_name in archive else _MAIN))
        self.targets = self._relations(self.main_name)

    def _relations(self, name: str) -> dict[str, tuple[str, str, bool]]:
        """Return id to kind, target and whether that is outside the file, of a part."""
        folder, base = posixpath.split(name)
        data = self._archive.read_if_there(posixpath.join(folder, "_rels", f"{base}.rels"))
        found: dict[str, tuple[str, str, bool]] = {}
        for one in xml.parse(data) if data else ():
            target, outside = one.get("Target", ""), one.get("TargetMode") == "External"
            if not outside:
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            found[one.get("Id", "")] = (one.get("Type", "").rpartition("/")[2], target, outside)
        return found

    def part(self, kind: str) -> Element | None:
        """Return the part of a kind that the document refers to; `None` if there is none, or it is damaged."""
        name = next((target for one, target, outside in self.targets.values() if one == kind and not outside), None)
        data = self._archive.read_if_there(name) if name else None
        try:
            return xml.parse(data) if data else None
        except DamagedFile:
            return None

    def links(self, name: str) -> dict[str, str]:
        """Return id to address, of what a part links to outside the file."""
        return {key: target for key, (_, target, outside) in self._relations(name).items() if outside}

    def read_body(self) -> Body:
        """Return the reader of the text, with styles, numbering and notes."""
        styles = Styles(self.part("styles"))
        body = Body(styles, Numbering(self.part("numbering")), self.links(self.main_name))
        for kind in ("footnotes", "endnotes"):
            notes = self.part(kind)
            name = next((target for one, target, _ in self.targets.values() if one == kind), "")
            if notes is not None:
                body.note_parts[kind.removesuffix("s")] = (notes, self.links(name))
        return body

    def read_declared(self) -> Declared:
        """Return what the file says about itself."""
        data = self._archive.read_if_there("docProps/core.xml")
        try:
            core = xml.parse(data) if data else None
        except DamagedFile:
            core = None
        if core is None:
            return Declared("docx")
        values = {child.tag: xml.text_of(child) for child in core}
        return Declared(
            "docx",
            title=values.get("dc:title", ""),
            authors=tuple(values.get("dc:creator", "").split(";")),
            subject=values.get("dc:description", "") or values.get("dc:subject", ""),
            keywords=values.get("cp:keywords", ""),
            language=values.get("dc:language", ""),
            date=values.get("dcterms:created", ""),
        )

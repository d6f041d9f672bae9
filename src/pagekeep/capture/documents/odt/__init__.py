"""ODT: our own reader of OpenDocument text, from paragraphs and their styles to blocks."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from pagekeep.capture.documents.odt.body import Body
from pagekeep.capture.documents.odt.styles import Styles
from pagekeep.capture.documents.parsed import ParsedDocument
from pagekeep.capture.documents.parts import xml
from pagekeep.capture.documents.parts.about import Declared, make_metadata
from pagekeep.capture.documents.parts.archive import Archive
from pagekeep.capture.documents.parts.blocks import first_heading, first_words, place_captions, write_blocks
from pagekeep.capture.documents.refusals import DamagedFile, EmptyFile, EncryptedFile
from pagekeep.model import Options


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the document in an ODT file."""
    archive = Archive(data)
    _refuse_encrypted(archive)
    content, styles = xml.parse(archive.read("content.xml")), _parse_if_sound(archive, "styles.xml")
    body = Body(Styles([root for root in (styles, content) if root is not None]), archive)
    text = next(content.iter("office:text"), None)
    blocks = place_captions(body.read_document(text)) if text is not None else []
    html = write_blocks(blocks)
    declared = _read_declared(_parse_if_sound(archive, "meta.xml"))
    if not html.strip():
        raise EmptyFile(metadata=make_metadata(declared, "", ""))
    return ParsedDocument(
        f"{html}\n{body.notes.write()}",
        make_metadata(declared, first_heading(blocks), first_words(blocks)),
        "an ODT, read by its styles",
        tuple(body.dropped.removals()),
        tuple(body.dropped.warnings()),
    )


def _parse_if_sound(archive: Archive, name: str) -> Element | None:
    data = archive.read_if_there(name)
    try:
        return xml.parse(data) if data else None
    except DamagedFile:
        return None


def _refuse_encrypted(archive: Archive) -> None:
    manifest = _parse_if_sound(archive, "META-INF/manifest.xml")
    if manifest is not None and next(manifest.iter("manifest:encryption-data"), None) is not None:
        raise EncryptedFile("it has a password")


def _read_declared(meta: Element | None) -> Declared:
    values: dict[str, list[str]] = {}
    for child in meta.iter() if meta is not None else ():
        if child.tag.startswith(("dc:", "meta:")):
            values.setdefault(child.tag, []).append(xml.text_of(child))

    def first(*names: str) -> str:
        return next((value for name in names for value in values.get(name, ()) if value), "")

    return Declared(
        "odt",
        title=first("dc:title"),
        authors=tuple(first("meta:initial-creator", "dc:creator").split(";")),
        subject=first("dc:description", "dc:subject"),
        keywords=";".join(values.get("meta:keyword", [])[:20]),
        language=first("dc:language"),
        date=first("meta:creation-date", "dc:date"),
    )

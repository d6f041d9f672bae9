"""The package of an EPUB: metadata, the files in reading order, and the table of contents; versions 2 and 3."""

from __future__ import annotations

import posixpath
import re
from html import unescape
from typing import Final
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from pagekeep.capture.documents.parts import xml
from pagekeep.capture.documents.parts.about import Declared
from pagekeep.capture.documents.parts.archive import Archive
from pagekeep.capture.documents.refusals import DamagedFile, EncryptedFile
from pagekeep.values import dataclass

_PAGES: Final = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})
_OBFUSCATIONS: Final = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
"""How fonts are hidden; that is not protection of the text."""
_PROTECTION: Final = ("META-INF/rights.xml", "META-INF/sinf.xml", "META-INF/license.lcpl")
MAX_PAGES: Final = 3_000
MAX_ENTRIES: Final = 5_000
_TAG: Final = re.compile(r"<[^<>]{0,2000}>")


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the table of contents."""

    title: str
    path: str
    """The file in the archive."""
    fragment: str
    depth: int


@dataclass(frozen=True, slots=True)
class Package:
    """What a book consists of."""

    declared: Declared
    pages: tuple[str, ...]
    """Files in reading order."""
    asides: frozenset[str]
    """Pages outside the main text."""
    contents: tuple[Entry, ...]
    navigation: str | None
    """The file with the table of contents, which is not a page of the text."""


def read_package(archive: Archive) -> Package:
    """Return the package of a book; raise `EncryptedFile` for one whose text is protected."""
    path = _find_package(archive)
    root = xml.parse(archive.read(path))
    folder = posixpath.dirname(path)
    manifest: dict[str, tuple[str, str, str]] = {}
    for item in root.iter("opf:item"):
        about = (resolve(folder, item.get("href", "")), item.get("media-type", ""), item.get("properties") or "")
        manifest[item.get("id", "")] = about
    spine = list(root.iter("opf:itemref"))[:MAX_PAGES]
    known = [(manifest[key], one) for one in spine if (key := one.get("idref", "")) in manifest]
    pages = [(about[0], one.get("linear") == "no") for about, one in known if about[1] in _PAGES or not about[1]]
    navigation = next((about[0] for about in manifest.values() if "nav" in about[2].split()), None)
    if not pages:
        pages = [(about[0], False) for about in manifest.values() if about[1] in _PAGES and about[0] != navigation]
    _refuse_protected(archive, {page for page, _ in pages})
    listed = _read_navigation(archive, navigation) if navigation else []
    return Package(
        _read_declared(root),
        tuple(dict.fromkeys(page for page, _ in pages)),
        frozenset(page for page, is_aside in pages if is_aside),
        tuple(listed or _read_ncx(archive, manifest))[:MAX_ENTRIES],
        navigation,
    )


def resolve(folder: str, target: str) -> str:
    """Return the name of a file in the archive that a reference from a folder means."""
    return posixpath.normpath(posixpath.join("/", folder, unquote(target.partition("#")[0]))).lstrip("/")


def _find_package(archive: Archive) -> str:
    data = archive.read_if_there("META-INF/container.xml")
    if data:
        for one in xml.parse(data).iter("container:rootfile"):
            if (path := one.get("full-path", "")) in archive:
                return path
    found = next((name for name in archive.names if name.lower().endswith(".opf")), None)
    if found is None:
        raise DamagedFile("it has no package")
    return found


def _refuse_protected(archive: Archive, pages: set[str]) -> None:
    if any(name in archive for name in _PROTECTION):
        raise EncryptedFile("it has digital rights management")
    data = archive.read_if_there("META-INF/encryption.xml")
    for one in xml.parse(data).iter("enc:EncryptedData") if data else ():
        method = next(one.iter("enc:EncryptionMethod"), None)
        reference = next(one.iter("enc:CipherReference"), None)
        is_text = reference is not None and resolve("", reference.get("URI", "")) in pages
        if is_text and (method is None or method.get("Algorithm") not in _OBFUSCATIONS):
            raise EncryptedFile("its text is encrypted")


def _read_declared(root: Element) -> Declared:
    metadata = next(root.iter("opf:metadata"), None)
    values: dict[str, list[str]] = {}
    for child in metadata.iter() if metadata is not None else ():
        if child.tag.startswith("dc:") and (text := xml.text_of(child)):
            values.setdefault(child.tag[3:].lower(), []).append(text)
    roles = {}
    for child in metadata.iter("opf:meta") if metadata is not None else ():
        if child.get("property") == "role":
            roles[(child.get("refines") or "").lstrip("#")] = xml.text_of(child)
        if child.get("property") == "belongs-to-collection":
            values.setdefault("collection", []).append(xml.text_of(child))
    creators = [
        xml.text_of(one)
        for one in root.iter("dc:creator")
        if (one.get("opf:role") or roles.get(one.get("id", "")) or "aut") == "aut"
    ]
    # The description may be HTML in text.
    description = _TAG.sub(" ", unescape(" ".join(values.get("description", [])[:1])[:4_000]))
    collection = next(iter(values.get("collection", [])), "")
    return Declared(
        "epub",
        title=next(iter(values.get("title", [])), ""),
        authors=tuple(creators),
        subject=description,
        keywords=";".join(values.get("subject", [])[:20]),
        language=next(iter(values.get("language", [])), "").replace("und", ""),
        date=next((date for date in values.get("date", []) if not date.startswith("0")), ""),
        is_trusted=True,
        extra={"site_name": collection[:200]} if collection else {},
    )


def _read_navigation(archive: Archive, path: str) -> list[Entry]:
    """Return the table of contents of version 3."""
    data = archive.read_if_there(path)
    try:
        root = xml.parse(data) if data else None
    except DamagedFile:
        root = None
    if root is None:
        return []
    lists = list(root.iter("html:nav"))
    chosen = next((one for one in lists if "toc" in (one.get("epub:type") or "").split()), lists[0] if lists else None)
    entries: list[Entry] = []
    outer = next(chosen.iter("html:ol"), None) if chosen is not None else None
    if outer is not None:
        _read_list(outer, posixpath.dirname(path), 0, entries)
    return entries


def _read_list(listing: Element, folder: str, depth: int, entries: list[Entry]) -> None:
    for item in listing.findall("html:li"):
        for child in item:
            if child.tag == "html:ol":
                _read_list(child, folder, depth + 1, entries)
            elif (link := next(child.iter("html:a"), None)) is not None and link.get("href"):
                entries.append(_make_entry(xml.text_of(link), link.get("href", ""), folder, depth))


def _make_entry(title: str, target: str, folder: str, depth: int) -> Entry:
    return Entry(title[:300], resolve(folder, target), unquote(target.partition("#")[2]), depth)


def _read_ncx(archive: Archive, manifest: dict[str, tuple[str, str, str]]) -> list[Entry]:
    """Return the table of contents of version 2."""
    path = next((about[0] for about in manifest.values() if about[1] == "application/x-dtbncx+xml"), None)
    data = archive.read_if_there(path) if path else None
    try:
        root = xml.parse(data) if data else None
    except DamagedFile:
        root = None
    entries: list[Entry] = []
    points = next(root.iter("ncx:navMap"), None) if root is not None else None
    if points is not None and path:
        _read_points(points, posixpath.dirname(path), 0, entries)
    return entries


def _read_points(parent: Element, folder: str, depth: int, entries: list[Entry]) -> None:
    for point in parent.findall("ncx:navPoint"):
        content = point.find("ncx:content")
        if content is not None and content.get("src"):
            entries.append(_make_entry(xml.text_of(point.find("ncx:navLabel")), content.get("src", ""), folder, depth))
        _read_points(point, folder, depth + 1, entries)

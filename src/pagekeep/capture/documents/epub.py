"""EPUB 2 and 3: a book as one document with chapters, or one chapter of it.

The address of a chapter is that of its book with `#/` and a number: `https://example.com/book.epub#/3`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from html import escape, unescape
from typing import Final
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from pagekeep import dom
from pagekeep.capture.documents import zip_xml
from pagekeep.capture.documents.parsed import (
    DamagedFile,
    Declared,
    Dropped,
    EmptyFile,
    EncryptedFile,
    ParsedDocument,
    make_metadata,
)
from pagekeep.capture.documents.zip_xml import Archive
from pagekeep.extraction.input.decode import decode
from pagekeep.model import Metadata, Options
from pagekeep.text import number_of
from pagekeep.values import dataclass

_CHAPTER: Final = re.compile(r"(.*)#/(\d{1,5})")


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the book in an EPUB file, or the chapter that the address names."""
    book = read_book(data)
    first = next((chapter.title for chapter in book.chapters if chapter.title), "")
    metadata = make_metadata(book.package.declared, first, "")
    if not book.chapters:
        raise EmptyFile(metadata=metadata)
    chapter = _CHAPTER.fullmatch(url or "")
    html, how = book.write() if not chapter else "", f"a book of {number_of(len(book.chapters), 'chapter')}"
    if chapter:
        html, metadata = _read_chapter(book, int(chapter[2]), chapter[1], metadata)
        how = f"chapter {chapter[2]} of {how}"
    removals, warnings = tuple(book.dropped.removals()), tuple(book.dropped.warnings())
    return ParsedDocument(html, metadata, f"{how}, read in its own order", removals, warnings)


def _read_chapter(book: Book, number: int, address: str, metadata: Metadata) -> tuple[str, Metadata]:
    """Return a chapter with its own title; the book is its site."""
    if not 1 <= number <= len(book.chapters):
        raise DamagedFile(f"it has no chapter {number}", metadata)
    title = book.chapters[number - 1].title or metadata.title
    about = replace(metadata, title=title, site_name=metadata.title, description=None)
    return book.write_chapter(number, address), about


_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_WRAPPERS: Final = frozenset({"div", "section", "article", "main", "body"})
_MAX_WRAPPERS: Final = 12
_MAX_CHARS_BEFORE_HEADING: Final = 200
"""Text before the first heading of a page that still belongs to it: "Chapter 3", an epigraph."""
_MAX_NOTE_CHARS: Final = 5_000
_NOTE_BLOCKS: Final = frozenset({"li", "aside", "p", "dd", "div"})
_MARK: Final = re.compile(r"[\[(]?(?:\d{1,4}|[*†‡§]{1,3}|[a-z])[\])]?")
MAX_CHAPTERS: Final = 500


@dataclass(frozen=True, slots=True)
class Chapter:
    """A part of a book."""

    title: str
    nodes: tuple[dom.Node, ...]
    words: int


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


@dataclass(frozen=True, slots=True)
class Book:
    """A book as it was read."""

    package: Package
    chapters: tuple[Chapter, ...]
    dropped: Dropped

    def write(self) -> str:
        """Return all chapters as HTML."""
        return "\n".join(_write(chapter.nodes) for chapter in self.chapters)

    def write_chapter(self, number: int, address: str) -> str:
        """Return one chapter as HTML, with the notes that it refers to; links to others lead to their addresses."""
        places = _find_anchors(self.chapters)
        notes: dict[str, dom.Element] = {}
        for node in self.chapters[number - 1].nodes:
            for link in dom.select(node, 'a[href^="#p"]') if isinstance(node, dom.Element) else ():
                name = (link.attr("href") or "")[1:]
                place, target = places.get(name, (self._chapter_of(name, places), None))
                if place == number:
                    continue
                if target is not None and (note := _find_note(link, target)) is not None:
                    notes[name] = note
                elif place:
                    dom.set_attr(link, "href", f"{address}#/{place}")
        return _write((*self.chapters[number - 1].nodes, *map(dom.copy, notes.values())))

    def _chapter_of(self, name: str, places: dict[str, tuple[int, dom.Element]]) -> int | None:
        """Return the chapter that a whole page begins: a page has no anchor for itself."""
        start = f"{name}-"
        return next((place for known, (place, _) in places.items() if known.startswith(start)), None)


def _find_anchors(chapters: Iterable[Chapter]) -> dict[str, tuple[int, dom.Element]]:
    """Return the names of places in the book, each with the number of its chapter and its element."""
    return {
        name: (place, node)
        for place, chapter in enumerate(chapters, 1)
        for node in _with_ids(chapter.nodes)
        if (name := node.attr("id"))
    }


def _mark_references(chapters: Iterable[Chapter]) -> None:
    """Mark the links that are references to notes: those whose note begins with the same mark."""
    chapters = tuple(chapters)
    places = _find_anchors(chapters)
    for chapter in chapters:
        for node in chapter.nodes:
            for link in dom.select(node, 'a[href^="#p"]') if isinstance(node, dom.Element) else ():
                target = places.get((link.attr("href") or "")[1:])
                note = _find_note(link, target[1]) if target else None
                mark = dom.text_of(link).strip().strip("[]()")
                if note is not None and mark and dom.text_of(note).lstrip(" \n\t[(").startswith(mark):
                    dom.set_attr(link, "role", "doc-noteref")


def _with_ids(nodes: Iterable[dom.Node]) -> Iterable[dom.Element]:
    for node in nodes:
        if isinstance(node, dom.Element):
            if node.attr("id"):
                yield node
            yield from dom.select(node, "[id]")


def _find_note(link: dom.Element, target: dom.Element) -> dom.Element | None:
    """Return the block of the note that a mark in another chapter refers to; `None` for any other link."""
    if link.attr("role") != "doc-noteref" and not _MARK.fullmatch(dom.text_of(link).strip()):
        return None
    node: dom.Node | None = target
    while isinstance(node, dom.Element) and node.tag not in _NOTE_BLOCKS:
        node = node.parent
    is_note = isinstance(node, dom.Element) and len(dom.text_of(node)) <= _MAX_NOTE_CHARS
    return node if is_note and isinstance(node, dom.Element) else None


def read_book(data: bytes) -> Book:
    """Return the book in an EPUB file."""
    archive = Archive(data)
    package = read_package(archive)
    dropped = Dropped("epub")
    numbers = {path: number for number, path in enumerate(package.pages)}
    starts = _find_starts(package)
    pieces: list[tuple[str, list[dom.Node]]] = [("", [])]
    linked: set[str] = set()
    waiting: list[tuple[str, dom.Element]] = []
    for path in package.pages:
        body = _read_page(archive, path, dropped) if path != package.navigation else None
        if body is None or dropped.is_cut:
            continue
        prepare(body, path, numbers)
        if path in package.asides:
            waiting.append((path, body))
            continue
        linked.update((link.attr("href") or "").partition("-")[0] for link in dom.tagged(body, ("a",)))
        _cut(body, numbers[path], starts.get(path, []), pieces)
    for path, body in waiting:  # answers and notes outside the main text, if that leads there
        if f"#p{numbers[path]}" in linked:
            pieces[-1][1].extend(body.children)
        else:
            dropped.add("page", "outside the reading order", dom.text_of(body))
    chapters = [_make_chapter(title, nodes) for title, nodes in pieces]
    _mark_references(chapters)
    return Book(package, tuple(one for one in chapters if one.words), dropped)


def _read_page(archive: Archive, path: str, dropped: Dropped) -> dom.Element | None:
    try:
        body = parse_page(archive.read(path))
    except DamagedFile:
        dropped.add("page", "cannot be read", path)
        return None
    if body is not None:
        dropped.take(dom.text_of(body))
    return body


def _find_starts(package: Package) -> dict[str, list[Entry]]:
    """Return the entries of the table of contents at which chapters begin, by file.

    Those of the first level; below an entry whose own entries are in several other files (a part of a book), those too.
    """
    pages = frozenset(package.pages)
    entries = [entry for entry in package.contents if entry.title and entry.path in pages]
    starts: dict[str, list[Entry]] = {}
    count = 0
    part_files: frozenset[str] = frozenset()
    for index, entry in enumerate(entries):
        if entry.depth == 0:
            part_files = _files_of_part(entries, index)
        if entry.depth == 0 or (entry.depth == 1 and entry.path in part_files):
            count += 1
            if count <= MAX_CHAPTERS:
                starts.setdefault(entry.path, []).append(entry)
    return starts


def _files_of_part(entries: list[Entry], index: int) -> frozenset[str]:
    """Return the files of the entries below one of the first level, if they are several besides its own."""
    below: set[str] = set()
    for entry in entries[index + 1 :]:
        if entry.depth == 0:
            break
        below.add(entry.path)
    below.discard(entries[index].path)
    return frozenset(below) if len(below) > 1 else frozenset()


def _cut(body: dom.Element, number: int, starts: list[Entry], pieces: list[tuple[str, list[dom.Node]]]) -> None:
    """Add the nodes of a page to the chapter that is open, and begin chapters where the entries lead."""
    top = body
    for _ in range(_MAX_WRAPPERS):
        inner = [child for child in top.children if isinstance(child, dom.Element) or dom.text_of(child).strip()]
        if len(inner) != 1 or not isinstance(inner[0], dom.Element) or inner[0].tag not in _WRAPPERS:
            break
        top = inner[0]
    children = list(top.children)
    order = {child: place for place, child in enumerate(children)}
    anchors = {node.attr("id"): node for node in dom.select(body, "[id]")} if starts else {}
    places: dict[int, str] = {}
    for entry in starts:
        place = _place_of(anchors.get(f"p{number}-{entry.fragment}"), order) if entry.fragment else 0
        places.setdefault(place, entry.title)
    for place, node in enumerate(children):
        if place in places:
            pieces.append((places[place], _missing_heading(places[place], children[place : place + 20])))
        pieces[-1][1].append(node)


def _place_of(anchor: dom.Node | None, order: dict[dom.Node, int]) -> int:
    """Return which of the nodes contains the anchor; the first, if none does."""
    while anchor is not None:
        if anchor in order:
            return order[anchor]
        anchor = anchor.parent
    return 0


def _missing_heading(title: str, nodes: list[dom.Node]) -> list[dom.Node]:
    """Return a heading for a chapter that has none at its beginning."""
    chars = 0
    for node in nodes:
        if isinstance(node, dom.Element) and (
            node.tag in _HEADINGS or dom.first(node, ",".join(_HEADINGS)) is not None
        ):
            return []
        chars += len(dom.text_of(node).strip())
        if chars > _MAX_CHARS_BEFORE_HEADING:
            break
    return [dom.element("h1", None, title)]


def _make_chapter(title: str, nodes: list[dom.Node]) -> Chapter:
    return Chapter(title, tuple(nodes), sum(len(dom.text_of(node).split()) for node in nodes))


def _write(nodes: Iterable[dom.Node]) -> str:
    return "".join(dom.html_of(node) if isinstance(node, dom.Element) else escape(dom.text_of(node)) for node in nodes)


_PAGES: Final = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})
_OBFUSCATIONS: Final = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
"""How fonts are hidden; that is not protection of the text."""
_PROTECTION: Final = ("META-INF/rights.xml", "META-INF/sinf.xml", "META-INF/license.lcpl")
MAX_PAGES: Final = 3_000
MAX_ENTRIES: Final = 5_000
_TAG: Final = re.compile(r"<[^<>]{0,2000}>")


def read_package(archive: Archive) -> Package:
    """Return the package of a book; raise `EncryptedFile` for one whose text is protected."""
    path = _find_package(archive)
    root = zip_xml.parse_xml(archive.read(path))
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
        for one in zip_xml.parse_xml(data).iter("container:rootfile"):
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
    for one in zip_xml.parse_xml(data).iter("enc:EncryptedData") if data else ():
        method = next(one.iter("enc:EncryptionMethod"), None)
        reference = next(one.iter("enc:CipherReference"), None)
        is_text = reference is not None and resolve("", reference.get("URI", "")) in pages
        if is_text and (method is None or method.get("Algorithm") not in _OBFUSCATIONS):
            raise EncryptedFile("its text is encrypted")


def _read_declared(root: Element) -> Declared:
    metadata = next(root.iter("opf:metadata"), None)
    values: dict[str, list[str]] = {}
    for child in metadata.iter() if metadata is not None else ():
        if child.tag.startswith("dc:") and (text := zip_xml.text_of(child)):
            values.setdefault(child.tag[3:].lower(), []).append(text)
    roles = {}
    for child in metadata.iter("opf:meta") if metadata is not None else ():
        if child.get("property") == "role":
            roles[(child.get("refines") or "").lstrip("#")] = zip_xml.text_of(child)
        if child.get("property") == "belongs-to-collection":
            values.setdefault("collection", []).append(zip_xml.text_of(child))
    creators = [
        zip_xml.text_of(one)
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
    root = archive.parse_if_sound(path)
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
                entries.append(_make_entry(zip_xml.text_of(link), link.get("href", ""), folder, depth))


def _make_entry(title: str, target: str, folder: str, depth: int) -> Entry:
    return Entry(title[:300], resolve(folder, target), unquote(target.partition("#")[2]), depth)


def _read_ncx(archive: Archive, manifest: dict[str, tuple[str, str, str]]) -> list[Entry]:
    """Return the table of contents of version 2."""
    path = next((about[0] for about in manifest.values() if about[1] == "application/x-dtbncx+xml"), None)
    root = archive.parse_if_sound(path) if path else None
    entries: list[Entry] = []
    points = next(root.iter("ncx:navMap"), None) if root is not None else None
    if points is not None and path:
        _read_points(points, posixpath.dirname(path), 0, entries)
    return entries


def _read_points(parent: Element, folder: str, depth: int, entries: list[Entry]) -> None:
    for point in parent.findall("ncx:navPoint"):
        content = point.find("ncx:content")
        if content is not None and content.get("src"):
            entries.append(
                _make_entry(zip_xml.text_of(point.find("ncx:navLabel")), content.get("src", ""), folder, depth)
            )
        _read_points(point, folder, depth + 1, entries)


_EMPTY_TAGS: Final = frozenset("area base br col embed hr img input link meta param source track wbr image".split())
_CLOSED_TAG: Final = re.compile(r"<([A-Za-z][\w:.-]{0,40})((?:\s[^<>]{0,2000})?)/>")
_POINTLESS_TEXT: Final = re.compile(
    r"(?i)(?:image|img|picture|cover|illustration|figure|photo|\[?[\w-]*\.(?:jpe?g|png|gif|svg))?\W*\d*\W*"
)
_NOTE_TYPES: Final = frozenset({"footnote", "endnote", "rearnote", "note"})
_BLOCKS: Final = frozenset("p div figure section article aside body center td li blockquote h1 h2 h3 h4 h5 h6".split())
_WEB: Final = ("http://", "https://", "mailto:", "tel:")


def parse_page(data: bytes) -> dom.Element | None:
    """Return the body of a page; `None` if it has none."""
    text, _ = decode(data, Options(max_bytes=len(data) + 1))
    document = dom.parse(_CLOSED_TAG.sub(_close, text))
    return dom.first(document, "body")


def _close(match: re.Match[str]) -> str:
    """Return a tag that XML closes in itself with an end tag, as HTML needs it."""
    name, attributes = match[1], match[2]
    return match[0] if name.lower() in _EMPTY_TAGS else f"<{name}{attributes}></{name}>"


def prepare(body: dom.Element, path: str, numbers: Mapping[str, int]) -> None:
    """Make the page part of the book; `numbers` has the number of every page, by its file."""
    own, folder = numbers[path], posixpath.dirname(path)
    for node in dom.select(body, "[id],[name]"):
        name = node.attr("id") or (node.attr("name") if node.tag == "a" else None)
        if name:
            dom.set_attr(node, "id", f"p{own}-{name}")
            dom.set_attr(node, "name", None)
    for link in dom.tagged(body, ("a",)):
        _resolve_link(link, folder, own, numbers)
    for node in dom.select(body, "[epub\\:type]"):
        types = set((node.attr("epub:type") or "").split())
        if "noteref" in types and node.tag == "a":
            dom.set_attr(node, "role", "doc-noteref")
        elif types & _NOTE_TYPES:
            dom.set_attr(node, "role", "doc-footnote")
    for picture in dom.tagged(body, ("svg",)):
        dom.drop(picture)
    for picture in dom.tagged(body, ("img", "image")):
        _describe(picture)


def _resolve_link(link: dom.Element, folder: str, own: int, numbers: Mapping[str, int]) -> None:
    target = (link.attr("href") or "").strip()
    if not target or target.lower().startswith(_WEB):
        return
    fragment = target.partition("#")[2]
    number = own if target.startswith("#") else numbers.get(resolve(folder, target))
    if number is None:
        dom.set_attr(link, "href", None)
    else:
        dom.set_attr(link, "href", f"#p{number}-{fragment}" if fragment else f"#p{number}")


def _describe(picture: dom.Element) -> None:
    """Replace a picture, whose file is not kept, by its text: as a caption where it is a block, else within the line."""
    text = " ".join((picture.attr("alt") or "").split())[:2_000]
    parent = picture.parent
    alone = isinstance(parent, dom.Element) and parent.tag in _BLOCKS and not dom.text_of(parent).strip()
    if _is_captioned(picture) or (alone and _POINTLESS_TEXT.fullmatch(text)):
        dom.drop(picture)
    elif alone:
        dom.replace(picture, dom.element("figure", None, dom.element("figcaption", None, text)))
    else:
        dom.replace(picture, text)


def _is_captioned(picture: dom.Element) -> bool:
    """Return whether the picture is in a figure that has a caption."""
    node: dom.Node | None = picture.parent
    for _ in range(4):
        if not isinstance(node, dom.Element):
            return False
        if node.tag == "figure":
            return dom.first(node, "figcaption") is not None
        node = node.parent
    return False

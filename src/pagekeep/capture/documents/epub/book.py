"""A book as chapters: its pages in order, cut where the table of contents says."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Final

from pagekeep import dom
from pagekeep.capture.documents.epub.package import Entry, Package, read_package
from pagekeep.capture.documents.epub.pages import parse_page, prepare
from pagekeep.capture.documents.parts.archive import Archive
from pagekeep.capture.documents.parts.dropped import Dropped
from pagekeep.capture.documents.refusals import DamagedFile
from pagekeep.values import dataclass

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

"""A book as chapters: its pages in order, cut where the table of contents says."""

from __future__ import annotations

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
MAX_CHAPTERS: Final = 500


@dataclass(frozen=True, slots=True)
class Chapter:
    """A part of a book."""

    title: str
    html: str
    words: int


@dataclass(frozen=True, slots=True)
class Book:
    """A book as it was read."""

    package: Package
    chapters: tuple[Chapter, ...]
    dropped: Dropped

    @property
    def html(self) -> str:
        """All chapters."""
        return "\n".join(chapter.html for chapter in self.chapters)


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
    return Book(package, tuple(one for one in chapters if one.words or one.html.strip()), dropped)


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
    entries = [entry for entry in package.contents if entry.title and entry.path in package.pages]
    starts: dict[str, list[Entry]] = {}
    count = 0
    for index, entry in enumerate(entries):
        if entry.depth == 0 or (entry.depth == 1 and _is_part(entries, index)):
            count += 1
            if count <= MAX_CHAPTERS:
                starts.setdefault(entry.path, []).append(entry)
    return starts


def _is_part(entries: list[Entry], index: int) -> bool:
    """Return whether the entry above this one is a part of several files, and this one begins a file."""
    above = next((place for place in range(index - 1, -1, -1) if entries[place].depth == 0), None)
    if above is None:
        return False
    below = []
    for entry in entries[above + 1 :]:
        if entry.depth == 0:
            break
        below.append(entry.path)
    return len(set(below) - {entries[above].path}) > 1 and entries[index].path != entries[above].path


def _cut(body: dom.Element, number: int, starts: list[Entry], pieces: list[tuple[str, list[dom.Node]]]) -> None:
    """Add the nodes of a page to the chapter that is open, and begin chapters where the entries lead."""
    top = body
    for _ in range(_MAX_WRAPPERS):
        inner = [child for child in top.children if isinstance(child, dom.Element) or dom.text_of(child).strip()]
        if len(inner) != 1 or not isinstance(inner[0], dom.Element) or inner[0].tag not in _WRAPPERS:
            break
        top = inner[0]
    places: dict[int, str] = {}
    children = list(top.children)
    for entry in starts:
        place = _place_of(body, children, f"p{number}-{entry.fragment}") if entry.fragment else 0
        places.setdefault(place, entry.title)
    for place, node in enumerate(children):
        if place in places:
            pieces.append((places[place], _missing_heading(places[place], children[place:])))
        pieces[-1][1].append(node)


def _place_of(body: dom.Element, children: list[dom.Node], name: str) -> int:
    """Return which of the nodes contains the anchor; the first, if none does."""
    target = next((node for node in dom.select(body, "[id]") if node.attr("id") == name), None)
    node: dom.Node | None = target
    while node is not None:
        for place, child in enumerate(children):
            if child is node:
                return place
        node = node.parent
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
    html = "".join(dom.html_of(node) if isinstance(node, dom.Element) else escape(dom.text_of(node)) for node in nodes)
    return Chapter(title, html, sum(len(dom.text_of(node).split()) for node in nodes))

"""Bookmark files of browsers and other programs, and plain lists of addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Final, TextIO

from pagekeep.library.imports.input.records import Sample
from pagekeep.library.imports.input.row import ParsedRow, Place, Row, parse_bool, parse_names, parse_time
from pagekeep.library.imports.input.source import Source

_ROOT_ATTRIBUTES: Final = frozenset({"personal_toolbar_folder", "unfiled_bookmarks_folder"})
_ROOT_NAMES: Final = frozenset(
    "bookmarks|bookmarks bar|bookmarks menu|bookmarks toolbar|favorites|favorites bar|favourites|imported|mobile bookmarks|"
    "other bookmarks|other favorites|reading list|unsorted|unsorted bookmarks".split("|")
)
"""Folders that every browser has: as tags they would say nothing about the page."""


def matches_netscape(sample: Sample) -> bool:
    """Return whether the file has the doctype of bookmark files, or links in definition lists."""
    head = sample.lower
    return "<!doctype netscape-bookmark-file" in head[:2_000] or ("<dl>" in head and "<dt><a " in head)


def read_netscape(source: Source) -> Iterator[ParsedRow]:
    """Yield every link; folders become tags."""
    with source.text() as stream:
        for number, anchor in enumerate(read_anchors(stream), 1):
            yield _netscape_row(anchor, Place(anchor.line, number, source.part))


def _netscape_row(anchor: Anchor, place: Place) -> Row:
    attributes = anchor.attributes
    return Row(
        place,
        url=attributes.get("href", ""),
        title=anchor.title,
        saved_at=parse_time(attributes.get("add_date")) or parse_time(attributes.get("last_modified")),
        opened_at=parse_time(attributes.get("last_visit")),
        description=anchor.note,
        tags=(*parse_names(attributes.get("tags")), *filter(None, map(_tag_from_folder, anchor.folders))),
        archived=parse_bool(attributes.get("archived", "")),
        pinned=parse_bool(attributes.get("pinned", "")),
        note=anchor.note,
    )


def _tag_from_folder(folder: Folder) -> str:
    if folder.name.lower() in _ROOT_NAMES or not _ROOT_ATTRIBUTES.isdisjoint(folder.attributes):
        return ""
    return folder.name


_MAX_LINE_CHARS: Final = 100_000


def matches_list(sample: Sample) -> bool:
    """Return whether the first line that is not a comment is an address."""
    lines = (line.strip() for line in sample.head.splitlines()[:200])
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return first.lower().startswith(("http://", "https://"))


def read_list(source: Source) -> Iterator[ParsedRow]:
    """Yield every line that is not empty or a comment: an address, and after ` | ` a title."""
    number = 0
    with source.text() as stream:
        for line_number, line in enumerate(iter(lambda: stream.readline(_MAX_LINE_CHARS), ""), 1):
            text = line.strip("\ufeff \t\r\n")
            if not text or text.startswith("#"):
                continue
            number += 1
            url, _, title = text.partition(" | ")
            yield Row(Place(line_number, number, source.part), url=url.strip(), title=title.strip())


_CHUNK_CHARS: Final = 65_536
_MAX_PIECE_CHARS: Final = 1_000_000
_MAX_TEXT_CHARS: Final = 100_000
_TAG: Final = re.compile(r"([a-zA-Z!/][^\s>]*+)((?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+)>")
_LOOSE_TAG: Final = re.compile(r"([a-zA-Z!/][^\s>]*+)([^>]*+)>")
_ATTRIBUTE: Final = re.compile(r"([a-zA-Z_:-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))")
_MAX_FOLDERS: Final = 50
"""Deeper folders do not become tags."""
_MAX_TEXT_PARTS: Final = 200
"""How many pieces between inline tags one title or note may have."""
_MAX_JOINED_PIECES: Final = 50
"""How many `<` one attribute may contain."""
_BREAKS: Final = frozenset({"br", "br/", "p"})


@dataclass(frozen=True, slots=True)
class Folder:
    """A bookmark folder: a heading with a list of links below it."""

    name: str
    attributes: dict[str, str]


_NAMELESS: Final = Folder("", {})


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link."""

    line: int
    attributes: dict[str, str]
    """By name in lower case."""
    title: str
    note: str
    """The text of the `<dd>` below it."""
    folders: tuple[Folder, ...]
    section: str
    """The last `<h1>` before it."""


def read_anchors(stream: TextIO) -> Iterator[Anchor]:
    """Yield every link of the file."""
    parser = _AnchorParser()
    for line, tag, attributes, text in _read_pieces(stream):
        yield from parser.take(line, tag, attributes, text)
    yield from parser.flush()


def _read_pieces(stream: TextIO) -> Iterator[tuple[int, str, str, str]]:
    """Yield each tag's line, name, raw attributes and following text; the name is empty for text after a stray `<`."""
    line, rest = 1, ""
    unfinished: list[str] = []
    while chunk := stream.read(_CHUNK_CHARS):
        *pieces, rest = (rest + chunk).split("<")
        if len(rest) > _MAX_PIECE_CHARS:
            pieces, rest = [*pieces, rest], ""
        for piece in pieces:
            unfinished.append(piece)
            piece = "<".join(unfinished)
            if len(unfinished) < _MAX_JOINED_PIECES and _is_unfinished(piece):
                continue
            unfinished = []
            yield line, *_split_piece(piece)
            line += piece.count("\n")
    yield line, *_split_piece("<".join([*unfinished, rest]))


def _is_unfinished(piece: str) -> bool:
    """Return whether the `<` after this piece is inside an attribute value."""
    if not piece[:1].isalpha() or len(piece) > _MAX_PIECE_CHARS:
        return False
    open_quote = piece.count('"') % 2 == 1
    return ">" not in (piece[piece.rfind('"') :] if open_quote else piece)


def _split_piece(piece: str) -> tuple[str, str, str]:
    tag = _TAG.match(piece) or _LOOSE_TAG.match(piece)
    if tag is None:
        return "", "", f"<{piece[:_MAX_TEXT_CHARS]}"
    return tag[1].lower(), tag[2], piece[tag.end() : tag.end() + _MAX_TEXT_CHARS]


@dataclass(slots=True)
class _AnchorParser:
    """The state of the file at the current tag."""

    folders: list[Folder] = field(default_factory=list)
    deeper: int = 0
    """Open folders beyond `_MAX_FOLDERS`."""
    section: str = ""
    heading: Folder | None = None
    """The folder whose list has not begun yet."""
    link: tuple[int, dict[str, str]] | None = None
    into: str = ""
    """The element that text belongs to: `a`, `dd`, `h1`, `h3` or none."""
    texts: dict[str, list[str]] = field(default_factory=dict)

    def take(self, line: int, tag: str, attributes: str, text: str) -> Iterator[Anchor]:
        """Process the next tag and yield the link that it completes, if any."""
        if tag in ("a", "dt", "dl", "/dl", "h1", "h3", "h2"):
            yield from self.flush()
        if tag == "a":
            self.link = (line, _parse_attributes(attributes))
            self._begin("a", text)
        elif tag in ("h1", "h2", "h3"):
            self.heading = Folder("", _parse_attributes(attributes)) if tag != "h1" else None
            self._begin("h1" if tag == "h1" else "h3", text)
        elif tag == "dd":
            self._begin("dd", text)
        elif tag in ("/a", "/h1", "/h2", "/h3", "/dd", "/li"):
            self._end(tag)
        elif tag == "dl":
            self._end("/h3")
            if len(self.folders) < _MAX_FOLDERS:
                self.folders.append(self.heading or _NAMELESS)
            else:
                self.deeper += 1
            self.heading = None
        elif tag == "/dl":
            self.into = ""
            if self.deeper:
                self.deeper -= 1
            else:
                del self.folders[-1:]
        elif self.into and len(self.texts[self.into]) < _MAX_TEXT_PARTS:
            self.texts[self.into].append(("\n" if tag in _BREAKS else "") + text)

    def flush(self) -> Iterator[Anchor]:
        """Yield the open link, if any, and forget it."""
        if self.link is not None:
            line, attributes = self.link
            title, note = self._text("a"), self._text("dd")
            yield Anchor(line, attributes, " ".join(title.split()), note, tuple(self.folders), self.section)
        self.link = None
        if self.into in ("a", "dd"):
            self.into = ""
        self.texts.pop("a", None)
        self.texts.pop("dd", None)

    def _begin(self, into: str, text: str) -> None:
        self.into = into
        self.texts[into] = [text]

    def _end(self, tag: str) -> None:
        if tag == "/h1" and "h1" in self.texts:
            self.section = self._text("h1")
        elif tag in ("/h2", "/h3") and self.heading is not None and not self.heading.name:
            self.heading = Folder(" ".join(self._text("h3").split()), self.heading.attributes)
        self.into = ""

    def _text(self, into: str) -> str:
        return unescape("".join(self.texts.get(into, ()))).strip()


def _parse_attributes(text: str) -> dict[str, str]:
    attributes = {name.lower(): double or single or bare for name, double, single, bare in _ATTRIBUTE.findall(text)}
    return {name: unescape(value) if "&" in value else value for name, value in attributes.items()}

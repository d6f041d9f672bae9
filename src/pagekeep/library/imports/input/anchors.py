"""The links in a bookmark file, with the folders and headings above them.

Such files are not valid HTML: only lists are closed. They are read in small pieces, since they may be very long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Final, TextIO

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

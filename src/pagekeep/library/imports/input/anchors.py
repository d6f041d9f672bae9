"""Links in files of bookmarks, with the folders and headings they stand under.

Such files are no proper HTML: nothing is closed but lists. They are read in small pieces, as they may be very long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Final, TextIO

_CHUNK: Final = 65_536
_LONGEST_PIECE: Final = 1_000_000
_LONGEST_TEXT: Final = 100_000
_TAG: Final = re.compile(r"([a-zA-Z!/][^\s>]*+)((?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+)>")
_LOOSE_TAG: Final = re.compile(r"([a-zA-Z!/][^\s>]*+)([^>]*+)>")
_ATTRIBUTE: Final = re.compile(r"([a-zA-Z_:-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))")
_DEEPEST: Final = 50
"""Folders that count."""
_MOST_PARTS: Final = 200
"""Of a text with tags in it."""
_MOST_CARRIED: Final = 50
"""Signs in one attribute."""
_BREAKS: Final = frozenset({"br", "br/", "p"})


@dataclass(frozen=True, slots=True)
class Folder:
    """A heading with links below it."""

    name: str
    attributes: dict[str, str]


_NAMELESS: Final = Folder("", {})


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link."""

    line: int
    attributes: dict[str, str]
    """Names in lower case."""
    title: str
    note: str
    """What stands below it."""
    folders: tuple[Folder, ...]
    section: str
    """The last heading of the first rank."""


def anchors(stream: TextIO) -> Iterator[Anchor]:
    """Every link of the file."""
    reader = _Reader()
    for line, tag, attributes, text in _pieces(stream):
        yield from reader.take(line, tag, attributes, text)
    yield from reader.flush()


def _pieces(stream: TextIO) -> Iterator[tuple[int, str, str, str]]:
    """Each tag with its line, its attributes as written, and the text behind it; an empty tag for text that had a `<`."""
    line, rest = 1, ""
    carried: list[str] = []
    while chunk := stream.read(_CHUNK):
        *whole, rest = (rest + chunk).split("<")
        if len(rest) > _LONGEST_PIECE:
            whole, rest = [*whole, rest], ""
        for piece in whole:
            carried.append(piece)
            piece = "<".join(carried)
            if len(carried) < _MOST_CARRIED and _is_unfinished(piece):
                continue
            carried = []
            yield line, *_split(piece)
            line += piece.count("\n")
    yield line, *_split("<".join([*carried, rest]))


def _is_unfinished(piece: str) -> bool:
    """Whether the sign that ended it stands within an attribute."""
    if not piece[:1].isalpha() or len(piece) > _LONGEST_PIECE:
        return False
    open_quote = piece.count('"') % 2 == 1
    return ">" not in (piece[piece.rfind('"') :] if open_quote else piece)


def _split(piece: str) -> tuple[str, str, str]:
    found = _TAG.match(piece) or _LOOSE_TAG.match(piece)
    if found is None:
        return "", "", f"<{piece[:_LONGEST_TEXT]}"
    return found[1].lower(), found[2], piece[found.end() : found.end() + _LONGEST_TEXT]


@dataclass(slots=True)
class _Reader:
    """Where we are in the file."""

    folders: list[Folder] = field(default_factory=list)
    section: str = ""
    heading: Folder | None = None
    """One whose list has not begun."""
    link: tuple[int, dict[str, str]] | None = None
    into: str = ""
    """What the text belongs to: `a`, `dd`, `h1`, `h3` or nothing."""
    texts: dict[str, list[str]] = field(default_factory=dict)

    def take(self, line: int, tag: str, attributes: str, text: str) -> Iterator[Anchor]:
        """The next piece; a link comes out when it is complete."""
        if tag in ("a", "dt", "dl", "/dl", "h1", "h3", "h2"):
            yield from self.flush()
        if tag == "a":
            self.link = (line, _attributes(attributes))
            self._begin("a", text)
        elif tag in ("h1", "h2", "h3"):
            self.heading = Folder("", _attributes(attributes)) if tag != "h1" else None
            self._begin("h1" if tag == "h1" else "h3", text)
        elif tag == "dd":
            self._begin("dd", text)
        elif tag in ("/a", "/h1", "/h2", "/h3", "/dd", "/li"):
            self._end(tag)
        elif tag == "dl":
            self._end("/h3")
            self.folders.append(self.heading or _NAMELESS)
            self.heading = None
        elif tag == "/dl":
            self.into = ""
            del self.folders[-1:]
        elif self.into and len(self.texts[self.into]) < _MOST_PARTS:
            self.texts[self.into].append(("\n" if tag in _BREAKS else "") + text)

    def flush(self) -> Iterator[Anchor]:
        """The link that is under way."""
        if self.link is not None:
            line, attributes = self.link
            title, note = self._text("a"), self._text("dd")
            yield Anchor(line, attributes, " ".join(title.split()), note, tuple(self.folders[:_DEEPEST]), self.section)
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


def _attributes(written: str) -> dict[str, str]:
    found = {name.lower(): double or single or bare for name, double, single, bare in _ATTRIBUTE.findall(written)}
    return {name: unescape(value) if "&" in value else value for name, value in found.items()}

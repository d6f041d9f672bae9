"""Values of the layout pass: words with their places, lines, blocks and pages. Points, with y growing downwards."""

from __future__ import annotations

from dataclasses import field
from typing import Final, Literal, NamedTuple

from pagekeep.values import dataclass

ARTIFACT: Final = -2
"""The number of words that a PDF marks as not content, such as running heads."""


class Font(NamedTuple):
    """The style of a font."""

    name: str
    bold: bool
    italic: bool
    mono: bool


class Box(NamedTuple):
    """A rectangle on a page."""

    x0: float
    top: float
    x1: float
    bottom: float

    def has(self, x: float, y: float, slack: float = 0.0) -> bool:
        """Return whether a point is inside."""
        return self.x0 - slack <= x <= self.x1 + slack and self.top - slack <= y <= self.bottom + slack


@dataclass(slots=True)
class Word:
    """Characters without a space, in one font; `glued` to the word before it when only the font changes."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    base: float
    """Height of the baseline."""
    size: float
    font: Font
    mcid: int = -1
    """Number of the marked content in the structure tree, -1 without one, `ARTIFACT` for what is not content."""
    glued: bool = False
    link: str = ""
    raised: bool = False
    """Whether it is a superscript."""

    @property
    def middle(self) -> tuple[float, float]:
        """The centre of the word."""
        return (self.x0 + self.x1) / 2, (self.top + self.bottom) / 2


@dataclass(slots=True)
class Line:
    """Words on one baseline, from left to right."""

    words: list[Word]
    x0: float = 0.0
    x1: float = 0.0
    top: float = 0.0
    bottom: float = 0.0
    base: float = 0.0
    size: float = 0.0
    """Size of most of its characters."""
    bullet: bool = False
    """Whether a drawn bullet is in front of it."""

    def measure(self) -> Line:
        """Set the place and size from the words, and return the line."""
        words = self.words
        self.x0, self.x1 = min(word.x0 for word in words), max(word.x1 for word in words)
        self.top, self.bottom = min(word.top for word in words), max(word.bottom for word in words)
        sizes: dict[float, int] = {}
        for word in words:
            sizes[word.size] = sizes.get(word.size, 0) + len(word.text)
        self.size = max(sizes, key=lambda size: (sizes[size], size))
        self.base = next(word.base for word in words if word.size == self.size)
        return self

    @property
    def text(self) -> str:
        """The words with spaces."""
        return "".join(
            word.text if word.glued or not index else f" {word.text}" for index, word in enumerate(self.words)
        )


BlockKind = Literal["text", "heading", "item", "code", "table", "note", "quote", "caption"]


@dataclass(slots=True)
class Block:
    """Lines that belong together, and what they are."""

    kind: BlockKind
    lines: list[Line]
    page: int
    """From 0."""
    level: int = 0
    """Of a heading, from 1; depth of a list item or quote, from 0."""
    marker: str = ""
    """Of a list item or note: "•", "3." or "1"."""
    rows: list[list[Cell]] = field(default_factory=list)
    """Of a table."""
    inset: float = 0.0
    """Distance, in type sizes, from both edges of the column: quotes have one."""
    centred: bool = False
    """Whether its lines are short and in the middle of the column."""

    @property
    def text(self) -> str:
        """The text of all lines."""
        return " ".join(line.text for line in self.lines)

    @property
    def size(self) -> float:
        """Type size of the first line."""
        return self.lines[0].size if self.lines else 0.0

    @property
    def words(self) -> list[Word]:
        """All words, in order."""
        return [word for line in self.lines for word in line.words]


@dataclass(slots=True)
class Cell:
    """A cell of a table."""

    lines: list[Line]
    header: bool = False
    span: int = 1
    """Columns."""


@dataclass(slots=True)
class Node:
    """An element of the structure tree; its children are elements and numbers of marked contents, in order."""

    tag: str
    children: list[Node | int]
    alt: str = ""
    spans: tuple[int, int] = (1, 1)
    """Columns and rows of a cell."""


@dataclass(slots=True)
class PdfPage:
    """What is on one page, in the order of its content stream."""

    index: int
    width: float
    height: float
    words: list[Word]
    rules: list[Box] = field(default_factory=list)
    """Thin lines, such as those of tables."""
    boxes: list[Box] = field(default_factory=list)
    """Rectangles, such as the background of code."""
    dots: list[Box] = field(default_factory=list)
    """Small shapes, which may be bullets."""
    tree: Node | None = None
    """The structure tree of the page."""
    images: int = 0
    cut: bool = False
    """Whether some of its content was left out because there is too much of it."""


class OutlineEntry(NamedTuple):
    """An entry of the document's table of contents."""

    title: str
    level: int
    """From 0."""
    page: int | None


@dataclass(slots=True)
class PdfFile:
    """A PDF as values."""

    pages: list[PdfPage]
    page_count: int
    info: dict[str, str]
    outline: list[OutlineEntry]
    language: str = ""
    xmp: bytes = b""

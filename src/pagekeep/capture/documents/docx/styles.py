"""The styles and lists of a DOCX: roles of paragraphs, marks of runs, and the number of every item."""

from __future__ import annotations

import re
from typing import Final
from xml.etree.ElementTree import Element

from pagekeep.capture.documents.word_blocks import is_monospaced
from pagekeep.values import dataclass

_MAX_PARENTS: Final = 20
_HEADING: Final = re.compile(r"heading ([1-9])$")
_CODE: Final = re.compile(
    r"(?:source ?)?code(?: ?block| listing| ?char)?$|source ?code|html preformatted|preformatted|verbatim|listing|plain text$"
    r"|macro( ?text)?$|html code|macro"
)
_QUOTE: Final = re.compile(r"(?:intense )?quote|block ?(?:text|quot)|quotation|zitat|citation$")
_OFF: Final = frozenset({"0", "false", "off", "none"})
_MARKS: Final = {"w:b": "strong", "w:i": "em", "w:strike": "s", "w:dstrike": "s"}
_NOT_EMPHASIS: Final = re.compile(
    r"hyperlink|footnote|endnote|annotation|line number|page number|comment|caption|toc|header|footer"
)
"""Character styles whose look is not emphasis."""


@dataclass(frozen=True, slots=True)
class Style:
    """A style with what it inherits."""

    name: str
    """In lower case; English in every edition of Word."""
    outline: int | None
    """Level of a heading from 1; 0 for a style that is none."""
    number: tuple[str, int] | None
    """Id and level of the list."""
    marks: frozenset[str]
    """Marks of runs, in a character style."""
    hidden: bool = False

    @property
    def is_title(self) -> bool:
        return self.name == "title"

    @property
    def is_code(self) -> bool:
        return "code" in self.marks or _CODE.match(self.name) is not None

    @property
    def is_quote(self) -> bool:
        return _QUOTE.match(self.name) is not None

    @property
    def is_caption(self) -> bool:
        return self.name.endswith("caption")

    @property
    def is_contents(self) -> bool:
        return self.name.startswith(("toc ", "table of figures", "index ")) or self.name == "toc heading"


NO_STYLE: Final = Style("", None, None, frozenset())


class Styles:
    """The styles of a document, by id."""

    def __init__(self, root: Element | None) -> None:
        found = root.findall("w:style") if root is not None else ()
        self._elements = {one.get("w:styleId", ""): one for one in found}
        self._known: dict[str, Style] = {}
        self.default_paragraph = next(
            (
                key
                for key, one in self._elements.items()
                if one.get("w:type") == "paragraph" and (one.get("w:default") or "0").lower() not in _OFF
            ),
            "",
        )

    def get(self, key: str | None) -> Style:
        """Return a style; one without properties for an unknown id."""
        if not key:
            return NO_STYLE
        if key not in self._known:
            self._known[key] = self._make(key)
        return self._known[key]

    def _make(self, key: str) -> Style:
        chain = self._chain(key)
        if not chain:
            return NO_STYLE
        name = _value(chain[0].find("w:name")).lower()
        outline, number, marks, unset, hidden = None, None, set[str](), set[str](), False
        for one in chain:
            paragraph, run = one.find("w:pPr"), one.find("w:rPr")
            if paragraph is not None and outline is None:
                outline = read_outline(paragraph)
            if paragraph is not None and number is None:
                number = read_number(paragraph)
            if run is not None:
                on, off = read_marks(run)
                marks |= on - unset
                unset |= off | on
                hidden = hidden or "hidden" in on
            if outline is None and (match := _HEADING.match(_value(one.find("w:name")).lower())):
                outline = int(match[1])
        if _NOT_EMPHASIS.match(name):
            marks &= {"code"}
        if _CODE.match(name):
            marks.add("code")
        return Style(name, outline, number, frozenset(marks - {"hidden"}), hidden)

    def _chain(self, key: str) -> list[Element]:
        """Return the style and those it is based on."""
        chain: list[Element] = []
        while key in self._elements and len(chain) < _MAX_PARENTS and self._elements[key] not in chain:
            chain.append(self._elements[key])
            key = _value(chain[-1].find("w:basedOn"))
        return chain


def _value(element: Element | None) -> str:
    return (element.get("w:val") or "") if element is not None else ""


def read_outline(properties: Element) -> int | None:
    """Return the level of a heading from 1, 0 for body text; `None` if the properties do not say."""
    value = _value(properties.find("w:outlineLvl"))
    return (int(value) + 1 if int(value) < 9 else 0) if value.isdecimal() and len(value) < 3 else None


def read_number(properties: Element) -> tuple[str, int] | None:
    """Return id and level of the list that the properties name."""
    found = properties.find("w:numPr")
    if found is None:
        return None
    level = _value(found.find("w:ilvl"))
    key = _value(found.find("w:numId"))
    return (key, min(int(level), 8) if level.isdecimal() and len(level) < 3 else 0) if key or level else None


def read_marks(properties: Element) -> tuple[set[str], set[str]]:
    """Return the marks that run properties set, and those they unset; `hidden` among them."""
    on: set[str] = set()
    off: set[str] = set()
    for child in properties:
        tag, value = child.tag, (child.get("w:val") or "").lower()
        if tag in _MARKS:
            (off if value in _OFF else on).add(_MARKS[tag])
        elif tag == "w:vertAlign":
            mark = {"superscript": "sup", "subscript": "sub"}.get(value)
            on.update([mark] if mark else [])
            off.update(() if mark else ("sup", "sub"))
        elif tag in ("w:vanish", "w:webHidden") and tag == "w:vanish":
            (off if value in _OFF else on).add("hidden")
        elif tag == "w:rFonts":
            name = child.get("w:ascii") or child.get("w:hAnsi") or child.get("w:cs") or ""
            if name:
                (on if is_monospaced(name) else off).add("code")
    return on, off


_BULLETS: Final = frozenset({"bullet", "none", ""})
_LEVELS: Final = 9
_MAX_NUMBER: Final = 1_000_000
_ROMAN: Final = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
                 (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Level:
    """How a level of a list is numbered."""

    format: str
    start: int
    text: str
    """As `%1.%2`."""


_PLAIN: Final = Level("bullet", 1, "•")


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a paragraph in its list."""

    ordered: bool
    blank: bool
    """Whether it shows no mark: a further paragraph of the item before it."""
    number: int
    label: str
    """As it is printed: `2.1`."""
    series: str


class Numbering:
    """The lists of a document, with counters that go on as paragraphs are read."""

    def __init__(self, root: Element | None) -> None:
        self._abstract: dict[str, dict[int, Level]] = {}
        self._links: dict[str, str] = {}
        self._lists: dict[str, tuple[str, dict[int, int]]] = {}
        self._counters: dict[str, list[int]] = {}
        self._restarted: set[tuple[str, int]] = set()
        if root is not None:
            self._read(root)

    def _read(self, root: Element) -> None:
        by_style: dict[str, str] = {}
        for one in root.findall("w:abstractNum"):
            key = one.get("w:abstractNumId", "")
            self._abstract[key] = {
                _number(level.get("w:ilvl"), 0): _read_level(level) for level in one.findall("w:lvl")
            }
            if (link := one.find("w:styleLink")) is not None:
                by_style[link.get("w:val", "")] = key
            if (link := one.find("w:numStyleLink")) is not None:
                self._links[key] = link.get("w:val", "")
        self._links = {key: by_style[style] for key, style in self._links.items() if style in by_style}
        for one in root.findall("w:num"):
            abstract = one.find("w:abstractNumId")
            starts: dict[int, int] = {}
            for override in one.findall("w:lvlOverride"):
                start = override.find("w:startOverride")
                if start is not None:
                    starts[_number(override.get("w:ilvl"), 0)] = _number(start.get("w:val"), 1)
            key = abstract.get("w:val", "") if abstract is not None else ""
            self._lists[one.get("w:numId", "")] = (self._links.get(key, key), starts)

    def place(self, key: str, level: int) -> Place | None:
        """Return the place of the next paragraph of a list; `None` if the list is none."""
        if key == "0" or key not in self._lists:
            return None
        abstract, starts = self._lists[key]
        levels = self._abstract.get(abstract, {})
        own = levels.get(level, _PLAIN)
        counters = self._counters.setdefault(abstract, [0] * _LEVELS)
        if level in starts and (key, level) not in self._restarted:
            self._restarted.add((key, level))
            counters[level] = starts[level]
        else:
            counters[level] = counters[level] + 1 if counters[level] else own.start
        for deeper in range(level + 1, _LEVELS):
            counters[deeper] = 0
        for above in range(level):
            counters[above] = counters[above] or levels.get(above, _PLAIN).start
        blank = own.format in _BULLETS and not own.text.strip()
        label = _label(own.text, counters, levels)
        return Place(own.format not in _BULLETS, blank, min(counters[level], _MAX_NUMBER), label, abstract)


def _number(value: str | None, default: int) -> int:
    try:
        return max(0, min(int(value or ""), _MAX_NUMBER))
    except ValueError:
        return default


def _read_level(element: Element) -> Level:
    values = {name: (one.get("w:val") or "") for name in ("w:numFmt", "w:start", "w:lvlText")
              if (one := element.find(name)) is not None}  # fmt: skip
    return Level(values.get("w:numFmt", ""), _number(values.get("w:start"), 1), values.get("w:lvlText", "")[:40])


def _label(text: str, counters: list[int], levels: dict[int, Level]) -> str:
    for place in range(_LEVELS):
        if f"%{place + 1}" in text:
            text = text.replace(f"%{place + 1}", format_number(counters[place], levels.get(place, _PLAIN).format))
    return text.strip()


def format_number(number: int, format_: str) -> str:
    """Return a number as a list of this format shows it."""
    if format_ in ("lowerLetter", "upperLetter") and 0 < number <= 26 * 20:
        letter = chr(ord("a") + (number - 1) % 26) * (1 + (number - 1) // 26)
        return letter if format_ == "lowerLetter" else letter.upper()
    if format_ in ("lowerRoman", "upperRoman") and 0 < number < 4_000:
        out = ""
        for value, sign in _ROMAN:
            out, number = out + sign * (number // value), number % value
        return out if format_ == "lowerRoman" else out.upper()
    return f"{number:02}" if format_ == "decimalZero" else str(number)

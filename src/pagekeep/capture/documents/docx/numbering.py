"""The lists of a DOCX: which are ordered, and the number of every item."""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import Element

from pagekeep.values import dataclass

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

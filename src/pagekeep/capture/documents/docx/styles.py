"""The styles of a DOCX: which paragraphs are headings, quotes, code or captions, and which runs are marked."""

from __future__ import annotations

import re
from typing import Final
from xml.etree.ElementTree import Element

from pagekeep.capture.documents.parts.fonts import is_monospaced
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
                if one.get("w:type") == "paragraph" and is_on(one, "w:default")
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


def is_on(element: Element, name: str) -> bool:
    """Return whether an attribute that is a switch is on."""
    return (element.get(name) or "0").lower() not in _OFF


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

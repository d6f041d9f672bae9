"""The styles of an ODT: marks of spans, roles of paragraphs, and kinds of lists."""

from __future__ import annotations

import re
from dataclasses import field
from typing import Final
from xml.etree.ElementTree import Element

from pagekeep.capture.documents.parts.fonts import is_monospaced
from pagekeep.values import dataclass

_MAX_PARENTS: Final = 20
_ESCAPED: Final = re.compile(r"_([0-9a-f]{2})_")
_CODE: Final = re.compile(r"preformatted|source (?:code|text)|code|listing|teletype", re.I)
_QUOTE: Final = re.compile(r"quotation|block ?(?:quote|text)|quote", re.I)
_CAPTION: Final = re.compile(r"(?:.* )?caption|illustration|drawing|figure ?caption|table ?caption", re.I)


@dataclass(frozen=True, slots=True)
class Style:
    """A style with what it inherits."""

    names: tuple[str, ...] = ()
    """Its own and its parents', as people read them."""
    marks: frozenset[str] = frozenset()
    outline: int = 0
    list_style: str = ""
    hidden: bool = False
    is_rule: bool = False

    def is_named(self, pattern: re.Pattern[str]) -> bool:
        """Return whether one of its names matches."""
        return any(pattern.match(name) for name in self.names)

    @property
    def is_code(self) -> bool:
        return "code" in self.marks or self.is_named(_CODE)

    @property
    def is_quote(self) -> bool:
        return self.is_named(_QUOTE)

    @property
    def is_caption(self) -> bool:
        return self.is_named(_CAPTION)

    @property
    def is_title(self) -> bool:
        return "Title" in self.names


@dataclass(frozen=True, slots=True)
class ListLevel:
    """A level of a list."""

    ordered: bool = False
    start: int = 1
    blank: bool = False
    """Whether it shows no mark: further paragraphs of the item before it."""


@dataclass(slots=True)
class _Found:
    marks: dict[str, bool] = field(default_factory=dict)
    outline: int = 0
    list_style: str = ""
    hidden: bool = False
    is_rule: bool = False


class Styles:
    """The styles of a document, common and automatic."""

    def __init__(self, roots: list[Element]) -> None:
        self._elements: dict[tuple[str, str], Element] = {}
        self._known: dict[tuple[str, str], Style] = {}
        self.lists: dict[str, dict[int, ListLevel]] = {}
        self._mono = {
            face.get("style:name", "")
            for root in roots
            for face in root.iter("style:font-face")
            if face.get("style:font-pitch") == "fixed" or is_monospaced(face.get("style:name", ""))
        }
        for root in roots:
            for style in root.iter("style:style"):
                self._elements[style.get("style:family", ""), style.get("style:name", "")] = style
            for style in root.iter("text:list-style"):
                self.lists[style.get("style:name", "")] = _read_levels(style)

    def get(self, family: str, name: str | None) -> Style:
        """Return a style of a family; one without properties for an unknown name."""
        key = (family, name or "")
        if key not in self._known:
            self._known[key] = self._make(*key)
        return self._known[key]

    def level(self, name: str, level: int) -> ListLevel:
        """Return a level of a list, from 1; where a style leaves it out, the next one above."""
        levels = self.lists.get(name, {})
        return next((levels[one] for one in range(level, 0, -1) if one in levels), ListLevel())

    def _make(self, family: str, name: str) -> Style:
        names: list[str] = []
        found = _Found()
        while (family, name) in self._elements and len(names) < _MAX_PARENTS:
            element = self._elements[family, name]
            names.append(_ESCAPED.sub(lambda match: chr(int(match[1], 16)), element.get("style:display-name") or name))
            self._collect(element, found, is_own=not _is_role(names[-1]))
            parent = element.get("style:parent-style-name", "")
            if parent == name:
                break
            name = parent
        if name and not names:
            names.append(_ESCAPED.sub(lambda match: chr(int(match[1], 16)), name))
        marks = {mark for mark, is_on in found.marks.items() if is_on}
        if family == "text" and any(_CODE.match(one) for one in names):
            marks.add("code")
        return Style(tuple(names), frozenset(marks), found.outline, found.list_style, found.hidden, found.is_rule)

    def _collect(self, element: Element, found: _Found, *, is_own: bool) -> None:
        """Add what one style sets and no style below it has set."""
        level = element.get("style:default-outline-level") or ""
        found.outline = found.outline or (int(level) if level.isdecimal() and len(level) < 3 else 0)
        found.list_style = found.list_style or element.get("style:list-style-name") or ""
        paragraph = element.find("style:paragraph-properties")
        if paragraph is not None and paragraph.get("fo:border-bottom", "none") != "none":
            found.is_rule = True
        text = element.find("style:text-properties")
        if text is None:
            return
        found.hidden = found.hidden or text.get("text:display") == "none"
        if not is_own and element.get("style:family") == "paragraph":
            return  # the look of a heading is not emphasis
        marks = found.marks
        weight, slant = text.get("fo:font-weight"), text.get("fo:font-style")
        if weight:
            marks.setdefault("strong", weight == "bold" or (weight.isdecimal() and int(weight) >= 600))
        if slant:
            marks.setdefault("em", slant in ("italic", "oblique"))
        if through := text.get("style:text-line-through-style") or text.get("style:text-line-through-type"):
            marks.setdefault("s", through != "none")
        if place := (text.get("style:text-position") or "").split():
            marks.setdefault("sup", place[0] == "super" or (place[0].rstrip("%").isdecimal() and place[0] != "0%"))
            marks.setdefault("sub", place[0] == "sub" or place[0].startswith("-"))
        if font := text.get("style:font-name") or text.get("fo:font-family"):
            marks.setdefault("code", font in self._mono or is_monospaced(font))


def _is_role(name: str) -> bool:
    """Return whether a paragraph style is a role, such as a heading, rather than direct formatting."""
    return not re.fullmatch(r"[A-Z]{1,3}\d+", name)


def _read_levels(style: Element) -> dict[int, ListLevel]:
    levels: dict[int, ListLevel] = {}
    for one in style:
        level = one.get("text:level") or ""
        if one.tag.startswith("text:list-level-style-") and level.isdecimal() and len(level) < 3:
            start = one.get("text:start-value") or ""
            ordered = one.tag.endswith("number") and bool(one.get("style:num-format"))
            bullet = one.get("text:bullet-char")
            number = int(start) if start.isdecimal() and len(start) < 7 else 1
            levels[int(level)] = ListLevel(ordered, number, bullet is not None and not bullet.strip())
    return levels

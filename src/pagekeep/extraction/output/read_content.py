"""Read content that is clean HTML but for some attributes, without the sanitiser.

The sanitiser parses and writes the content again, which takes longer than writing its Markdown. On nearly every page that
changes nothing but attributes: the clean-up has done the rest. Then the tree is read as it is, with the attributes that
the sanitiser would leave. Whatever the sanitiser, or the parser after it, could change is refused here and takes the long
way (`sanitise`). HTML that is shown has always passed the sanitiser.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from pagekeep import dom
from pagekeep.extraction.output.sanitise import ATTRIBUTES, check_attribute, sanitise_html
from pagekeep.model.clean_tree import LISTED, NO_ATTRIBUTES, CleanElement, CleanNode, CleanTree, collapse

# Where an element is: inside these, however deep...
_IN_P, _IN_A, _IN_HEADING, _EXACT = 1, 2, 4, 8
_DEEP: Final = _IN_P | _IN_A | _IN_HEADING | _EXACT
# ...or right below these. Everything else in a table or row is moved out of it by a parser.
_IN_LIST, _IN_DL, _IN_RUBY, _IN_TABLE, _IN_ROWS, _IN_ROW = 16, 32, 64, 128, 256, 512
_NO_TEXT: Final = _IN_TABLE | _IN_ROWS | _IN_ROW
_SPECIAL_TEXT: Final = _NO_TEXT | _EXACT


class _Rule(NamedTuple):
    """An element, and where it stays as it is when its HTML is parsed again."""

    start: str
    end: str
    """Empty for an element that has no content."""
    names: tuple[str, ...]
    """The attributes that only some elements have."""
    not_in: int
    only_in: int
    """One of these must be right above it, unless there are none."""
    below: int
    """What it is for the elements below it."""


_VOID: Final = frozenset(("br", "hr", "img"))
_GENERAL: Final = tuple(sorted(ATTRIBUTES["*"]))


def _make_rules(tags: str, not_in: int, only_in: int = 0, below: int = 0) -> dict[str, _Rule]:
    rules: dict[str, _Rule] = {}
    for tag in tags.split():
        names = tuple(sorted(ATTRIBUTES.get(tag, frozenset())))
        rules[tag] = _Rule(f"<{tag}>", "" if tag in _VOID else f"</{tag}>", names, not_in, only_in, below)
    return rules


_RULES: Final[dict[str, _Rule]] = {
    **_make_rules("strong em s del ins sub sup mark kbd code abbr q cite small br img span", _NO_TEXT),
    **_make_rules("blockquote hr div section details summary address figure figcaption", _NO_TEXT | _IN_P),
    **_make_rules("a", _NO_TEXT | _IN_A, below=_IN_A),
    **_make_rules("p", _NO_TEXT | _IN_P, below=_IN_P),
    **_make_rules("h1 h2 h3 h4 h5 h6", _NO_TEXT | _IN_P | _IN_HEADING, below=_IN_HEADING),
    **_make_rules("pre", _NO_TEXT | _IN_P, below=_EXACT),
    **_make_rules("ul ol", _NO_TEXT | _IN_P, below=_IN_LIST),
    **_make_rules("li", _IN_P, only_in=_IN_LIST),
    **_make_rules("dl", _NO_TEXT | _IN_P, below=_IN_DL),
    **_make_rules("dt dd", _IN_P, only_in=_IN_DL),
    **_make_rules("ruby", _NO_TEXT, below=_IN_RUBY),
    **_make_rules("rt rp", _NO_TEXT, only_in=_IN_RUBY),
    **_make_rules("table", _NO_TEXT | _IN_P, below=_IN_TABLE),
    **_make_rules("caption", 0, only_in=_IN_TABLE),
    **_make_rules("thead tbody tfoot", 0, only_in=_IN_TABLE, below=_IN_ROWS),
    **_make_rules("tr", 0, only_in=_IN_ROWS, below=_IN_ROW),
    **_make_rules("td th", 0, only_in=_IN_ROW),
}
_UNWRAPPED: Final = frozenset(
    "font u big time bdi bdo data output label b i tt var samp dfn strike acronym noindex wbr".split()
)
"""Elements of which the sanitiser keeps only the content, and that a parser opens and closes wherever they are."""
_RESERVED: Final = frozenset(
    "annotation-xml color-profile font-face font-face-src font-face-uri font-face-format font-face-name missing-glyph".split()
)
"""Tags of SVG and MathML that look like those that a page defines."""
_PLAIN_HOST: Final = re.compile(r"(?:(?!xn--)[a-z0-9-]+\.)+(?!xn--)[a-z][a-z0-9-]*")
"""The host of an address that the sanitiser keeps for sure."""


class _NotCleanError(Exception):
    """The sanitiser or a parser would change more than attributes."""


def read_content(root: dom.Element) -> tuple[CleanTree, str] | None:
    """Return the content below the root as a tree, and as HTML in which the sanitiser has nothing to change.

    Return `None` if only the sanitiser can tell what stays of it.
    """
    children: list[CleanNode] = []
    reader = _Reader(has_general=dom.first(root, "[lang],[dir]") is not None)
    try:
        reader.read(root.children, children, 0)
    except (_NotCleanError, RecursionError):
        return None
    reader.join_texts()
    html = "".join(reader.html).strip()
    if not _stays_the_same(html):
        return None
    return CleanTree(CleanElement("div", NO_ATTRIBUTES, children), reader.tagged), html


def _stays_the_same(html: str) -> bool:
    """Return whether a parser changes no character of the HTML, nor a tag for the sake of memory."""
    if "\r" in html or "\0" in html or dom.count_reopened(html) > dom.MAX_REOPENED:
        return False
    try:
        html.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Reader:
    """Reads the tree from top to bottom, and writes it as HTML at the same time."""

    __slots__ = ("_has_general", "_split", "html", "tagged")

    def __init__(self, *, has_general: bool) -> None:
        self.html: list[str] = []
        self.tagged: dict[str, list[CleanElement]] = {}
        self._has_general = has_general
        """Whether there is an element with an attribute that all may have."""
        self._split: dict[int, list[CleanNode]] = {}
        """Lists of children in which a text follows another, by their ids."""

    def read(self, nodes: Sequence[dom.Node], siblings: list[CleanNode], place: int) -> None:
        """Add the nodes to their siblings; raise `_NotCleanError` where one is not clean."""
        html = self.html
        for node in nodes:
            if isinstance(node, dom.Text):
                data = node.data
                if siblings or place & _SPECIAL_TEXT or not data.isprintable() or "  " in data:
                    self._read_text(data, siblings, place)
                elif data:  # words alone in their element, or at its beginning
                    html.append(_escape(data) if "&" in data or "<" in data or ">" in data else data)
                    siblings.append(data)
                continue
            if not isinstance(node, dom.Element):
                continue
            tag = node.tag
            rule = _RULES.get(tag)
            if rule is None:
                inner = node.children
                if place & _NO_TEXT or not _is_unwrapped(tag) or (inner and tag == "wbr"):
                    raise _NotCleanError
                self.read(inner, siblings, place)
                continue
            start, end, names, not_in, only_in, below = rule
            if place & not_in or (only_in and not place & only_in):
                raise _NotCleanError
            attributes = NO_ATTRIBUTES
            if names or self._has_general:
                attributes = self._read_attributes(node, tag, names)
                if attributes:
                    start = f"<{tag}{_write_attributes(attributes)}>"
                    if tag == "div":  # display math: no other `div` keeps a class
                        below = _EXACT if "class" in attributes else below
            html.append(start)
            children: list[CleanNode] = []
            element = CleanElement(tag, attributes, children)
            siblings.append(element)
            if tag in LISTED:
                self.tagged.setdefault(tag, []).append(element)
            inner = node.children
            if inner:
                if not end or (tag == "pre" and dom.text_of(node).startswith("\n")):
                    raise _NotCleanError
                self.read(inner, children, place & _DEEP | below)
            html.append(end)

    def _read_text(self, data: str, siblings: list[CleanNode], place: int) -> None:
        if place & _NO_TEXT and data.strip(" \n\t\f"):  # to a parser, other white space is text
            raise _NotCleanError
        is_plain = data.isprintable()
        self.html.append(_escape(data) if "&" in data or "<" in data or ">" in data or not is_plain else data)
        text = data if (is_plain and "  " not in data) or place & _EXACT else collapse(data)
        if not siblings or not isinstance(siblings[-1], str):
            if text:
                siblings.append(text)
        else:
            before = siblings[-1]
            if not place & _EXACT and before.endswith(" ") and text.startswith(" "):
                text = text[1:]
            if text:
                siblings.append(text)
                self._split[id(siblings)] = siblings

    def join_texts(self) -> None:
        """Make one text of those that follow each other: joining each one with all before it would take quadratic time."""
        for siblings in self._split.values():
            joined: list[CleanNode] = []
            for is_text, nodes in groupby(siblings, lambda node: isinstance(node, str)):
                if is_text:
                    joined.append("".join([node for node in nodes if isinstance(node, str)]))
                else:
                    joined.extend(nodes)
            siblings[:] = joined

    def _read_attributes(self, node: dom.Element, tag: str, names: tuple[str, ...]) -> dict[str, str]:
        """Return the attributes that the sanitiser leaves."""
        attributes = NO_ATTRIBUTES
        changed: list[tuple[str, str | None]] = []
        for name in (*names, *_GENERAL) if self._has_general else names:
            value = node.attr(name)
            if value is None:
                continue
            if name in ("href", "src"):
                value = _check_address(tag, name, value)
            elif name not in ("alt", "title"):
                checked = check_attribute(tag, name, value)
                if checked != value and name != "class":
                    changed.append((name, checked))
                if checked is None:
                    continue
                value = checked
            if not attributes:
                attributes = {}
            attributes[name] = value
        if len(attributes) > 1:
            attributes = _order(attributes, node, names)
        for name, checked in changed:  # later steps look at sizes
            dom.set_attr(node, name, checked)
        return attributes


def _is_unwrapped(tag: str) -> bool:
    """Return whether the sanitiser keeps only the content of such an element; also of those that a page defines itself."""
    if "-" not in tag:
        return tag in _UNWRAPPED
    return tag not in _RESERVED and tag.isascii() and tag.replace("-", "").isalnum()


def _order(attributes: dict[str, str], node: dom.Element, names: tuple[str, ...]) -> dict[str, str]:
    """Return the attributes in the order of the sanitiser, which puts the last one in place of one that it drops."""
    ordered = [name for name in dom.attributes(node) if name in names or name in _GENERAL]
    for place in range(len(ordered) - 1, -1, -1):
        if ordered[place] not in attributes:
            ordered[place] = ordered[-1]
            ordered.pop()
    return {name: attributes[name] for name in ordered}


def _check_address(tag: str, name: str, address: str) -> str:
    """Return the address of a link or image if the sanitiser keeps it; most are seen to be plain."""
    start = 8 if address.startswith("https://") else 7
    end = address.find("/", start)
    if address.startswith(("https://", "http://")) and _is_plain_host(
        address[start:end] if end > 0 else address[start:]
    ):
        return address.rstrip()
    checked = check_attribute(tag, name, address)
    if checked is None or not (checked.startswith("#") or _is_kept(tag, name, checked)):
        raise _NotCleanError
    return checked


@lru_cache(1_000)
def _is_plain_host(host: str) -> bool:
    return _PLAIN_HOST.fullmatch(host) is not None


@lru_cache(1_000)
def _is_kept(tag: str, name: str, address: str) -> bool:
    """Return whether the sanitiser keeps an address."""
    return f" {name}=" in sanitise_html(f"<{tag}{_write_attributes({name: address})}>")


def _write_attributes(attributes: dict[str, str]) -> str:
    written = ""
    for name, value in attributes.items():
        value = _escape(value)
        if '"' in value:
            value = value.replace('"', "&quot;")
        written = f'{written} {name}="{value}"'
    return written


def _escape(text: str) -> str:
    if "&" in text:
        text = text.replace("&", "&amp;")
    if "<" in text or ">" in text:
        text = text.replace("<", "&lt;").replace(">", "&gt;")
    return text if text.isascii() or "\xa0" not in text else text.replace("\xa0", "&nbsp;")

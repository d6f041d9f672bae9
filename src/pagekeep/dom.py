"""The interface to the HTML library (turbohtml), which only this module imports.

Other modules use the types and functions below and, on nodes, only these members, which any DOM library has:
`Element.tag`, `Element.attr(name)`, `Text.data`, and on every node `children`, `parent`, `next_sibling`,
`previous_sibling`. Node identity is stable (`is` and hashing work while a reference is held). Only the functions of this
module change a tree.
"""

from __future__ import annotations

import copy as _copy
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Final

from pagekeep.text import compile_lazily
from pagekeep.values import quick_definitions

with quick_definitions():  # otherwise the library's thirty data classes take half of the time to load it
    from turbohtml import Comment, Document, Element, Node, SelectorSyntaxError, Text
    from turbohtml import parse as _parse
    from turbohtml import parse_fragment as _parse_fragment
    from turbohtml import tokenize as _tokenize
    from turbohtml.detect import detect as _detect
    from turbohtml.detect import detect_language as _detect_language

__all__ = [
    "MAX_DEPTH",
    "Comment",
    "Document",
    "Element",
    "Node",
    "SelectorError",
    "Text",
    "add_after",
    "add_before",
    "append",
    "attributes",
    "bound_depth",
    "copy",
    "count_reopened",
    "decode",
    "drop",
    "drop_after",
    "element",
    "elements",
    "first",
    "html_of",
    "inner_html",
    "language_of",
    "matches",
    "next_element",
    "nodes",
    "parse",
    "parse_bounded",
    "parse_fragment",
    "prepend",
    "previous_element",
    "replace",
    "retag",
    "select",
    "set_attr",
    "tagged",
    "text_of",
    "texts_of",
    "unwrap",
    "wrap",
]

SelectorError = SelectorSyntaxError

MAX_DEPTH: Final = 500
"""Deeper trees are flattened before anything recursive sees them: Python's stack and nh3 (quadratic in depth) need it."""


MAX_ROOT_TAGS: Final = 50
"""`<html>` and `<body>` tags with attributes that are parsed; 1,894 real pages have 8 at most, most of them in comments."""
MAX_ROOT_ATTRIBUTES: Final = 2_000
"""Attributes in these tags together. The parser merges them in quadratic time and memory: 10,000 take 0.14 s."""
MAX_REOPENED: Final = 5_000_000
"""Elements that unclosed formatting tags may add to a tree, at about 100 bytes each; 1,894 real pages stay below 0.7
million by the estimate here."""
_ROOT_TAG: Final = re.compile(r"<(?:[hH][tT][mM][lL]|[bB][oO][dD][yY])(?=[\s/])")
"""Case is spelled out: without `IGNORECASE` the scan of a page takes half the time."""
_FORMATTING: Final = "b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
"""Tags that the parser opens again in every block until they are closed, except `a`, of which only one can be open."""
_NOTED_START: Final = re.compile(
    "<(?=[bcefhinstuBCEFHINSTU])(?:"  # most other tags are sorted out by their first letter
    + re.sub("[a-z]", lambda letter: f"[{letter[0]}{letter[0].upper()}]", f"html|body|template|{_FORMATTING}")
    + r")[\s/>]"
)
"""All tags that matter before the parse, because one scan takes a tenth of its time: those it may take quadratic time and
memory for, and `template` for declarative shadow roots."""
_FORMATTING_NAME: Final = compile_lazily(rf"(</?)(?:{_FORMATTING})(?=[\s/>])", re.IGNORECASE)
_ATTRIBUTE: Final = r"""\s+[^\s"'<>/=]{1,100}+(?:=(?:"[^"]{0,200}+"|'[^']{0,200}+'|[^\s"'=<>`]{1,200}+))?"""
_TAG_END: Final = rf"(?=[\s/>])(?:{_ATTRIBUTE}){{0,8}}+\s?/?>"
_INNER: Final = rf"<(?P<inner>a|span|{_FORMATTING}){_TAG_END}[^<]*+</(?P=inner)>"
_FORMATTING_TAG: Final = compile_lazily(
    # Everything is in a lookahead: what looks like a tag may be text that hides real tags in its "attributes". Lengths
    # are limited because every such place is looked at. A leaf is closed right behind its text and simple elements.
    rf"<(?=((?P<name>{_FORMATTING})(?:{_TAG_END}|(?=[\s/>])))(?P<leaf>[^<]*+(?:{_INNER}[^<]*+){{0,20}}+</(?P=name)>)?)",
    re.IGNORECASE,
)
_MAX_SAME_TAG: Final = 3
"""How many equal formatting tags the parser keeps open at once ("Noah's Ark clause")."""
_NOT_IN_NAMES: Final = frozenset(" \t\n\f\r\0/=>")
_RESPELLED_LABELS: Final = {
    "ansi_x3.4-1968": "windows-1252",
    "gb_2312-80": "gbk",
    "ks_c_5601-1987": "euc-kr",
    "ks_c_5601-1989": "euc-kr",
    **{f"iso_8859-{n}:19{y}": f"iso-8859-{n}" for n, y in enumerate((87, 87, 88, 88, 88, 87, 87, 88, 89), 1)},
}
"""Labels of the Encoding Standard that the library does not find, because Python changes their spelling before it looks."""


def parse(html: str) -> Document:
    """Parse a whole page into its WHATWG tree."""
    return parse_bounded(html)[0]


def parse_bounded(html: str) -> tuple[Document, tuple[str, ...]]:
    """Parse a whole page into its WHATWG tree; also return what was simplified in markup that would exhaust memory."""
    noted = _find_noted(html)
    html, simplified = _simplify(html, noted)
    document = _parse(html, positions=False)
    if noted["template"] and "shadowroot" in html:
        _open_shadow_roots(document)
    return document, simplified


def _find_noted(html: str) -> Counter[str]:
    """Count the start tags that matter before the parse, by their lower-case names; an upper bound, in scripts too."""
    noted: Counter[str] = Counter()
    for tag, count in Counter(_NOTED_START.findall(html)).items():
        noted[tag[1:-1].lower()] += count
    return noted


def _open_shadow_roots(root: Node, levels: int = 20) -> None:
    """Put the content of declarative shadow roots where a browser shows it; the library keeps it outside the tree."""
    for host in list(root.select("*")):
        shadow = host.shadow_root
        if shadow is None or not levels:
            continue
        _open_shadow_roots(shadow, levels - 1)
        for slot in shadow.select("slot")[:100]:
            slot.replace_with(*(slot.assigned_nodes() or slot.children))
        if shadow.text.strip():
            host.clear()  # what no slot shows
            host.extend(list(shadow.children))


def parse_fragment(html: str) -> Element:
    """Parse markup into a detached `div`."""
    return _parse_fragment(_simplify(html, _find_noted(html))[0], positions=False)


def _simplify(html: str, noted: Counter[str]) -> tuple[str, tuple[str, ...]]:
    """Rename tags whose number would make the parser take quadratic time and memory; no text changes."""
    simplified = []
    # At most one of each, as on most pages: nothing is merged.
    if max(noted["html"], noted["body"]) > 1 and (start := _excess_root_tags(html)) is not None:
        # A second `<head>` is ignored together with its attributes.
        html = html[:start] + _ROOT_TAG.sub("<head", html[start:])
        simplified.append("ignored repeated <html> and <body> tags")
    if count_reopened(html, noted) > MAX_REOPENED:
        html = _FORMATTING_NAME.sub(r"\1span", html)
        simplified.append("ignored formatting: too many formatting tags are not closed")
    return html, tuple(simplified)


def _excess_root_tags(html: str) -> int | None:
    """Return where the first `<html>` or `<body>` tag beyond the limits is, if any."""
    attributes = 0
    for number, match in enumerate(islice(_ROOT_TAG.finditer(html), MAX_ROOT_TAGS + 1)):
        token = next(iter(_tokenize(html[match.start() :])), None)
        attributes += len((token and token.attrs) or ())
        if number >= MAX_ROOT_TAGS or attributes > MAX_ROOT_ATTRIBUTES:
            return match.start()
    return None


def count_reopened(html: str, noted: Counter[str] | None = None) -> int:
    """Return an upper bound of the elements that unclosed formatting tags add: all of them again at every tag."""
    noted = _find_noted(html) if noted is None else noted
    formatting = noted.total() - noted["html"] - noted["body"] - noted["template"]
    if formatting * len(html) <= MAX_REOPENED or formatting * (total := html.count("<")) <= MAX_REOPENED:  # most pages
        return 0
    tags = Counter(match[1] for match in _FORMATTING_TAG.finditer(html) if not match["leaf"])
    # A tag that is not well-formed has an unknown end, so that it may differ from every other one.
    unclosed = sum(min(count, _MAX_SAME_TAG) if tag.endswith(">") else count for tag, count in tags.items())
    return unclosed * total


def decode(data: bytes, label: str | None = None) -> tuple[str, str] | None:
    """Decode bytes by a label, else by BOM, `<meta>` and content; return the text and the WHATWG name of the encoding.

    Returns `None` when the label is not a web encoding (Python has more, such as `unicode_escape`).
    """
    if label is not None:
        name = label.strip().lower()
        name = _RESPELLED_LABELS.get(name, name)
        if name.startswith(("utf-32", "utf_32")) or "\0" in name:  # the library has them, browsers do not
            return None
        try:
            return data.decode(f"whatwg-{name}", "replace"), name
        except (LookupError, ValueError):
            return None
    match = _detect(data)
    if match.codec is None:
        return data.decode("windows-1252", "replace"), "windows-1252"
    return data.decode(match.codec, "replace"), (match.encoding or "windows-1252").lower()


def language_of(text: str, min_confidence: float = 0.0) -> str | None:
    """Return the ISO 639-3 code of a text's language, judged by its letters; `None` for an unknown script or a weak guess."""
    found = _detect_language(text)
    return found.language if found.confidence >= min_confidence else None


def select(node: Node, css: str) -> list[Element]:
    """Return the descendants that match, in document order; raise `SelectorError` for an invalid selector."""
    return node.select(css)


def first(node: Node, css: str) -> Element | None:
    """Return the first descendant that matches."""
    return node.select_one(css)


def matches(node: Element, css: str) -> bool:
    """Return whether the element itself matches."""
    return node.matches(css)


def nodes(node: Node) -> Iterator[Node]:
    """Iterate over all descendants in document order, including text and comments. Do not change the tree meanwhile."""
    return node.descendants


def elements(node: Node) -> Iterator[Element]:
    """Iterate over all descendant elements in document order. Do not change the tree meanwhile."""
    return node.iter_elements()


def tagged(node: Node, tags: Collection[str], limit: int | None = None) -> list[Element]:
    """Return the descendants with one of these tags, in document order; several times as fast as a selector of many tags."""
    return list(islice(node.iter_elements(tags), limit))


def attributes(node: Element) -> dict[str, str]:
    """Return a copy of the element's attributes, with plain strings as values."""
    plain: dict[str, str] = {}
    for name, value in node.attrs.items():
        plain[name] = " ".join(value) if isinstance(value, list) else (value or "")
    return plain


def set_attr(node: Element, name: str, value: str | None) -> None:
    """Set an attribute; `None` removes it."""
    if value is not None:
        node.attrs[name] = value
    elif name in node.attrs:
        del node.attrs[name]


def text_of(node: Node) -> str:
    """Return all text below the node, as in the source."""
    return node.text


def texts_of(node: Node) -> Iterator[str]:
    """Iterate over the texts below the node, in document order."""
    return node.strings


def html_of(node: Node) -> str:
    """Return the node as HTML."""
    return node.html


def inner_html(node: Node) -> str:
    """Return the node's children as HTML."""
    return node.inner_html


def element(tag: str, attrs: Mapping[str, str] | None = None, *children: Node | str) -> Element:
    """Create a detached element; strings become text.

    Attributes whose names only a parser can create (`<p =>`) are left out.
    """
    names = [name for name in attrs or () if name and _NOT_IN_NAMES.isdisjoint(name)]
    created = Element(tag, {name: attrs[name] for name in names} if attrs and names else None)
    append(created, *children)
    return created


def _node(item: Node | str) -> Node:
    return Text(item) if isinstance(item, str) else item


def append(parent: Element, *children: Node | str) -> None:
    """Move children to the end of the parent."""
    for child in children:
        parent.append(_node(child))


def prepend(parent: Element, *children: Node | str) -> None:
    """Move children to the beginning of the parent, in this order."""
    for index, child in enumerate(children):
        parent.insert(index, _node(child))


def add_before(node: Node, *others: Node | str) -> None:
    """Insert other nodes right before the node."""
    node.insert_before(*[_node(other) for other in others])


def add_after(node: Node, *others: Node | str) -> None:
    """Insert other nodes right after the node."""
    node.insert_after(*[_node(other) for other in others])


def replace(node: Node, *others: Node | str) -> None:
    """Replace the node with others."""
    node.replace_with(*[_node(other) for other in others])


def drop(node: Node) -> None:
    """Detach the node with everything in it; the text after it stays."""
    node.extract()


def unwrap(node: Element) -> None:
    """Replace the node with its children."""
    node.unwrap()


def wrap(node: Node, wrapper: Element) -> Element:
    """Put the node into the wrapper, and the wrapper in its place."""
    return node.wrap(wrapper)


def retag(node: Element, tag: str) -> None:
    """Change the element's tag; attributes and children stay."""
    node.tag = tag


def copy(node: Element) -> Element:
    """Return a detached deep copy."""
    return _copy.deepcopy(node)


def next_element(node: Node) -> Element | None:
    """Return the next sibling that is an element."""
    sibling = node.next_sibling
    while sibling is not None and not isinstance(sibling, Element):
        sibling = sibling.next_sibling
    return sibling


def previous_element(node: Node) -> Element | None:
    """Return the previous sibling that is an element."""
    sibling = node.previous_sibling
    while sibling is not None and not isinstance(sibling, Element):
        sibling = sibling.previous_sibling
    return sibling


def drop_after(node: Node) -> None:
    """Detach everything after the node in document order; the content of the node stays."""
    current: Node | None = node
    while current is not None:
        sibling = current.next_sibling
        while sibling is not None:
            following = sibling.next_sibling
            sibling.extract()
            sibling = following
        current = current.parent


def bound_depth(root: Element, limit: int = MAX_DEPTH) -> int:
    """Unwrap every element deeper than `limit` that contains elements; return the number unwrapped.

    Leaves (paragraphs of text, images, links) stay and no text is lost. Outermost first, so each node moves once.
    """
    too_deep: list[Element] = []
    pending = [(root, 0)]
    while pending:
        node, depth = pending.pop()
        inner = [child for child in node.children if isinstance(child, Element)]
        if depth > limit and inner:
            too_deep.append(node)
        pending.extend((child, depth + 1) for child in reversed(inner))
    for node in too_deep:
        node.unwrap()
    return len(too_deep)

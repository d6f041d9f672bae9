"""Sanitise: whatever is in the tree, only the vocabulary of clean HTML passes (docs/clean-html.md)."""

from __future__ import annotations

import re
from typing import Final

import nh3

from pagekeep import dom
from pagekeep.text import compile_lazily

_TAGS: Final = frozenset(
    (
        "p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote hr div section details summary address "
        "a strong em s del ins sub sup mark kbd code abbr q cite small br ruby rt rp span "
        "pre img figure figcaption table caption thead tbody tfoot tr th td"
    ).split()
)
_REMOVED_WITH_CONTENT: Final = frozenset(
    (
        "script style template noscript iframe object embed applet svg math canvas video audio "
        "textarea select option button title head frameset noframes noembed plaintext xmp"
    ).split()
)
_CELL: Final = frozenset({"colspan", "rowspan", "align"})
_ATTRIBUTES: Final = {
    "*": frozenset({"lang", "dir"}),
    "a": frozenset({"href", "title"}),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), frozenset({"data-page"})),
    "abbr": frozenset({"title"}),
    "blockquote": frozenset({"data-callout", "data-title"}),
    "img": frozenset({"src", "alt", "title", "width", "height"}),
    "li": frozenset({"id", "data-done"}),
    "ol": frozenset({"start"}),
    "td": _CELL,
    "th": _CELL,
}
_CLASSES: Final = {
    "a": "embed",
    "blockquote": "callout",
    "code": "language-",
    "div": "math-block",
    "h2": "comments",
    "li": "task",
    "section": "footnotes",
    "span": "math-inline",
    "sup": "footnote-ref",
}
_LANGUAGE: Final = compile_lazily(r"language-[\w+#.-]{1,40}", re.A)
_VALUE: Final = {
    "href": compile_lazily(r"(?:(?i:https?://|mailto:|tel:)[^\s].*|#fn-\d+)", re.S),
    "src": compile_lazily(r"(?i:https?://)[^\s].*", re.S),
    "id": compile_lazily(r"fn-\d+"),
    "data-page": compile_lazily(r"\d{1,5}"),
    "data-done": compile_lazily(r"true|false"),
    "data-callout": compile_lazily(r"[a-z][a-z-]{0,30}"),
    "lang": compile_lazily(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,8}"),
    "dir": compile_lazily(r"(?i:ltr|rtl|auto)"),
    "align": compile_lazily(r"(?i:left|right|center|justify)"),
    "start": compile_lazily(r"-?\d{1,9}"),
    "width": compile_lazily(r"\d{1,5}(?:\.\d{1,4})?(?:px|%)?"),
    "height": compile_lazily(r"\d{1,5}(?:\.\d{1,4})?(?:px|%)?"),
    "colspan": compile_lazily(r"\d{1,4}"),
    "rowspan": compile_lazily(r"\d{1,4}"),
}


def check_attribute(tag: str, name: str, value: str) -> str | None:
    """Return the value if clean HTML allows it for this attribute."""
    if name == "class":
        return _valid_class(tag, value)
    pattern = _VALUE.get(name)
    if pattern is None:
        return value
    value = value.strip()
    return value if pattern.fullmatch(value) else None


def _valid_class(tag: str, value: str) -> str | None:
    allowed = _CLASSES.get(tag)  # the filter also sees tags that are about to go
    for name in value.split() if allowed else ():
        if _LANGUAGE.fullmatch(name) if tag == "code" else name == allowed:
            return name
    return None


ATTRIBUTES: Final = {
    tag: _ATTRIBUTES.get(tag, frozenset()) | ({"class"} if tag in _CLASSES else frozenset())
    for tag in {**_ATTRIBUTES, **_CLASSES}
}
"""By tag, all attributes that may pass; those of `*` pass in every element."""
_CLEANER: Final = nh3.Cleaner(
    tags=set(_TAGS),
    clean_content_tags=set(_REMOVED_WITH_CONTENT),
    attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
    attribute_filter=check_attribute,
    url_schemes={"http", "https", "mailto", "tel"},
    url_relative="pass_through",
    generic_attribute_prefixes=None,
    strip_comments=True,
    link_rel=None,
)


_MAX_ATTRIBUTES: Final = 64
"""Elements with more lose those outside the vocabulary before the sanitiser sees them."""
_LARGE_HTML_CHARS: Final = 50_000
"""Shorter HTML is sanitised fast enough, whatever its tags."""
_LONG_TAG: Final = compile_lazily(r"<[a-zA-Z][^<>]{4000}")


def _strip_bloated(root: dom.Element) -> None:
    """Rebuild elements with very many attributes: the sanitiser's time grows with the square of their number."""
    for node in list(dom.elements(root)):
        attributes = dom.attributes(node)
        if len(attributes) > _MAX_ATTRIBUTES:
            known = _ATTRIBUTES.get(node.tag, frozenset()) | _ATTRIBUTES["*"] | {"class"}
            kept = {name: value for name, value in attributes.items() if name in known}
            slim = dom.element(node.tag, kept)
            dom.add_before(node, slim)
            dom.append(slim, *node.children)
            dom.drop(node)


def sanitise(root: dom.Element) -> tuple[str, dom.Element]:
    """Return the content as HTML with nothing outside the vocabulary, and the tree parsed from exactly that HTML."""
    html = dom.inner_html(root)
    if len(html) > _LARGE_HTML_CHARS and _LONG_TAG.search(html):
        _strip_bloated(root)
        html = dom.inner_html(root)
    safe = sanitise_html(html)
    return safe, dom.parse_fragment(safe)


def sanitise_html(html: str) -> str:
    """Return HTML with nothing outside the vocabulary."""
    try:
        safe = _CLEANER.clean(html)
    except UnicodeEncodeError:  # a lone surrogate cannot be written as UTF-8
        safe = _CLEANER.clean(html.encode("utf-8", "replace").decode("utf-8"))
    return safe.strip()

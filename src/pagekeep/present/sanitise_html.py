"""Sanitise rendered HTML: the last step before it is inserted into a page."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

import nh3

from pagekeep.present.code_colours import CODE_CLASSES

CALLOUT_STYLES: Final = {
    "tip": "tip",
    "hint": "tip",
    "success": "tip",
    "warning": "warning",
    "attention": "warning",
    "caution": "danger",
    "danger": "danger",
    "error": "danger",
    "important": "important",
    "quote": "quote",
    "cite": "quote",
}
"""The style of each kind of callout; all others look like notes."""
_FOOTNOTE: Final = re.compile(r"#fn(?:ref)?[0-9]+(?::[0-9]+)?")
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel"})
_TAGS: Final = frozenset(
    "p h1 h2 h3 h4 h5 h6 ul ol li blockquote hr div section a strong em s sup code br span pre img figure figcaption "
    "table thead tbody tr th td data".split()
)
_ATTRIBUTES: Final[dict[str, set[str]]] = {
    "a": {"href", "id", "aria-label"},
    "data": {"value"},
    "img": {"src", "alt", "title", "loading", "decoding"},
    "li": {"id"},
    "ol": {"start"},
    "pre": {"data-language"},
    "span": {"role", "aria-label"},
    **{f"h{level}": {"id"} for level in range(1, 7)},
}
_ALLOWED_CLASSES: Final[dict[str, set[str]]] = {
    "a": {"back"},
    "blockquote": {"callout", *CALLOUT_STYLES.values(), "note"},
    "div": {"table"},
    "li": {"task"},
    "p": {"callout-title"},
    "section": {"footnotes"},
    "span": {"done", "open", *CODE_CLASSES},
    "sup": {"footnote-ref"},
    "th": {"left", "right", "center"},
    "td": {"left", "right", "center"},
}
_ID: Final = re.compile(r"section-[0-9]+|fn(?:ref)?[0-9]+(?::[0-9]+)?")


def sanitise(html: str, images: set[str]) -> str:
    """Return the HTML with only safe elements and attributes, and only the given image URLs."""

    def keep(_tag: str, name: str, value: str) -> str | None:
        if name == "id":
            return value if _ID.fullmatch(value) else None
        if name == "src":
            return value if value in images else None
        if name == "href":
            return value if _FOOTNOTE.fullmatch(value) or absolute_url(value, "") else None
        return value

    return nh3.clean(
        html,
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        allowed_classes=_ALLOWED_CLASSES,
        attribute_filter=keep,
        link_rel="noopener noreferrer",
        url_schemes=set(_SCHEMES),
    )


def absolute_url(url: str, base: str) -> str:
    """Return the absolute URL if its scheme is allowed, an empty string otherwise."""
    try:
        full = urljoin(base, url)
        return full if urlsplit(full).scheme.lower() in _SCHEMES else ""
    except ValueError:
        return ""

"""The links of a page: all of them, in document order, as a crawl follows them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pagekeep import dom
from pagekeep.extraction.input import urls

MAX_LINKS: Final = 5_000
"""Links of one page that are looked at."""
MAX_BREADCRUMBS: Final = 12
_MAX_CRUMB_CHARS: Final = 200
_FOLLOWED: Final = frozenset({"next", "prev", "alternate"})
"""Kinds of `<link>` that lead to pages; `alternate` only with a language."""
_BREADCRUMBS: Final = (
    '[aria-label*="breadcrumb" i], [class*="breadcrumb" i], [id*="breadcrumb" i], [typeof~="BreadcrumbList"], '
    '[itemtype$="/BreadcrumbList"]'
)


@dataclass(frozen=True, slots=True)
class PageLinks:
    """What a page says about other pages."""

    links: tuple[str, ...]
    """Absolute, each once, in document order."""
    nofollow: bool
    """Whether the page asks programs not to follow its links."""
    breadcrumbs: tuple[str, ...]


def read_links(html: str, url: str) -> PageLinks:
    """Return the links of a page."""
    document = dom.parse(html)
    base = urls.base(document, url) or url
    found: dict[str, None] = {}
    nofollow = False
    for element in dom.tagged(document, ("a", "area", "link", "meta"), MAX_LINKS):
        if element.tag == "meta":
            nofollow = nofollow or _forbids(element)
        elif element.tag != "link" or _leads_to_page(element):
            href = element.attr("href")
            address = urls.absolute(href, base) if href and not href.startswith("#") else None
            if address is not None:
                found.setdefault(address.partition("#")[0])
    return PageLinks(tuple(found), nofollow, _breadcrumbs(document))


def _forbids(meta: dom.Element) -> bool:
    name = (meta.attr("name") or "").lower()
    words = (meta.attr("content") or "").lower().replace(",", " ").split()
    return name in ("robots", "pagekeep") and ("nofollow" in words or "none" in words)


def _leads_to_page(link: dom.Element) -> bool:
    kinds = set((link.attr("rel") or "").lower().split()) & _FOLLOWED
    return bool(kinds - {"alternate"}) or ("alternate" in kinds and bool(link.attr("hreflang")))


def _breadcrumbs(document: dom.Document) -> tuple[str, ...]:
    """Return the titles of the pages above this one, as the page shows them."""
    for element in dom.select(document, _BREADCRUMBS)[:3]:
        crumbs = _texts(dom.tagged(element, ("a",), MAX_BREADCRUMBS))
        if crumbs:
            return crumbs
    return ()


def _texts(elements: Iterable[dom.Element]) -> tuple[str, ...]:
    texts = (" ".join(dom.text_of(element).split())[:_MAX_CRUMB_CHARS] for element in elements)
    return tuple(text for text in texts if text)

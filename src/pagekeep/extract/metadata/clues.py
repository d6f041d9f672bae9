"""Everything on the page that a metadata reader looks at, gathered once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from pagekeep import dom
from pagekeep.extract import urls
from pagekeep.extract.metadata.plain import one_line, squeezed, tidy
from pagekeep.extract.structured import Json, Structured, short_text, type_names

_MAX_HEADINGS: Final = 5
_MAX_TRIED_HEADINGS: Final = 20
_PERMALINK: Final = " \u00b6#\U0001f517"
"""Signs of a heading's link to itself."""
_MAX_CLIMB: Final = 40
_FOREIGN_TAGS: Final = frozenset(("footer", "nav", "form"))
_FOREIGN: Final = re.compile(
    r"(?:\A|[\s_-])(?:comments?|commentlist|related|sidebar|footer|recommend(?:ed|ations?)?|popular|teasers?|promo|latest|trending"
    r"|carousel|slider|newsletter|nav|navbar|disqus|respond|cards?|suggested|upnext)(?=\Z|[\s_-])"
)
"""Whole words in a class or id of a part that speaks of other pages or other people."""
_ARTICLE_ENDINGS: Final = (
    "Article",
    "Posting",
    "Report",
    "Review",
    "Recipe",
    "HowTo",
    "Question",
    "VideoObject",
    "Blog",
)
_PAGE_ENDINGS: Final = (
    "Page",
    "Product",
    "Course",
    "Event",
    "CreativeWork",
    "Book",
    "Movie",
    "SoftwareApplication",
    "Dataset",
)
_EMPTY: Final[Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Clues:
    """One page's structured data with the elements that hint at its title, authors, dates and subjects."""

    document: dom.Document
    structured: Structured
    url: str | None
    base: str | None
    item: Json
    """The JSON-LD object about this page; empty when there is none."""
    page_item: Json
    """The JSON-LD object of the web page around it; empty when there is none."""
    by_id: Mapping[str, Json]
    """JSON-LD objects by `@id`, for references within the page."""
    title: str
    """The `<title>`."""
    headings: tuple[str, ...]
    """Texts of the first `<h1>`s, empty ones left out."""
    heading: dom.Element | None
    """The `<h1>` that agrees with the title, else the first."""
    is_home: bool
    """Whether this is the site's home page, whose dates and names are those of what it lists."""
    day_first: bool
    """Whether 03/05/2024 is the third of May here."""


def gather(document: dom.Document, structured: Structured, url: str | None) -> Clues:
    """The clues every page is asked for; costlier ones are looked up by the reader that misses better evidence."""
    title = tidy(_title(document))
    headings = _headings(document)
    texts = tuple(text for text, _ in headings)
    return Clues(
        document=document,
        structured=structured,
        url=url,
        base=urls.base(document, url),
        item=_own_item(structured, url, (title, *texts)),
        page_item=_first_of(structured.json_ld, ("WebPage", "ItemPage", "ProfilePage", "CollectionPage", "AboutPage")),
        by_id=_by_id(structured),
        title=title,
        headings=texts,
        heading=_main_heading(headings, squeezed(title)),
        is_home=url is not None and urls.path(url) in ("", "/"),
        day_first=_day_first(document),
    )


def is_foreign(element: dom.Element) -> bool:
    """Whether the element stands in a part that speaks of something else: comments, related pages, navigation."""
    node: dom.Node | None = element
    aside = False
    for _ in range(_MAX_CLIMB):
        if not isinstance(node, dom.Element) or node.tag in ("body", "article", "main"):
            break
        names = f"{node.attr('class') or ''} {node.attr('id') or ''}"[:300].lower()
        if (node is not element and node.tag in _FOREIGN_TAGS) or _FOREIGN.search(names):
            return True
        aside = aside or node.tag == "aside"
        node = node.parent
    # An article puts its own byline and date into an aside; a page puts other pages there.
    return aside and not (isinstance(node, dom.Element) and node.tag == "article")


def _title(document: dom.Document) -> str:
    # An <svg> has titles too; the document's comes first.
    element = dom.first(document, "title")
    return dom.text_of(element).strip()[:2000] if element is not None else ""


def _headings(document: dom.Document) -> list[tuple[str, dom.Element]]:
    found: list[tuple[str, dom.Element]] = []
    for element in dom.select(document, "h1")[:_MAX_TRIED_HEADINGS]:
        if len(found) < _MAX_HEADINGS and (text := tidy(short_text(element, 500)).rstrip(_PERMALINK)):
            found.append((text, element))
    return found


def _main_heading(headings: list[tuple[str, dom.Element]], title: str) -> dom.Element | None:
    """The heading the title begins with, else one it holds, else the first."""
    known = [(squeezed(text)[:60], element) for text, element in headings]
    begins = [element for text, element in known if title.startswith(text)]
    holds = [element for text, element in known if text in title]
    return next(iter([*begins, *holds, *(element for _, element in known)]), None)


def _by_id(structured: Structured) -> Mapping[str, Json]:
    table: dict[str, Json] = {}
    for item in structured.json_ld:
        if isinstance(name := item.get("@id"), str):
            table.setdefault(name, item)
    return table


def _first_of(items: tuple[Json, ...], names: tuple[str, ...]) -> Json:
    return next((item for item in items if any(name in names for name in type_names(item))), _EMPTY)


def _ends_with(item: Json, endings: tuple[str, ...]) -> bool:
    return any(name.endswith(endings) for name in type_names(item))


def _own_item(structured: Structured, url: str | None, headings: tuple[str, ...]) -> Json:
    """The article-like object that names this page's address or heading; the only one when there is but one."""
    articles = [item for item in structured.json_ld if _ends_with(item, _ARTICLE_ENDINGS)]
    others = [item for item in structured.json_ld if _ends_with(item, _PAGE_ENDINGS)]
    if len(articles) > 1:
        own = [item for item in articles if _names_page(item, url, headings)]
        articles = own or ([] if len(articles) > 4 else articles)
    return (articles or others or [_EMPTY])[0]


def _names_page(item: Json, url: str | None, headings: tuple[str, ...]) -> bool:
    headline = squeezed(one_line(item.get("headline") or item.get("name")))
    if headline and any(headline in squeezed(heading) for heading in headings):
        return True
    addresses = [item.get(key) for key in ("url", "@id", "mainEntityOfPage")]
    return url is not None and any(_same_address(address, url) for address in addresses)


def _same_address(address: Any, url: str) -> bool:
    if isinstance(address, dict):
        address = address.get("@id") or address.get("url")
    return isinstance(address, str) and _bare(address) == _bare(url)


def _bare(url: str) -> str:
    return (
        url.split("#")[0]
        .split("?")[0]
        .rstrip("/")
        .removeprefix("https://")
        .removeprefix("http://")
        .removeprefix("www.")
    )


def _day_first(document: dom.Document) -> bool:
    """American pages put the month first; English without a region counts as American, the larger part of it."""
    root = dom.first(document, "html")
    language = ((root.attr("lang") if root is not None else None) or "en").lower().replace("_", "-")
    return language not in ("en", "en-us", "en-ph", "es-us")

"""Everything on the page that a metadata reader looks at, gathered once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import Json, Structured, short_text, type_names, types
from pagekeep.extraction.metadata import nearby
from pagekeep.extraction.metadata.plain import one_line, squeezed, tidy

_MAX_HEADINGS: Final = 5
_MAX_TRIED_HEADINGS: Final = 20
_MAX_LESSER: Final = 10
_MIN_HEADING: Final = 12
"""Letters from which a lesser heading that agrees with the title is no chance."""
_PERMALINK: Final = " \u00b6#\U0001f517"
"""Signs of a heading's link to itself."""
_MAX_CLIMB: Final = 40
_BLOCKS: Final = 3
_CLOSE: Final = 5
"""Steps from the heading, and from an element, up to the block they share when they stand together."""
_MAX_CLOSE: Final = 30
_WHOLE_PAGE: Final = frozenset(("html", "body", "main", "article"))
_FOREIGN_TAGS: Final = frozenset(("nav", "form"))
_FOREIGN: Final = re.compile(
    r"(?:\A|[\s_-])(?:comments?|commentlist|related|sidebar|footer|recommend(?:ed|ations?)?|popular|teasers?|promo|latest|trending"
    r"|carousel|slider|newsletter(?:-(?:signup|form|box|cta|subscribe|widget))?(?=\Z|\s)|nav|navbar|disqus|respond|cards?|suggested|upnext)(?=\Z|[\s_-])"
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
_THREAD: Final = re.compile(
    r"forum|thread|viewtopic|/topic/\d|bbs|/boards?/|communit|discuss|/comments?/|/t/|/post/\d|/q(?:uestions?)?/",
    re.IGNORECASE,
)
_EMPTY: Final[Json] = MappingProxyType({})


@dataclass(frozen=True)
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

    @cached_property
    def lines(self) -> list[nearby.Line]:
        """The short lines by the heading, walked to only when asked for."""
        return nearby.lines(self.heading)

    @cached_property
    def is_thread(self) -> bool:
        """Whether many people write here, under their user names and each on a day of their own."""
        names = types(self.structured)
        return bool(_THREAD.search(self.url or "")) or any("Forum" in name or "QA" in name for name in names)

    @cached_property
    def around(self) -> tuple[dom.Node, ...]:
        """What the heading stands in, from the inside out."""
        found: list[dom.Node] = []
        node = self.heading.parent if self.heading is not None else None
        while isinstance(node, dom.Element) and len(found) < _MAX_CLIMB:
            found.append(node)
            node = node.parent
        return tuple(found)

    @cached_property
    def _own(self) -> frozenset[dom.Node]:
        return frozenset(self.around)

    def is_foreign(self, element: dom.Element) -> bool:
        """Whether the element speaks of another page or of other people."""
        return is_foreign(element, self._own)

    def from_heading(self, candidates: list[dom.Element], limit: int) -> Iterator[dom.Element]:
        """Elements in document order (`<h1>` among them): those close to the heading, those behind it, those ahead."""
        place = next((index for index, element in enumerate(candidates) if element is self.heading), 0)
        behind, ahead = candidates[place : place + limit], candidates[:place][-limit:]
        yield from filter(self.is_close, behind[:_MAX_CLOSE])
        yield from filter(self.is_close, ahead[-_MAX_CLOSE:])
        yield from behind
        yield from ahead

    @cached_property
    def _blocks(self) -> frozenset[dom.Node]:
        return frozenset(block for block in self.around[:_BLOCKS] if _tag(block) not in _WHOLE_PAGE)

    def is_close(self, element: dom.Element) -> bool:
        """Whether the element shares a small block with the heading."""
        node: dom.Node | None = element.parent
        for _ in range(_CLOSE):
            if node is None or node in self._blocks:
                return node is not None
            node = node.parent
        return False


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
        heading=_main_heading(document, headings, squeezed(title)),
        is_home=url is not None and urls.path(url) in ("", "/"),
        day_first=day_first(document),
    )


def is_foreign(element: dom.Element, own: frozenset[dom.Node] = frozenset()) -> bool:
    """Whether the element stands in a part that speaks of something else: comments, related pages, navigation.

    What holds the page's heading too (`own`) speaks of the page, whatever it is called.
    """
    node: dom.Node | None = element
    apart = False
    for _ in range(_MAX_CLIMB):
        if not isinstance(node, dom.Element) or node in own or node.tag in ("body", "article", "main"):
            break
        names = f"{node.attr('class') or ''} {node.attr('id') or ''}"[:300].lower()
        if (node is not element and node.tag in _FOREIGN_TAGS) or _FOREIGN.search(names):
            return True
        apart = apart or node.tag in ("aside", "footer")
        node = node.parent
    # An article puts its own byline and date into an aside or a footer; a page puts other pages there.
    return apart and not _in_article(node)


def _in_article(node: dom.Node | None) -> bool:
    for _ in range(_MAX_CLIMB):
        if not isinstance(node, dom.Element) or node.tag in ("body", "main"):
            return False
        if node.tag == "article":
            return True
        node = node.parent
    return False


def _tag(node: dom.Node) -> str:
    return node.tag if isinstance(node, dom.Element) else ""


def _title(document: dom.Document) -> str:
    # An <svg> has titles too; the document's comes first.
    element = dom.first(document, "title")
    return dom.text_of(element).strip()[:2000] if element is not None else ""


def _headings(document: dom.Document) -> list[tuple[str, dom.Element]]:
    found: list[tuple[str, dom.Element]] = []
    for element in dom.select(document, "h1")[:_MAX_TRIED_HEADINGS]:
        if len(found) < _MAX_HEADINGS and (text := _without_permalink(tidy(short_text(element, 500)))):
            found.append((text, element))
    return found


def _without_permalink(heading: str) -> str:
    """`# Lamps` and `Lamps ¶` as `Lamps`; `#lamps` is a word."""
    heading = heading.rstrip(_PERMALINK)
    return heading[2:].lstrip() if heading[:1] in _PERMALINK and heading[1:2] == " " else heading


def _main_heading(document: dom.Document, headings: list[tuple[str, dom.Element]], title: str) -> dom.Element | None:
    """The heading the title begins with, of any rank; else an `<h1>` the title holds, else the first."""
    known = [(squeezed(text)[:60], element) for text, element in headings]
    for text, element in known:
        if title.startswith(text):
            return element
    lower = _lower_heading(document, title)
    holds = (element for text, element in known if text in title)
    return lower or next(holds, known[0][1] if known else None)


def _lower_heading(document: dom.Document, title: str) -> dom.Element | None:
    """The lesser heading the title begins with: old forums and blogs keep `<h1>` for their own name."""
    # Asked for one by one, for which the tree has an index: a tenth of the time of both at once.
    lesser = [*dom.select(document, "h2")[:_MAX_LESSER], *dom.select(document, "h3")[:_MAX_LESSER]]
    for element in lesser if title else ():
        text = squeezed(short_text(element, 200))[:60]
        if len(text) >= _MIN_HEADING and title.startswith(text):
            return element
    return None


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


def day_first(document: dom.Document) -> bool:
    """American pages put the month first; English without a region counts as American, the larger part of it."""
    root = dom.first(document, "html")
    language = ((root.attr("lang") if root is not None else None) or "en").lower().replace("_", "-")
    return language not in ("en", "en-us", "en-ph", "es-us")

"""Collect once what the metadata fields are read from: structured data, the title, headings and lines near them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any, Final

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import (
    Json,
    Structured,
    one_line,
    short_text,
    split_words,
    squeeze,
    tag_of,
    tidy,
    type_names,
    types,
)
from pagekeep.extraction.metadata.dates import is_day_first
from pagekeep.rules.rulebook import Names
from pagekeep.text import compile_lazily
from pagekeep.values import dataclass

FieldValue = tuple[str, str]
"""The value of a metadata field, and its origin, such as `json-ld`."""

_MAX_HEADINGS: Final = 5
"""`<h1>` elements with text that are compared with the title; a page has one, sometimes two or three."""
_MAX_TRIED_HEADINGS: Final = 20
"""`<h1>` elements looked at, those without text included."""
_MAX_LESSER: Final = 10
"""`<h2>` and `<h3>` elements compared with the title; the headline comes early."""
_MIN_HEADING_CHARS: Final = 12
"""A lesser heading of this many letters does not match the title by chance."""
_COMPARED_CHARS: Final = 60
"""Letters at the start of a heading that are compared with the title: titles are cut there by some sites."""
_HEADING_CHARS: Final = 500
_LESSER_CHARS: Final = 200
_TITLE_CHARS: Final = 2_000
_PERMALINK: Final = " \u00b6#\U0001f517"
"""Characters of a heading's link to itself."""
_MAX_CLIMB: Final = 40
"""Ancestors looked at."""
_BLOCK_LEVELS: Final = 3
_CLOSE_LEVELS: Final = 5
"""Levels from the heading, and from another element, up to the block they share when they belong together."""
_MAX_CLOSE: Final = 30
"""Elements on each side of the heading that are tested for closeness."""
_MAX_UNNAMED_ARTICLES: Final = 4
"""JSON-LD articles, none of which names this page: more are the list of an overview page."""
_BANNER_LEVELS: Final = 6
"""Ancestors of a heading searched for a menu or a link."""
_MENU_TAGS: Final = frozenset(("nav", "footer", "dialog"))
_WHOLE_PAGE: Final = frozenset(("html", "body", "main", "article"))
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
_THREAD: Final = compile_lazily(
    r"forum|thread|viewtopic|/topic/\d|bbs|/boards?/|communit|discuss|/comments?/|/t/|/post/\d|/q(?:uestions?)?/",
    re.IGNORECASE,
)
_NUMBERED: Final = compile_lazily(r"[?&][a-z_]{1,10}=\d")
"""A query that chooses a page by its number."""
_FIRST_EAST_ASIAN: Final = "\u3040"
_EAST_ASIAN: Final = compile_lazily(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_EMPTY: Final[Json] = MappingProxyType({})


Line = tuple[str, dom.Element]
"""A line and the element that contains it."""


@dataclass(frozen=True)
class Clues:
    """A page's structured data, and the elements near its heading that may state title, authors, dates and subjects."""

    document: dom.Document
    structured: Structured
    url: str | None
    names: Names
    """The class names on the page."""
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
    """Texts of the first `<h1>` elements that have one."""
    heading_elements: tuple[dom.Element, ...]
    """The elements of these texts."""
    banners: frozenset[str]
    """Those of them that link to the site's home page or are part of a menu: not about this page."""
    heading: dom.Element | None
    """The heading that matches the title best, else the first `<h1>`."""
    is_home: bool
    """Whether this is the site's home page, whose dates and names belong to the pages it lists; `/?p=959` is not."""
    day_first: bool
    """Whether 03/05/2024 means 3 May."""

    @cached_property
    def lines(self) -> list[Line]:
        """Return the short lines near the heading, found on first use."""
        return find_nearby_lines(self.heading)

    @cached_property
    def shown_title(self) -> dom.Element | None:
        """Return the element, not a heading, that shows what the title starts with, unless the heading is in the title."""
        title = squeeze(self.title)
        heading = squeeze(short_text(self.heading, _LESSER_CHARS))[:_COMPARED_CHARS] if self.heading is not None else ""
        return None if heading and heading in title else find_nearby_text(self.document, title)

    @cached_property
    def is_thread(self) -> bool:
        """Return whether this is a thread: many users, each with a name and a date."""
        names = types(self.structured)
        return bool(_THREAD.search(self.url or "")) or any("Forum" in name or "QA" in name for name in names)

    @property
    def year_first(self) -> bool:
        """Return whether 05.03.24 means 24 March 2005, as in East Asia."""
        return max(self.title, default="") >= _FIRST_EAST_ASIAN and _EAST_ASIAN.search(self.title) is not None

    @property
    def is_product(self) -> bool:
        """Return whether the page sells something, which has dates of reviews and offers."""
        return any("Product" in name or "Offer" in name for name in types(self.structured))

    @cached_property
    def around(self) -> tuple[dom.Node, ...]:
        """Return the ancestors of the heading, innermost first."""
        ancestors: list[dom.Node] = []
        node = self.heading.parent if self.heading is not None else None
        while isinstance(node, dom.Element) and len(ancestors) < _MAX_CLIMB:
            ancestors.append(node)
            node = node.parent
        return tuple(ancestors)

    @cached_property
    def _own(self) -> frozenset[dom.Node]:
        return frozenset(self.around)

    def is_foreign(self, element: dom.Element, *, with_footer: bool = True) -> bool:
        """Return whether the element is about another page or other people, or in a footer unless `with_footer` is off."""
        return is_foreign(element, self._own, self._blocks, with_footer=with_footer)

    def select_marked(self, selectors: Sequence[str]) -> list[dom.Element]:
        """Return the elements that one of the selectors matches, and every `<h1>` among them, in document order."""
        document, names = self.document, self.names
        # One query for all takes long: most pages have few of the names, and a tag is looked up at once.
        possible = [
            selector
            for selector in selectors
            if names.may_match(selector) and (not selector[0].isalpha() or dom.first(document, selector) is not None)
        ]
        return dom.select(document, ", ".join(["h1", *possible])) if possible else []

    def order_by_heading(self, candidates: list[dom.Element], limit: int) -> Iterator[dom.Element]:
        """Reorder elements (in document order, `<h1>` included): close to the heading, after it, then before it."""
        position = next((index for index, element in enumerate(candidates) if element is self.heading), 0)
        after, before = candidates[position : position + limit], candidates[:position][-limit:]
        yield from filter(self.is_close, after[:_MAX_CLOSE])
        yield from filter(self.is_close, before[-_MAX_CLOSE:])
        yield from after
        yield from before

    @cached_property
    def _blocks(self) -> frozenset[dom.Node]:
        return frozenset(block for block in self.around[:_BLOCK_LEVELS] if tag_of(block) not in _WHOLE_PAGE)

    def is_close(self, element: dom.Element) -> bool:
        """Return whether the element shares a small block with the heading."""
        node: dom.Node | None = element.parent
        for _ in range(_CLOSE_LEVELS):
            if node is None or node in self._blocks:
                return node is not None
            node = node.parent
        return False


def collect(document: dom.Document, structured: Structured, url: str | None, names: Names | None = None) -> Clues:
    """Collect the clues that every page needs; costlier ones are found when a field has no better source.

    `names` are those of the document, where they are known already.
    """
    title = tidy(_title(document))
    headings = _headings(document)
    texts = tuple(text for text, _ in headings)
    base = urls.base(document, url)
    banners = frozenset(text for text, element in headings if _is_banner(text, element, title, base))
    own = [heading for heading in headings if heading[0] not in banners]
    return Clues(
        document=document,
        structured=structured,
        url=url,
        names=names or Names(document),
        base=base,
        item=_own_item(structured, url, (title, *texts)),
        page_item=_first_of(structured.json_ld, ("WebPage", "ItemPage", "ProfilePage", "CollectionPage", "AboutPage")),
        by_id=_by_id(structured),
        title=title,
        headings=texts,
        heading_elements=tuple(element for _, element in headings),
        banners=banners,
        heading=_main_heading(document, own, title) or (headings[0][1] if headings else None),
        is_home=bool(url) and urls.path(url) in ("", "/") and not _NUMBERED.search(url or ""),
        day_first=is_day_first(document, url),
    )


def _title(document: dom.Document) -> str:
    # An <svg> can have a <title> too; the document's comes first.
    element = dom.first(document, "title")
    return dom.text_of(element).strip()[:_TITLE_CHARS] if element is not None else ""


def _headings(document: dom.Document) -> list[tuple[str, dom.Element]]:
    headings: list[tuple[str, dom.Element]] = []
    for element in dom.select(document, "h1")[:_MAX_TRIED_HEADINGS]:
        if len(headings) < _MAX_HEADINGS and (text := _strip_permalink(tidy(short_text(element, _HEADING_CHARS)))):
            headings.append((text, element))
    return headings


def _is_banner(text: str, heading: dom.Element, title: str, base: str | None) -> bool:
    """Return whether the heading is in a menu, or is a link to the home page: the name of the site."""
    node: dom.Node | None = heading
    for _ in range(_BANNER_LEVELS):
        if not isinstance(node, dom.Element) or node.tag in _WHOLE_PAGE:
            break
        if node.tag in _MENU_TAGS and not title.startswith(text):  # a trail of links may end with the headline
            return True
        if node.tag == "a" and _leads_home(node, base):
            return True
        node = node.parent
    link = dom.first(heading, "a[href]")
    return link is not None and _leads_home(link, base) and squeeze(short_text(link, _HEADING_CHARS)) == squeeze(text)


def _leads_home(link: dom.Element, base: str | None) -> bool:
    target = urls.absolute(link.attr("href"), base)
    return (
        target is not None
        and urls.path(target) in ("", "/")
        and "?" not in target
        and (base is None or urls.domain(target) == urls.domain(base))
    )


def _strip_permalink(heading: str) -> str:
    """`# Lamps` and `Lamps ¶` become `Lamps`; `#lamps` stays."""
    heading = heading.rstrip(_PERMALINK)
    return heading[2:].lstrip() if heading[:1] in _PERMALINK and heading[1:2] == " " else heading


def _main_heading(
    document: dom.Document, headings: list[tuple[str, dom.Element]], page_title: str
) -> dom.Element | None:
    """Return the heading of any level that the title starts or ends with, else the `<h1>` with most of its words."""
    title = squeeze(page_title)
    known = [(squeeze(text)[:_COMPARED_CHARS], element) for text, element in headings]
    for text, element in known:
        if title.startswith(text):
            return element
    lesser = _lesser_heading(document, title)
    contained = (element for text, element in known if text in title)
    return lesser or next(contained, None) or _closest(headings, page_title)


def _closest(headings: list[tuple[str, dom.Element]], title: str) -> dom.Element | None:
    """Return the first heading with the most words of the title."""
    words = set(split_words(title))
    return max(headings, key=lambda heading: len(words.intersection(split_words(heading[0]))), default=(None, None))[1]


def _lesser_heading(document: dom.Document, title: str) -> dom.Element | None:
    """Return the `<h2>` or `<h3>` that the title starts or ends with: old forums and blogs use `<h1>` for their own name."""
    # One query per tag, which uses the tree's index: a tenth of the time of one query for both.
    lesser = [*dom.select(document, "h2")[:_MAX_LESSER], *dom.select(document, "h3")[:_MAX_LESSER]]
    for element in lesser if title else ():
        text = squeeze(short_text(element, _LESSER_CHARS))[:_COMPARED_CHARS]
        if (title.startswith(text) or title.endswith(text)) and width(text) >= _MIN_HEADING_CHARS:
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
    """Return the article object that names this page's URL or heading, or the only one there is."""
    articles = [item for item in structured.json_ld if _ends_with(item, _ARTICLE_ENDINGS)]
    others = [item for item in structured.json_ld if _ends_with(item, _PAGE_ENDINGS)]
    if len(articles) > 1:
        own = [item for item in articles if _names_page(item, url, headings)]
        articles = own or ([] if len(articles) > _MAX_UNNAMED_ARTICLES else articles)
    return (articles or others or [_EMPTY])[0]


def _names_page(item: Json, url: str | None, headings: tuple[str, ...]) -> bool:
    headline = squeeze(one_line(item.get("headline") or item.get("name")))
    if headline and any(headline in squeeze(heading) for heading in headings):
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


_NAME_CHARS: Final = 300
"""Characters of an element's class and id that are searched."""
_FOREIGN_TAGS: Final = frozenset(("nav", "form"))
_FOREIGN: Final = compile_lazily(
    r"(?:\A|[\s_-])(comments?|commentlist|related|sidebar|footer|recommend(?:ed|ations?)?|popular|teasers?|promo|latest|trending"
    r"|carousel|slider|newsletter(?:-(?:signup|form|box|cta|subscribe|widget))?(?=\Z|\s)|nav|navbar|disqus|respond|cards?|suggested|upnext|testimonials?)(?=\Z|[\s_-])"
)
"""Whole words in the class or id of a part about other pages or other people."""
_LINE_CHARS: Final = 40
"""Characters of a teaser of another page; less is only a line: a date, a kicker, an author's name."""


def is_foreign(
    element: dom.Element,
    own: frozenset[dom.Node] = frozenset(),
    blocks: frozenset[dom.Node] = frozenset(),
    *,
    with_footer: bool = True,
) -> bool:
    """Return whether the element is in a part about something else: comments, related pages, navigation.

    A part that also contains the page's heading (`own`) is about the page, whatever its name, and so is the footer of one
    of the small `blocks` around the heading.
    """
    node: dom.Node | None = element
    is_separate = False
    for _ in range(_MAX_CLIMB):
        if not isinstance(node, dom.Element) or node in own or node.tag in ("body", "article", "main"):
            break
        names = f"{node.attr('class') or ''} {node.attr('id') or ''}"[:_NAME_CHARS].lower()
        if node is not element and (node.tag in _FOREIGN_TAGS or _is_card(node)):
            return True
        if (found := _FOREIGN.search(names)) and not _is_harmless(node, found[1], blocks, with_footer):
            return True
        is_separate = is_separate or (with_footer and node.tag in ("aside", "footer"))
        node = node.parent
    # An article may have its own byline and date in an aside or footer; outside an article, these list other pages.
    return is_separate and not _in_article(node)


def _is_card(node: dom.Element) -> bool:
    """Return whether the part is a link with more than a line of text: a teaser of another page."""
    return node.tag == "a" and len(short_text(node, _LINE_CHARS)) >= _LINE_CHARS


def _is_harmless(node: dom.Element, name: str, blocks: frozenset[dom.Node], with_footer: bool) -> bool:
    """Return whether a name does not make a part another page's: a teaser has more than a line."""
    is_beside = node.parent in blocks
    if name == "footer":
        return is_beside or not with_footer
    is_line = len(short_text(node, _LINE_CHARS)) < _LINE_CHARS or (is_beside and "meta" in (node.attr("class") or ""))
    return name.startswith(("teaser", "card")) and is_line


def _in_article(node: dom.Node | None) -> bool:
    for _ in range(_MAX_CLIMB):
        if not isinstance(node, dom.Element) or node.tag in ("body", "main"):
            return False
        if node.tag == "article":
            return True
        node = node.parent
    return False


_MAX_NODES: Final = 300
"""Nodes walked after the heading."""
_MAX_LINES: Final = 40
_MAX_LINE_CHARS: Final = 90
"""A byline or a date is shorter than this."""
_MAX_TEXT_CHARS: Final = 1_000
"""Characters of a text node that are read to measure it."""
_MAX_LONG_TEXTS: Final = 2
"""After this many longer texts (a standfirst, a first paragraph) the article has begun."""
_MAX_NODES_BEFORE: Final = 40
_MAX_LINES_BEFORE: Final = 6
_LEVELS_BEFORE: Final = 3
"""The heading's own level and two above it, searched for what comes before the heading."""
_SKIPPED: Final = frozenset(("script", "style", "noscript", "template", "svg", "title"))
_NOT_SHOWN: Final = _SKIPPED | {"head", "option", "textarea", "button"}


_MAX_SEARCHED: Final = 3_000
"""Nodes searched for the title."""
_MAX_TITLE_CHARS: Final = 200
_MIN_TITLE_WIDTH: Final = 12
"""The title's width from which another text does not start like it by chance."""
_WIDE: Final = "\u2e80"
"""From here on, characters are mostly East Asian and count as two."""


def find_nearby_lines(heading: dom.Element | None) -> list[Line]:
    """Return the short lines after the heading in order, then those shortly before it, nearest first."""
    if heading is None:
        return []
    before = [line for line in _lines(_before(heading)) if len(line[0]) <= _MAX_LINE_CHARS][:_MAX_LINES_BEFORE]
    return [*_short_lines(_lines(_after(heading))), *before]


def find_nearby_text(document: dom.Document, title: str) -> dom.Element | None:
    """Return the first element that shows the start or the end of the squeezed title; a link only if nothing else does."""
    if width(title) < _MIN_TITLE_WIDTH:
        return None
    text_type, element_type = dom.Text, dom.Element
    link: dom.Element | None = None
    before: dom.Node | None = None
    for node in islice(dom.nodes(document), _MAX_SEARCHED):
        if type(node) is text_type and not (type(before) is element_type and before.tag in _NOT_SHOWN):
            data = node.data
            if len(data) >= _MIN_TITLE_WIDTH // 2 and _shows(data[:_MAX_TITLE_CHARS].strip(), title):
                parent = node.parent
                if isinstance(parent, dom.Element) and parent.tag != "a":
                    return parent
                link = link or (parent if isinstance(parent, dom.Element) else None)
        before = node
    return link


def _shows(text: str, title: str) -> bool:
    # Most texts start and end with other letters, which is quickly seen.
    if len(text) < _MIN_TITLE_WIDTH // 2 or not (
        text[0].lower() == title[0] or text[-1].lower() == title[-1] or not text[0].isalnum() or not text[-1].isalnum()
    ):
        return False
    text = squeeze(text)
    return (title.startswith(text) or title.endswith(text)) and width(text) >= _MIN_TITLE_WIDTH


def width(text: str) -> int:
    """Return how much a text says by its length: an East Asian character counts as two."""
    return len(text) + sum(char >= _WIDE for char in text)


def _lines(nodes: Iterator[dom.Node]) -> Iterator[Line]:
    for node in nodes:
        if isinstance(node, dom.Text) and (text := " ".join(node.data[:_MAX_TEXT_CHARS].split())):
            parent = node.parent
            if isinstance(parent, dom.Element) and parent.tag not in _SKIPPED:
                yield text, parent


def _short_lines(lines: Iterator[Line]) -> Iterator[Line]:
    """Yield the short lines up to where the article's text begins."""
    long_texts = 0
    for line in islice(lines, _MAX_LINES):
        if len(line[0]) <= _MAX_LINE_CHARS:
            yield line
            continue
        long_texts += 1
        if long_texts >= _MAX_LONG_TEXTS:
            return


def _after(element: dom.Element) -> Iterator[dom.Node]:
    """Yield the nodes after the element in document order."""
    left = _MAX_NODES
    current: dom.Node | None = element
    while current is not None:
        sibling = current.next_sibling
        while sibling is not None:
            yield sibling
            for node in dom.nodes(sibling):
                left -= 1
                if left <= 0:
                    return
                yield node
            left -= 1
            sibling = sibling.next_sibling
            if left <= 0:
                return
        current = current.parent


def _before(element: dom.Element) -> Iterator[dom.Node]:
    """Yield the nodes before the element, nearest siblings first, and those before its parent and grandparent."""
    left = _MAX_NODES_BEFORE
    current: dom.Node | None = element
    for _ in range(_LEVELS_BEFORE):
        sibling = current.previous_sibling if current is not None else None
        while sibling is not None and left > 0:
            yield sibling
            for node in dom.nodes(sibling):
                left -= 1
                if left <= 0:
                    return
                yield node
            left -= 1
            sibling = sibling.previous_sibling
        current = current.parent if current is not None else None

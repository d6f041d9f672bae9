"""What sort of page this is, from structured data, address and markup, with the reasons.

Every signal adds weight to a kind; the heaviest wins, ties go to the kind named first in `model.KINDS`. Nothing is learnt: the
table below is the whole knowledge, and `--explain` shows which lines of it spoke.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from pagekeep.extraction.input import structured as structured_data
from pagekeep.extraction.input.structured import Structured
from pagekeep.extraction.locate.class_names import Sign
from pagekeep.extraction.locate.survey import Survey
from pagekeep.model import KINDS, Kind

Signal = tuple[Kind, float, str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The kind and what spoke for it."""

    kind: Kind
    reasons: tuple[str, ...]


_TYPES: Final[dict[str, tuple[Kind, float]]] = {
    "DiscussionForumPosting": ("forum", 6),
    "QAPage": ("forum", 6),
    "Comment": ("forum", 1),
    "NewsArticle": ("article", 5),
    "ReportageNewsArticle": ("article", 5),
    "AnalysisNewsArticle": ("article", 5),
    "OpinionNewsArticle": ("article", 5),
    "BlogPosting": ("article", 5),
    "Article": ("article", 4),
    "ScholarlyArticle": ("article", 4),
    "Recipe": ("article", 4),
    "HowTo": ("article", 2),
    "TechArticle": ("documentation", 4),
    "APIReference": ("documentation", 5),
    "Product": ("product", 4),
    "ProductGroup": ("product", 4),
    "SoftwareApplication": ("service", 1),
    "CollectionPage": ("collection", 2),
    "OfferCatalog": ("collection", 2),
    "ItemList": ("listing", 1),
    "SearchResultsPage": ("listing", 4),
    "Service": ("service", 3),
    "LocalBusiness": ("service", 1.5),
    "AboutPage": ("service", 2),
    "ContactPage": ("service", 3),
}

_OPENGRAPH: Final[dict[str, tuple[Kind, float]]] = {
    "article": ("article", 1.5),  # the default of publishing systems, on services and shops too
    "blog": ("article", 1),
    "product": ("product", 4),
    "og:product": ("product", 4),
    "product.item": ("product", 4),
    "product.group": ("collection", 5),
    "website": ("service", 0.5),
}

_GENERATORS: Final[dict[str, tuple[Kind, float]]] = {
    "discourse": ("forum", 6),
    "flarum": ("forum", 6),
    "vbulletin": ("forum", 6),
    "phpbb": ("forum", 6),
    "docusaurus": ("documentation", 5),
    "sphinx": ("documentation", 5),
    "mkdocs": ("documentation", 5),
    "gitbook": ("documentation", 5),
    "vitepress": ("documentation", 4),
    "mdbook": ("documentation", 5),
    "starlight": ("documentation", 5),
    "mediawiki": ("documentation", 2),
}

# Whole words of the host and the path.
_ADDRESS: Final[dict[str, tuple[Kind, float]]] = {
    **dict.fromkeys(("forum", "forums", "threads", "thread", "viewtopic", "showthread", "board", "boards"), ("forum", 4)),
    **dict.fromkeys(("discuss", "discussion", "discussions", "questions", "topic", "answers"), ("forum", 2.5)),
    **dict.fromkeys(("community", "comments"), ("forum", 1.5)),
    **dict.fromkeys(("docs", "documentation", "reference", "manual", "readthedocs", "apidocs"), ("documentation", 4)),
    **dict.fromkeys(("developer", "developers", "wiki", "api", "handbook"), ("documentation", 2)),
    **dict.fromkeys(("blog", "blogs", "news", "article", "articles", "story", "stories", "post", "posts"), ("article", 2)),
    **dict.fromkeys(("how", "what", "why", "tips", "best", "guide", "magazine", "substack", "recipes"), ("article", 1)),
    **dict.fromkeys(("product", "dp", "ip", "itm", "pd"), ("product", 3)),
    **dict.fromkeys(("products", "item", "p", "buy"), ("product", 1.5)),
    **dict.fromkeys(("collections", "collection", "category", "categories", "shop", "c", "cat"), ("collection", 2)),
    **dict.fromkeys(("services", "service", "solutions", "pricing", "features", "about", "contact"), ("service", 2.5)),
    **dict.fromkeys(("search", "jobs", "list", "directory", "events", "courses", "archive", "tag", "tags"), ("listing", 1.5)),
}  # fmt: skip

_SIGNED: Final = frozenset("author date citation_author citation_date dc.creator dc.date parsely-author".split())
# Where these end an address, the page lists what stands below it.
_INDEXES: Final = frozenset(
    "blog blogs news articles stories posts events jobs courses resources topics archive".split()
)

_WORD: Final = re.compile(r"[a-z]+")
_POST_TYPES: Final = frozenset({"Comment", "Answer", "DiscussionForumPosting"})
_DATED_PATH: Final = re.compile(r"/20\d\d/[01]?\d/")


def classify(structured: Structured, found: Survey, url: str | None) -> Verdict:
    """The page's kind."""
    signals = [*_from_data(structured), *_from_address(url), *_from_markup(found, structured)]
    weight = dict.fromkeys(KINDS, 0.0)
    for kind, points, _ in signals:
        weight[kind] += points
    best = max(KINDS, key=lambda kind: weight[kind])
    return Verdict(best, tuple(reason for kind, _, reason in signals if kind == best))


def _from_data(structured: Structured) -> list[Signal]:
    signals: list[Signal] = []
    for name in structured_data.types(structured)[:40]:
        if name in _TYPES:
            signals.append((*_TYPES[name], f"the page calls itself {name}"))
    og_type = structured.opengraph.get("og:type", "").lower()
    if og_type in _OPENGRAPH:
        signals.append((*_OPENGRAPH[og_type], f"og:type is {og_type}"))
    if "article:published_time" in structured.opengraph:
        signals.append(("article", 1.5, "it states a publication time"))
    if "citation_title" in structured.meta:
        signals.append(("article", 4, "it says how to cite it"))
    generator = structured.meta.get("generator", "").lower()
    signals += [(*verdict, f"made with {name}") for name, verdict in _GENERATORS.items() if name in generator]
    return signals


def _from_address(url: str | None) -> list[Signal]:
    if not url:
        return []
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    words = dict.fromkeys(_WORD.findall(f"{parts.netloc} {parts.path}".lower()))
    signals: list[Signal] = [(*_ADDRESS[word], f'"{word}" in the address') for word in words if word in _ADDRESS]
    if _DATED_PATH.search(parts.path):
        signals.append(("article", 3, "a date in the address"))
    steps = [step for step in parts.path.split("/") if step]
    if not steps:
        signals.append(("service", 2.5, "it is a home page"))
    elif steps[-1].count("-") >= 4:
        signals.append(("article", 1, "the address spells out a headline"))
    elif steps[-1].lower() in _INDEXES:
        signals.append(("listing", 3, f'the address ends in "{steps[-1].lower()}"'))
    return signals


def _from_markup(found: Survey, structured: Structured) -> list[Signal]:
    count = _SignCounts(found)
    signals: list[Signal] = []
    posts = count.of(Sign.POST)
    if posts >= 2 or _POST_TYPES & set(structured.item_types):
        signals.append(("forum", 3, f"{posts} posts" if posts else "posts in its microdata"))
    if count.of(Sign.MANUAL):
        signals.append(("documentation", 3, "markup of a documentation generator"))
    code = found.tag.count("pre")
    if code > 2:
        signals.append(("documentation", 2, f"{code} code blocks"))
    if count.of(Sign.BUY):
        signals.append(("product", 2, "something to put in a cart"))
        signals.append(("collection", 1.5, "something to put in a cart"))
    prices = count.of(Sign.PRICE)
    if prices > _MANY_PRICES:
        signals.append(("collection", 2.5, f"{prices} prices"))
    buttons = count.of(Sign.CONTROL)
    if buttons >= _MANY_BUTTONS and not prices and not posts and not _is_dated_or_signed(found, structured):
        signals.append(("service", 1.5, f"{buttons} buttons, no author and no date"))
    return signals + _from_prose(found, prices > _MANY_PRICES)


def _is_dated_or_signed(found: Survey, structured: Structured) -> bool:
    """Whether the page names an author or a date of publication."""
    return (
        "time" in found.tag
        or not _SIGNED.isdisjoint(structured.meta)
        or "article:published_time" in structured.opengraph
        or any("datePublished" in item or "author" in item for item in structured.json_ld)
        or not structured.properties.keys().isdisjoint(("datePublished", "author"))
    )


class _SignCounts:
    """How many elements carry a sign, counted over the few distinct combinations a page has."""

    def __init__(self, found: Survey) -> None:
        self._combinations = Counter(found.flags)

    def of(self, sign: Sign) -> int:
        bit = int(sign)
        return sum(times for flags, times in self._combinations.items() if flags & bit)


_HEADINGS: Final = frozenset({"h2", "h3", "h4", "h5"})
_MANY_TITLES: Final = 8
_MANY_PRICES: Final = 12
_MANY_BUTTONS: Final = 8
_OF_PARAGRAPHS: Final[tuple[Kind, ...]] = ("article", "documentation")
_MANY_PARAGRAPHS: Final = 8
"""Two of three articles have as many side by side, one of twenty other pages that are no manual."""
_A_PARAGRAPH: Final = 80
_A_TEASER: Final = 400
"""Characters outside links to each title of a list; an article has more under its headings."""


def _linked_titles(found: Survey) -> int:
    """Headings whose text is a link."""
    chars, linked = found.chars, found.linked
    return sum(
        1 for index, tag in enumerate(found.tag) if tag in _HEADINGS and chars[index] and linked[index] == chars[index]
    )


def _paragraphs_together(found: Survey) -> int:
    """The most paragraphs that stand side by side."""
    chars, linked, parents = found.chars, found.linked, found.parent
    together = Counter(
        parents[index]
        for index, tag in enumerate(found.tag)
        if tag == "p" and chars[index] - linked[index] >= _A_PARAGRAPH
    )
    return max(together.values(), default=0)


def _from_prose(found: Survey, priced: bool) -> list[Signal]:
    """Paragraphs and much text speak for an article, cards and links for a listing or, with prices, for a collection."""
    unlinked = found.chars[0] - found.linked[0]
    cards, titles, paragraphs = found.tag.count("article"), _linked_titles(found), _paragraphs_together(found)
    of_cards: Kind = "collection" if priced else "listing"
    signals: list[Signal] = []
    if titles >= _MANY_TITLES and titles * _A_TEASER > unlinked and paragraphs < _MANY_PARAGRAPHS:
        signals.append((of_cards, 3, f"{titles} headings that lead elsewhere, with little text to each"))
    if cards > 5:
        signals.append((of_cards, 1.5, f"{cards} articles on one page"))
    if paragraphs >= _MANY_PARAGRAPHS:
        signals += [(kind, 2, f"{paragraphs} paragraphs side by side") for kind in _OF_PARAGRAPHS]
    if unlinked > 3_000 and unlinked > 2 * found.linked[0]:
        signals.append(("article", 1, "much text, little of it in links"))
    if found.linked[0] > unlinked:
        signals.append(("listing", 1, "more text in links than outside"))
    return signals

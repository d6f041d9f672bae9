"""Classify the kind of a page by structured data, URL, markup and how much of it is posts, with the reasons.

Every signal adds weight to a kind; the heaviest wins, ties go to the kind that is first in `model.KINDS`. Nothing is
learnt: the weights in the tables below were set by hand on the corpora, and `--explain` shows which signals counted.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

from pagekeep import dom
from pagekeep.extraction.input.structured import Structured, types
from pagekeep.extraction.locate.survey import Sign, Survey
from pagekeep.model import KINDS, Kind
from pagekeep.text import compile_lazily
from pagekeep.values import dataclass

Signal = tuple[Kind, float, str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The kind of a page and the reasons for it."""

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
    "article": ("article", 1.5),  # the default of publishing systems, also for services and shops
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

# Whole words in the host and the path.
_URL_WORDS: Final[dict[str, tuple[Kind, float]]] = {
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

_OTHER_SIGNALS: Final[dict[str, tuple[Kind, float]]] = {
    "publication time": ("article", 1.5),
    "citation": ("article", 4),
    "date in URL": ("article", 3),
    "home page": ("service", 2.5),
    "headline in URL": ("article", 1),
    "index URL": ("listing", 3),
    "posts": ("forum", 3),
    "replies": ("forum", 3),
    "manual": ("documentation", 3),
    "code blocks": ("documentation", 2),
    "product cart": ("product", 2),
    "collection cart": ("collection", 1.5),
    "prices": ("collection", 2.5),
    "buttons": ("service", 1.5),
    "much text": ("article", 1),
    "many links": ("listing", 1),
}
_TITLES_WEIGHT: Final = 3.0
_CARDS_WEIGHT: Final = 1.5
_PARAGRAPHS_WEIGHT: Final = 2.0

_MAX_TYPES: Final = 40
"""Schema.org types of a page that are looked at."""
_MIN_HEADLINE_DASHES: Final = 4
"""Dashes in the last part of a path that spells out a headline."""
_MIN_POSTS: Final = 2
_MIN_REPLIES_SHARE: Final = 0.6
"""Share of the text outside links that the posts of a thread have; comments below an article have less."""
_MIN_CODE_BLOCKS: Final = 3
_MIN_CARDS: Final = 6
"""`<article>` elements of a page that lists articles."""
_MUCH_TEXT: Final = 3_000
"""Characters outside links that speak for an article, if they are twice those in links."""

_SIGNED: Final = frozenset("author date citation_author citation_date dc.creator dc.date parsely-author".split())
# A URL that ends in one of these lists what is below it.
_INDEXES: Final = frozenset(
    "blog blogs news articles stories posts events jobs courses resources topics archive".split()
)

_WORD: Final = re.compile(r"[a-z]+")
_POST_TYPES: Final = frozenset({"Comment", "Answer", "DiscussionForumPosting"})
_DATED_PATH: Final = re.compile(r"/20\d\d/[01]?\d/")


def classify(structured: Structured, survey: Survey, url: str | None) -> Verdict:
    """Return the page's kind and the reasons for it."""
    signals = [*_from_data(structured), *_from_url(url), *_from_markup(survey, structured)]
    weight = dict.fromkeys(KINDS, 0.0)
    for kind, points, _ in signals:
        weight[kind] += points
    best = max(KINDS, key=lambda kind: weight[kind])
    return Verdict(best, tuple(reason for kind, _, reason in signals if kind == best))


def _from_data(structured: Structured) -> list[Signal]:
    signals: list[Signal] = []
    for name in types(structured)[:_MAX_TYPES]:
        if name in _TYPES:
            signals.append((*_TYPES[name], f"the page calls itself {name}"))
    og_type = structured.opengraph.get("og:type", "").lower()
    if og_type in _OPENGRAPH:
        signals.append((*_OPENGRAPH[og_type], f"og:type is {og_type}"))
    if "article:published_time" in structured.opengraph:
        signals.append((*_OTHER_SIGNALS["publication time"], "it states a publication time"))
    if "citation_title" in structured.meta:
        signals.append((*_OTHER_SIGNALS["citation"], "it states how to cite it"))
    generator = structured.meta.get("generator", "").lower()
    signals += [(*verdict, f"made with {name}") for name, verdict in _GENERATORS.items() if name in generator]
    return signals


def _from_url(url: str | None) -> list[Signal]:
    if not url:
        return []
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    words = dict.fromkeys(_WORD.findall(f"{parts.netloc} {parts.path}".lower()))
    signals: list[Signal] = [
        (*_URL_WORDS[word], f'"{word}" in the address')
        for word in words
        if word in _URL_WORDS and (len(word) > 1 or f"/{word}/" in parts.path)  # not the first letter of a number
    ]
    if _DATED_PATH.search(parts.path):
        signals.append((*_OTHER_SIGNALS["date in URL"], "a date in the address"))
    names = [name for name in parts.path.split("/") if name]
    if not names and not parts.query:  # `/?p=959` is a post
        signals.append((*_OTHER_SIGNALS["home page"], "it is a home page"))
    elif names and names[-1].count("-") >= _MIN_HEADLINE_DASHES:
        signals.append((*_OTHER_SIGNALS["headline in URL"], "the address spells out a headline"))
    elif names and names[-1].lower() in _INDEXES:
        signals.append((*_OTHER_SIGNALS["index URL"], f'the address ends in "{names[-1].lower()}"'))
    return signals


def _from_markup(survey: Survey, structured: Structured) -> list[Signal]:
    count = _SignCounts(survey)
    signals: list[Signal] = []
    posts = count.of(Sign.POST)
    if posts >= _MIN_POSTS or _POST_TYPES & set(structured.item_types):
        signals.append((*_OTHER_SIGNALS["posts"], f"{posts} posts" if posts else "posts in its microdata"))
    replies, share = measure_replies(survey)
    if replies >= _MIN_POSTS and share >= _MIN_REPLIES_SHARE:
        signals.append((*_OTHER_SIGNALS["replies"], f"{replies} posts are most of its text"))
    if count.of(Sign.MANUAL):
        signals.append((*_OTHER_SIGNALS["manual"], "markup of a documentation generator"))
    code_blocks = len(survey.places.get("pre", ()))
    if code_blocks >= _MIN_CODE_BLOCKS:
        signals.append((*_OTHER_SIGNALS["code blocks"], f"{code_blocks} code blocks"))
    if count.of(Sign.BUY):
        signals.append((*_OTHER_SIGNALS["product cart"], "a button to add to a cart"))
        signals.append((*_OTHER_SIGNALS["collection cart"], "a button to add to a cart"))
    prices = count.of(Sign.PRICE)
    if prices > _MANY_PRICES:
        signals.append((*_OTHER_SIGNALS["prices"], f"{prices} prices"))
    buttons = count.of(Sign.CONTROL)
    if buttons >= _MANY_BUTTONS and not prices and not posts and not _is_dated_or_signed(survey, structured):
        signals.append((*_OTHER_SIGNALS["buttons"], f"{buttons} buttons, no author and no date"))
    return signals + _from_prose(survey, prices > _MANY_PRICES)


def _is_dated_or_signed(survey: Survey, structured: Structured) -> bool:
    """Return whether the page names an author or a date of publication."""
    return (
        "time" in survey.places
        or not _SIGNED.isdisjoint(structured.meta)
        or "article:published_time" in structured.opengraph
        or any("datePublished" in item or "author" in item for item in structured.json_ld)
        or not structured.properties.keys().isdisjoint(("datePublished", "author"))
    )


class _SignCounts:
    """Counts elements by sign, over the few distinct combinations of signs on a page."""

    def __init__(self, survey: Survey) -> None:
        self._combinations = Counter([survey.flags[index] for index in survey.flagged])

    def of(self, sign: Sign) -> int:
        bit = int(sign)
        return sum(times for flags, times in self._combinations.items() if flags & bit)


_HEADINGS: Final = ("h2", "h3", "h4", "h5")
_MANY_TITLES: Final = 8
"""Headings that are links: an article links few of them, a listing every one."""
_MANY_PRICES: Final = 12
"""A product page shows fewer, its recommendations included."""
_MANY_BUTTONS: Final = 8
"""Calls to action on a page without author, date, price or post."""
_PROSE_KINDS: Final[tuple[Kind, ...]] = ("article", "documentation")
_MANY_PARAGRAPHS: Final = 8
"""Paragraphs in one parent: two of three articles have as many, one of twenty other pages except manuals."""
_PARAGRAPH_CHARS: Final = 80
"""Characters outside links that make a `<p>` a paragraph of prose."""
_SHORT_ARTICLE: Final = 600
"""Characters of paragraphs in one parent: a page of linked headings that has as many is an article with teasers."""
_TEASER_CHARS: Final = 400
"""Characters outside links per title of a list; an article has more under each heading."""


def _linked_titles(survey: Survey) -> int:
    """Count the headings whose text is a link."""
    chars, linked = survey.chars, survey.linked
    return sum(1 for index in survey.find_tags(*_HEADINGS) if chars[index] and linked[index] == chars[index])


def _paragraphs_together(survey: Survey) -> tuple[int, int]:
    """Return the largest number of paragraphs in one parent, and the largest number of their characters."""
    chars, linked, parents = survey.chars, survey.linked, survey.parent
    together: Counter[int] = Counter()
    text: Counter[int] = Counter()
    for index in survey.places.get("p", ()):
        unlinked = chars[index] - linked[index]
        if unlinked >= _PARAGRAPH_CHARS:
            together[parents[index]] += 1
            text[parents[index]] += unlinked
    return max(together.values(), default=0), max(text.values(), default=0)


def _from_prose(survey: Survey, priced: bool) -> list[Signal]:
    """Paragraphs and much text are signals of an article, cards and links of a listing or, with prices, a collection."""
    unlinked, linked = survey.chars[0] - survey.linked[0], survey.linked[0]
    cards = len(survey.places.get("article", ()))
    titles, (paragraphs, prose) = _linked_titles(survey), _paragraphs_together(survey)
    card_kind: Kind = "collection" if priced else "listing"
    is_article = paragraphs >= _MANY_PARAGRAPHS or (not priced and prose >= _SHORT_ARTICLE)
    signals: list[Signal] = []
    if titles >= _MANY_TITLES and titles * _TEASER_CHARS > unlinked and not is_article:
        signals.append((card_kind, _TITLES_WEIGHT, f"{titles} headings that are links, with little text each"))
    if cards >= _MIN_CARDS:
        signals.append((card_kind, _CARDS_WEIGHT, f"{cards} articles on one page"))
    if paragraphs >= _MANY_PARAGRAPHS:
        signals += [(kind, _PARAGRAPHS_WEIGHT, f"{paragraphs} paragraphs side by side") for kind in _PROSE_KINDS]
    if unlinked > _MUCH_TEXT and unlinked > 2 * linked:
        signals.append((*_OTHER_SIGNALS["much text"], "much text, little of it in links"))
    if linked > unlinked:
        signals.append((*_OTHER_SIGNALS["many links"], "more text in links than outside"))
    return signals


_BOXES: Final = frozenset({"div", "li", "article", "section", "tr", "table", "dl"})
_PAGE_HEADINGS: Final = ("h1", "h2", "h3", "h4")
_DATED: Final = int(Sign.BYLINE)
_POST: Final = int(Sign.POST)
_COMMENTS: Final = int(Sign.COMMENTS)
"""Comments may be below an article, or below the only post that counts."""
_MAX_DATES: Final = 400
"""Dates of a page that are looked at."""
_MAX_LEVELS: Final = 8
"""Boxes around a date that may be its post."""
_MIN_SIMILAR_POSTS: Final = 3
"""Posts that make a thread: with fewer an author box is one."""
_MIN_SIGNED_SHARE: Final = 0.7
"""Share of the posts that must name an author."""
_MAX_TITLED_SHARE: Final = 0.3
"""Share of the posts that may have a linked heading; teasers of a list have one."""
_MIN_TEXT_CHARS: Final = 40
"""Characters of text outside links that a post has on average."""
_PROFILE: Final = compile_lazily(
    r"/(?:u|user|users|member|members|profile|profiles|people|author|authors|memberlist\.php)\b|/@"
)
_PERSON: Final = compile_lazily(
    r"(?:^|[-_\s])(?:author|user|username|member|nick|nickname|poster|handle|commenter)s?(?:$|[-_\s])"
)


def measure_replies(survey: Survey) -> tuple[int, float]:
    """Return how many posts the page has by name or by build, and the share of its text outside links that is in them."""
    total = survey.chars[0] - survey.linked[0]
    posts = _outermost(survey, survey.find_signs(_POST)) or _find_dated(survey)
    return len(posts), _count_text(survey, posts) / total if total else 0.0


def _find_dated(survey: Survey) -> list[int]:
    """Find the boxes with author, date and text that have the most text."""
    signed = [index for index in survey.find_signs(_DATED) if survey.chars[index]]
    dates = sorted({*signed, *survey.places.get("time", ())})[:_MAX_DATES]
    if len(dates) < _MIN_SIMILAR_POSTS:
        return []
    groups: dict[tuple[str, str], set[int]] = {}
    for date in dates:
        above = date
        for _ in range(_MAX_LEVELS):
            above = survey.parent[above]
            if not above:
                break
            is_box = survey.tag[above] in _BOXES and not survey.flags[above] & _COMMENTS
            names = survey.nodes[above].attr("class") if is_box else None
            if names:
                groups.setdefault((survey.tag[above], names), set()).add(above)
    threads = [posts for boxes in groups.values() if _is_thread(survey, posts := _outermost(survey, boxes))]
    return max(threads, key=lambda posts: _count_text(survey, posts), default=[])


def _outermost(survey: Survey, boxes: Iterable[int]) -> list[int]:
    """Return the boxes that are not within another one: replies may be within the post they answer."""
    result: list[int] = []
    for index in sorted(boxes):
        if not result or index >= survey.end[result[-1]]:
            result.append(index)
    return result


def _is_thread(survey: Survey, posts: Sequence[int]) -> bool:
    if len(posts) < _MIN_SIMILAR_POSTS or _count_text(survey, posts) < _MIN_TEXT_CHARS * len(posts):
        return False
    titled = [index for index in survey.find_tags(*_PAGE_HEADINGS) if survey.linked[index] and posts[0] < index]
    with_title = sum(bisect_left(titled, survey.end[post]) > bisect_left(titled, post) for post in posts)
    if with_title > _MAX_TITLED_SHARE * len(posts):
        return False
    return sum(_is_signed(survey, post) for post in posts) >= _MIN_SIGNED_SHARE * len(posts)


def _is_signed(survey: Survey, post: int) -> bool:
    """Return whether a post links to a profile, or names its author by a class."""
    for index in range(post + 1, survey.end[post]):
        node = survey.nodes[index]
        if not isinstance(node, dom.Element):
            continue
        if survey.tag[index] == "a" and _PROFILE.search(node.attr("href") or ""):
            return True
        if (names := node.attr("class")) and survey.chars[index] and _PERSON.search(names.lower()):
            return True
    return False


def _count_text(survey: Survey, posts: Sequence[int]) -> int:
    return sum(survey.chars[post] - survey.linked[post] for post in posts)

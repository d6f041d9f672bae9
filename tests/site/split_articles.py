"""A newspaper that splits its articles into pages, in many address styles, and has pages that only look like that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final

from tests.site.server import Reply, Request, Site

_NOUNS: Final = (
    "miller harbour lantern ferry bridge orchard keeper canal market tower weaver garden quarry chimney engine barge "
    "river cellar meadow station signal pigeon ladder compass kettle anchor copper wagon thicket beacon"
).split()
_VERBS: Final = (
    "counts repairs measures paints carries remembers follows questions borrows watches polishes describes".split()
)
_ADVERBS: Final = (
    "slowly twice in silence before dawn with both hands after the storm without a word every spring".split()
)

STYLES: Final[dict[str, tuple[str, Callable[[int], str]]]] = {
    "query": ("/{s}/{n}", lambda page: "?page={p}"),
    "segment": ("/{s}/{n}/", lambda page: "{p}/"),
    "page-segment": ("/{s}/{n}", lambda page: "/page/{p}"),
    "hyphen": ("/{s}/{n}.html", lambda page: "-{p}.html"),
    "underscore-p": ("/{s}/{n}", lambda page: "_p{p}"),
    "comma": ("/{s}/{n}.html", lambda page: ",{p}.html"),
    "path-parameter": ("/{s}/{n}", lambda page: ";page={p}"),
    "inner": ("/{s}/1/{n}", lambda page: "{p}"),
    "seite": ("/{s}/{n}", lambda page: "/seite-{p}"),
    "index": ("/{s}/{n}/index.html", lambda page: "index{p}.html"),
    "from-zero": ("/{s}/{n}", lambda page: "?start={p}"),
    "other-parameters": ("/{s}/story.php?id={n}", lambda page: "&pagenum={p}"),
}
"""Name to the address of page 1, and how that of another page differs."""
COUNT: Final = 40


@dataclass
class Article:
    """An article, its truth, and what is special about the way it is published."""

    number: int
    style: str
    pages: list[list[str]]
    """Paragraphs of each page."""
    title: str
    special: str = ""
    template: int = 0

    @property
    def name(self) -> str:
        return self.title.lower().replace(" ", "-")

    def path(self, page: int) -> str:
        """Return the path of a page, from 1."""
        first = STYLES[self.style][0].format(s=self.style, n=self.name)
        if page == 1:
            return first
        shown = STYLES[self.style][1](page).format(p=page - 1 if self.style == "from-zero" else page)
        if self.style == "inner":
            return f"/{self.style}/{shown}/{self.name}"
        if self.style == "index":
            return first.removesuffix("index.html") + shown
        return first.removesuffix(".html") + shown

    def link(self, page: int) -> str:
        """Return the address of a page as the newspaper writes it: some links are relative."""
        path = self.path(page)
        if self.style == "query" and page > 1:
            return f"?page={page}"
        return path.rpartition("/")[2] if self.style in ("index", "hyphen") else path


def _sentence(random: Random) -> str:
    one, two, three = random.sample(_NOUNS, 3)
    verb, adverb = random.choice(_VERBS), random.choice(_ADVERBS)
    return f"The {one} near the {two} {verb} the {three} {adverb}, number {random.randint(100, 9999)} of the year."


def paragraph(random: Random) -> str:
    return " ".join(_sentence(random) for _ in range(random.randint(3, 5)))


def make_articles() -> list[Article]:
    """Return the articles: every style several times, two to six pages each."""
    articles = []
    for number in range(COUNT):
        random = Random(number)
        pages = [[paragraph(random) for _ in range(random.randint(3, 6))] for _ in range(2 + number % 5)]
        title = " ".join(word.capitalize() for word in random.sample(_NOUNS, 4))
        style = list(STYLES)[number % len(STYLES)]
        articles.append(Article(number, style, pages, title, template=number % 4))
    for number, special in _SPECIAL.items():
        articles[number].special = special
    return articles


_SPECIAL: Final = {
    3: "loop to page 1", 8: "loop to itself", 14: "404", 19: "404", 23: "print", 28: "print", 31: "redirect", 34: "short print",
    37: "single", 12: "timeout",
}  # fmt: skip
"""Articles of which something is wrong or different, by number. Those with a 404 have it on page 3 or the last one."""


@dataclass
class Newspaper:
    """The pages of all articles, by path and query."""

    articles: list[Article] = field(default_factory=make_articles)

    def pages(self) -> dict[str, str]:
        """Return every page as HTML, by its path."""
        found: dict[str, str] = {}
        for article in self.articles:
            for page in range(1, len(article.pages) + 1):
                found[article.path(page)] = render(article, page)
            if article.special in ("print", "single"):
                everything = [text for texts in article.pages for text in texts]
                found[f"/print/{article.name}"] = _frame(article.title, f"<h1>{article.title}</h1>{_body(everything)}")
            if article.special == "short print":
                found[f"/print/{article.name}"] = _frame(article.title, _body(article.pages[0]))
            if missing := missing_page(article):
                del found[article.path(missing)]
        return found


def missing_page(article: Article) -> int | None:
    """Return the page that the server does not have."""
    return min(3, len(article.pages)) if article.special == "404" else None


def render(article: Article, page: int) -> str:
    """Return a page of an article, in one of four templates."""
    texts, last = article.pages[page - 1], len(article.pages)
    head = _head(article, page)
    links = _links(article, page)
    print_link = f'<a href="/print/{article.name}">Print</a>' if "print" in article.special else ""
    if article.special == "single":
        print_link = f'<a href="/print/{article.name}" class="one">View as a single page</a>'
    header = f'<h1>{article.title}</h1><p class="byline">By Ada Example</p>'
    intro = f"<p><strong>How {article.title} came to be, told in {last} parts by those who saw it happen.</strong></p>"
    footer = "<p><em>Ada Example has written about small towns for this paper since it was founded.</em></p>"
    body = {
        0: f"{header}{intro}{_body(texts)}{links}",
        1: f"{header if page == 1 else ''}{_body(texts)}{links}{footer}",
        2: f"{header}{_body(texts)}{footer}{links}",
        3: f"{header}{intro if page == 1 else ''}{_body(texts)}{links}",
    }[article.template]
    return _frame(
        f"{article.title}{f' - Page {page}' if article.template == 2 and page > 1 else ''}", body + print_link, head
    )


def _head(article: Article, page: int) -> str:
    if article.template == 3:  # every page names the first one
        return f'<link rel="canonical" href="{article.path(1)}">'
    following = article.path(page + 1) if page < len(article.pages) else ""
    return f'<link rel="next" href="{following}">' if following and article.template == 1 else ""


def _links(article: Article, page: int) -> str:
    last = len(article.pages)
    numbers = " ".join(
        f"<span>{one}</span>" if one == page else f'<a href="{article.link(one)}">{one}</a>'
        for one in range(1, last + 1)
    )
    target = article.link(page + 1) if page < last else ""
    if page == last and article.special.startswith("loop"):
        target = article.link(1 if article.special.endswith("1") else page)
    onward = {0: "Next page &raquo;", 1: "Weiter", 2: f"Continue reading: page {page + 1}", 3: "&rarr;"}[
        article.template
    ]
    named = ' aria-label="Next page"' if article.template == 3 else ""
    forward = f' <a href="{target}"{named}>{onward}</a>' if target else ""
    return {
        0: f'<nav class="pages">{numbers}{forward}</nav>',
        1: f'<div class="pager">{forward}</div>',
        2: f"<p>{forward}</p>",
        3: f'<ul class="pagination"><li>{numbers}</li><li>{forward}</li></ul>',
    }[article.template]


def _body(texts: list[str]) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def _frame(title: str, body: str, head: str = "") -> str:
    menu = '<nav><a href="/">Home</a> <a href="/news/">News</a> <a href="/news/page/2">More news</a></nav>'
    more = '<aside><h2>More</h2><a href="/hyphen/other-story-2.html">Other Story</a> <a rel="next" href="/n/77">Next article</a></aside>'
    return f"<!doctype html><html lang=en><title>{title}</title>{head}<body>{menu}<article>{body}</article>{more}</body></html>"


TRAPS: Final = (
    "gallery", "slides", "thread", "same-title", "list", "comments", "docs", "search", "product", "rel-next", "same-text",
    "other-title", "other-host", "teasers",
)  # fmt: skip


def traps(other_host: str) -> dict[str, str]:
    """Return pages that must not be joined with another one, by path; every second page would be there."""
    random = Random(7)
    texts = [[paragraph(random) for _ in range(5)] for _ in range(4)]
    traps = _Traps(_body(texts[0]), _body(texts[1]))
    _add_other_kinds(traps.add)
    _add_other_texts(traps.add, other_host, traps.one)
    return traps.pages


@dataclass
class _Traps:
    one: str
    two: str
    pages: dict[str, str] = field(default_factory=dict)

    def add(
        self, first: str, second: str, title: str, links: str, other: str | None = None, body: str | None = None
    ) -> None:
        """Add a page that links to another one, and that one."""
        self.pages[first] = _frame(title, f"<h1>{title}</h1>{self.one}{links}")
        self.pages[second] = _frame(other or title, f"<h1>{other or title}</h1>{body or self.two}")


def _add_other_kinds(add: Callable[..., None]) -> None:
    """Add pages of kinds that are never joined."""
    add("/gallery/boats", "/gallery/boats?page=2", "Boats", '<a href="?page=2">Next</a>')
    add(
        "/stories/boats-in-rain",
        "/stories/boats-in-rain/2",
        "Boats in Rain",
        '<div class="slideshow"><a href="/stories/boats-in-rain/2">Next</a></div>',
    )
    add("/threads/boats.12", "/threads/boats.12/page-2", "Which boat?", '<a href="/threads/boats.12/page-2">2</a>')
    add(
        "/blog/weekly-links",
        "/blog/weekly-links-2",
        "Weekly Links",
        '<a rel="next" href="/blog/weekly-links-2">Weekly Links &rarr;</a>',
    )
    add("/news/", "/news/page/2", "News", '<a href="/news/page/2">2</a>')
    add(
        "/essays/tide",
        "/essays/tide?page=2",
        "Tide",
        '<div class="comments"><p>Nice.</p><a href="/essays/tide?page=2#comments">2</a></div>',
    )
    add(
        "/docs/chapter-1",
        "/docs/chapter-2",
        "The Manual: Boats",
        '<a rel="next" href="/docs/chapter-2">Next</a>',
        "The Manual: Sails",
    )
    add(
        "/search?q=tide",
        "/search?q=tide&page=2",
        "Results for tide",
        '<a href="/search?q=tide&amp;page=2">Next page</a>',
    )
    add("/products/kettle", "/products/kettle?page=2", "Kettle", '<a href="/products/kettle?page=2">2</a>')


def _add_other_texts(add: Callable[..., None], other_host: str, one: str) -> None:
    """Add articles beside a page that is not their next one."""
    add(
        "/essays/wind",
        "/essays/storm",
        "Wind",
        '<link rel="next" href="/essays/storm"><a rel="next" href="/essays/storm">Next</a>',
        "Storm",
    )
    add("/essays/fog", "/essays/fog?page=2", "Fog", '<a href="?page=2">2</a>', body=one)
    add("/essays/hail", "/essays/hail/2", "Hail", '<a href="/essays/hail/2">Next page</a>', "Sleet")
    add("/essays/snow", "/essays/snow/2", "Snow", f'<a href="http://{other_host}/essays/snow/2">Next page</a>')
    teasers = "".join(
        f'<article><h2><a href="/n/{number}">Story {number}</a></h2><p>Short.</p></article>' for number in range(12)
    )
    add(
        "/towns/ferry",
        "/towns/ferry?page=2",
        "Ferry",
        '<div class="posts"><a href="/towns/ferry?page=2">2</a></div>',
        body=teasers,
    )


def trap_paths(other_host: str = "elsewhere.example") -> list[str]:
    """Return the paths of the first pages, which a user saves."""
    return list(traps(other_host))[::2]


def make_site() -> Site:
    """Return the newspaper as a site."""
    paper = Newspaper()
    pages = {**paper.pages(), **traps("elsewhere.example")}
    redirects = {one.path(len(one.pages)): one.path(1) for one in paper.articles if one.special == "redirect"}
    broken = {one.path(2) for one in paper.articles if one.special == "timeout"}

    async def answer(request: Request, reply: Reply) -> None:
        target = request.target
        if target in redirects:
            await reply.send("", status=302, location=redirects[target])
        elif target in broken:
            reply.reset()
        elif target in pages:
            await reply.send(pages[target], etag=f'"{len(pages[target])}"')
        else:
            await reply.send("<title>Not found</title><p>There is no such page.</p>", status=404)

    segments = {target.split("/")[1].partition("?")[0] for target in pages}
    return Site(dict.fromkeys(segments | {"n"}, answer))

"""Articles over several pages, from a newspaper that splits them in many ways and has pages that only look like that."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from pagekeep.capture import follow_pages
from pagekeep.capture.from_url import Captured, Request, Retrieval, capture
from pagekeep.capture.joined_file import is_joined, unpack
from pagekeep.config import Settings
from pagekeep.model import Options
from pagekeep.model.page import MADE_FIELDS
from pagekeep.rules import Rulebook
from tests.site.fixtures import SENTENCE, book
from tests.site.server import Reply, Site
from tests.site.server import Request as SiteRequest
from tests.site.split_articles import COUNT, STYLES, Article, Newspaper, make_site, missing_page, paragraph, trap_paths

PAPER = Newspaper()


@pytest.fixture(scope="module")
def paper() -> Iterator[Site]:
    with make_site() as site:
        yield site


@pytest.fixture
def quick(settings: Settings) -> Settings:
    return replace(settings, retries=0, render="never")


def _get(
    url: str, settings: Settings, rules: Rulebook | None = None, *, options: Options | None = None, **how: object
) -> Captured:
    async def run() -> Captured:
        async with Retrieval(settings, rules) as retrieval:
            return await capture(Request(url, **how), retrieval, options=options)  # type: ignore[arg-type]

    return asyncio.run(run())


def _texts(article: Article, pages: int) -> list[str]:
    return [text for page in article.pages[:pages] for text in page]


def _check(captured: Captured, article: Article, pages: int) -> None:
    """The text has every paragraph of these pages once, in order, and none of the others; nor does it repeat a header."""
    text, wanted = captured.page.text, _texts(article, pages)
    assert [text.count(paragraph) for paragraph in wanted] == [1] * len(wanted)
    places = [text.index(paragraph) for paragraph in wanted]
    assert places == sorted(places)
    assert not any(paragraph in text for page in article.pages[pages:] for paragraph in page)
    for repeated in ("By Ada Example", "came to be, told in", "Ada Example has written", "Continue reading", "Weiter"):
        assert text.count(repeated) <= (repeated[0] == "A" or "told" in repeated or "By" in repeated), repeated
    assert text.count(article.title) <= 2  # as headline and in the introduction


def _pages_of(article: Article) -> int:
    """Return how many pages of the article can be had."""
    if article.special == "404":
        return (missing_page(article) or 0) - 1
    return {"redirect": len(article.pages) - 1, "timeout": 1}.get(article.special, len(article.pages))


@pytest.mark.parametrize(
    "article", PAPER.articles, ids=lambda one: f"{one.number}-{one.style}-{one.special}".strip("-")
)
def test_every_article_has_all_its_pages_once(article: Article, paper: Site, quick: Settings) -> None:
    captured = _get(paper.url(article.path(1)), quick)
    pages = _pages_of(article)
    _check(captured, article, pages)
    missing = [warning.text for warning in captured.page.trace.warnings if warning.code == "pages_missing"]
    if article.special in ("404", "timeout"):
        assert len(missing) == 1
        assert f"Page {pages + 1} of the article could not be fetched" in missing[0]
        assert (captured.page.quality.level == "article") == (pages == 1)
    else:
        assert not missing
        assert captured.page.quality.level == "article"
    whole = article.special in ("print", "single")
    assert captured.page.page_count == (None if whole or pages == 1 else pages)
    assert is_joined(captured.fetched) == (pages > 1)
    if is_joined(captured.fetched):
        parts = unpack(captured.fetched.body).parts
        assert [part.role for part in parts] == (["page", "whole"] if whole else ["page"] * pages)
        assert captured.fetched.etag is None


def test_the_newspaper_has_forty_articles_in_at_least_ten_styles() -> None:
    assert len(PAPER.articles) == COUNT == 40
    assert len({article.style for article in PAPER.articles}) == len(STYLES) >= 10
    assert {len(article.pages) for article in PAPER.articles} == {2, 3, 4, 5, 6}


@pytest.mark.parametrize("path", trap_paths())
def test_pages_that_are_not_of_one_article_are_not_joined(path: str, paper: Site, quick: Settings) -> None:
    captured = _get(paper.url(path), quick)
    assert captured.page.page_count is None
    assert not is_joined(captured.fetched)
    assert not captured.page.trace.pages
    assert not any(warning.code == "pages_missing" for warning in captured.page.trace.warnings)


def test_pages_are_kept_apart_where_the_settings_or_the_request_say_so(paper: Site, quick: Settings) -> None:
    url = paper.url(PAPER.articles[1].path(1))
    assert _get(url, replace(quick, join_pages=False)).page.page_count is None
    assert _get(url, quick, join_pages=False).page.page_count is None
    assert _get(url, replace(quick, join_pages=False), join_pages=True).page.page_count == 3


def test_explanation_lists_the_pages(paper: Site, quick: Settings) -> None:
    from pagekeep.present.explain import explain

    article = PAPER.articles[1]
    shown = explain(_get(paper.url(article.path(1)), quick, options=Options(needs=MADE_FIELDS)).page)
    assert "Pages that were joined" in shown
    assert f"{paper.url(article.path(3))}: " in shown


class _Numbered:
    """A site with one article whose pages are made by a function of their number; addresses are `/story/2`."""

    def __init__(self, size: int = 0, links: str = '<a href="/story/{next}">Next page</a>') -> None:
        self.size, self.links = size, links
        self.headers: list[dict[str, str]] = []

    async def __call__(self, request: SiteRequest, reply: Reply) -> None:
        self.headers.append(request.headers)
        last = request.path.rpartition("/")[2]
        number = int(last) if last.isdigit() else 1
        random = Random(number)
        words = "".join(f"<p>Boat {number}-{place} came in late. {paragraph(random)}</p>" for place in range(4))
        comment = f"<!--{'x' * self.size}-->"
        links = self.links.format(next=number + 1, number=number)
        await reply.send(f"<title>Boats</title>{comment}<article><h1>Boats</h1>{words}{links}</article>")


def test_an_endless_article_ends_after_twenty_pages(quick: Settings) -> None:
    with Site({"story": _Numbered()}) as site:
        captured = _get(site.url("/story"), quick)
    assert captured.page.page_count == 20
    assert "Boat 20-3" in captured.page.text
    assert [one.text for one in captured.page.trace.warnings if one.code == "pages_missing"] == [
        "The article has more than 20 pages; the others were left out."
    ]
    assert captured.page.quality.level == "simplified"


def test_a_large_article_ends_before_five_megabytes(quick: Settings) -> None:
    with Site({"story": _Numbered(size=1_500_000)}) as site:
        captured = _get(site.url("/story"), quick)
    assert captured.page.page_count == 3
    assert len(captured.fetched.body) < follow_pages.MAX_BYTES
    assert any("more than 5 MB" in warning.text for warning in captured.page.trace.warnings)


def test_time_for_all_pages_is_limited(quick: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow_pages, "MAX_SECONDS", 0.0)
    with Site({"story": _Numbered()}) as site:
        captured = _get(site.url("/story"), quick)
    assert captured.page.page_count == 2
    assert any("were left out" in warning.text for warning in captured.page.trace.warnings)


def test_headers_of_the_caller_go_to_all_pages_of_the_same_origin(quick: Settings) -> None:
    story = _Numbered(links="")
    other = _Numbered(links='<a class="on" href="{next}">On</a>')
    rules = book(next_page=("a.on",))
    with Site({"story": other}) as site, Site({"story": story}) as elsewhere:
        other.links = f'<a class="on" href="{elsewhere.url("/story/2")}">On</a>'
        captured = _get(site.url("/story"), quick, rules, headers={"x-secret": "1"}, cookies={"session": "2"})
    assert captured.page.page_count == 2
    assert other.headers[0]["x-secret"] == "1"
    assert "x-secret" not in story.headers[0]
    assert "session" not in story.headers[0].get("cookie", "")


def test_rule_names_links_that_do_not_look_like_pages(quick: Settings) -> None:
    site_rule = book(next_page=(".missing", "p.on"), single_page=("#none",))
    story = _Numbered(links='<p class="on"><a href="/story/part-{next}">Onward to the boats</a></p>')

    async def parts(request: SiteRequest, reply: Reply) -> None:
        number = int(request.path.rpartition("-")[2]) if "-" in request.path else 1
        asked = replace_path(request, f"/story/{number}")
        story.links = story.links if number < 3 else ""
        await story(asked, reply)

    with Site({"story": parts}) as site:
        captured = _get(site.url("/story"), quick, site_rule)
        assert captured.page.page_count == 3
        story.links = '<p class="on"><a href="/story/part-{next}">Onward to the boats</a></p>'
        assert _get(site.url("/story"), quick).page.page_count is None
    effects = [effect for match in captured.page.trace.rules for effect in match.effects]
    assert ("next_page", ".missing", 0) in {(effect.what, effect.selector, effect.count) for effect in effects}


def test_rule_names_the_page_with_all_of_the_article(quick: Settings) -> None:
    async def story(request: SiteRequest, reply: Reply) -> None:
        count = 12 if request.path.endswith("everything") else 4
        words = "".join(f"<p>Boat {place} came in late. {SENTENCE}</p>" for place in range(count))
        await reply.send(
            f'<title>Boats</title><meta name="author" content="Ada {count}"><article>{words}</article>'
            '<a class="all" href="/story/everything">Everything</a>'
        )

    with Site({"story": story}) as site:
        captured = _get(site.url("/story"), quick, book(single_page=("a.all",)))
    assert "Boat 11" in captured.page.text
    assert captured.page.text.count("Boat 3 ") == 1
    assert captured.page.metadata.author == "Ada 4"  # of the first page, which says more about itself than a print view
    assert captured.page.page_count is None
    assert captured.page.trace.pages[0].url.endswith("/everything")


def replace_path(request: SiteRequest, path: str) -> SiteRequest:
    """Return the request for another path."""
    return replace(request, path=path)


def test_wall_on_a_later_page_ends_the_article_with_a_warning(quick: Settings) -> None:
    story = _Numbered()

    async def walled(request: SiteRequest, reply: Reply) -> None:
        if request.path.endswith("/3"):
            await reply.send(
                "<title>Just a moment...</title><h1>Checking your browser</h1><p>Verify you are human to continue.</p>"
                '<form id="challenge-form" action="/cdn-cgi/challenge-platform/h"></form>'
                '<script src="/cdn-cgi/challenge-platform/x.js"></script>'
            )
        else:
            await story(request, reply)

    with Site({"story": walled}) as site:
        captured = _get(site.url("/story"), quick)
    assert captured.page.page_count == 2
    assert any("Page 3 of the article is missing" in warning.text for warning in captured.page.trace.warnings)


@pytest.mark.usefixtures("a_browser")
def test_pages_are_rendered_only_if_the_first_one_needed_the_browser(settings: Settings) -> None:
    async def app(request: SiteRequest, reply: Reply) -> None:
        number = 2 if request.path.endswith("/2") else 1
        random = Random(number)
        words = "".join(f"<p>Boat {number}-{place}. {paragraph(random)}</p>" for place in range(6))
        link = '<a href="/story/2">Next page</a>' if number == 1 else ""
        content = f"<article><h1>Boats</h1>{words}{link}</article>"
        await reply.send(
            f'<title>Boats</title><div id="root"></div><script>document.getElementById("root").innerHTML = `{content}`;</script>'
        )

    with Site({"story": app}) as site:
        captured = _get(site.url("/story"), settings)
    assert captured.page.page_count == 2
    assert "Boat 2-5" in captured.page.text
    assert [part.fetched.rendered for part in unpack(captured.fetched.body).parts] == [True, True]

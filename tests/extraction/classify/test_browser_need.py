from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pagekeep import dom, markdown
from pagekeep.extraction import metadata
from pagekeep.extraction.classify import browser_need, kind
from pagekeep.extraction.clean import clean
from pagekeep.extraction.input import structured
from pagekeep.extraction.locate import page_facts, strategies
from pagekeep.extraction.locate.profiles import PROFILES
from pagekeep.extraction.locate.survey import survey
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.extraction.prune import cut, prune
from pagekeep.model import NeedRender
from pagekeep.text import count_words

SHELLS = Path(__file__).parents[2] / "shells"
PAGES = sorted(SHELLS.glob("*.html"))


def need_render(html: str) -> NeedRender | None:
    """The verdict on a page, with the text that extraction finds in it."""
    document = dom.parse(html)
    body = dom.first(document, "body")
    assert body is not None
    found, data = survey(body), structured.read(document)
    promised = browser_need.collect(document, found)
    about = metadata.read(document, data, None)
    facts = page_facts.collect(found, data, about, PROFILES[kind.classify(data, found, None).kind])
    outcome = strategies.run(facts, prune)
    text = ""
    if outcome.content:
        _, root = sanitise(clean(cut.cut(found, outcome.content), None)[0])
        text = markdown.to_text(root)
    return browser_need.need_render(promised, text, count_words(text), outcome.strategy)


def test_the_labelled_set_has_enough_of_both_kinds() -> None:
    labels = [page.name.partition("--")[0] for page in PAGES]
    assert set(labels) == {"render", "static"}
    assert labels.count("render") >= 20
    assert labels.count("static") >= 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_browser_is_asked_for_exactly_where_the_label_says(page: Path) -> None:
    need = need_render(page.read_text("utf-8"))
    assert (need is not None) == page.name.startswith("render--"), need


def test_no_page_of_our_corpus_needs_a_browser(own_pages: list[Any]) -> None:
    needs = {page.name: need_render(page.html) for page in own_pages}
    assert {name: need for name, need in needs.items() if need} == {}


LEDGER = "Apple ash for the celadons, oak for the browns, elder never again. "
SHELL = '<title>Kiln</title><div id="root"></div><script src="/static/js/main.js"></script>'


def look(html: str) -> browser_need.RenderSigns:
    document = dom.parse(html)
    body = dom.first(document, "body")
    assert body is not None
    return browser_need.collect(document, survey(body))


def test_a_frameworks_mark_alone_asks_for_no_browser() -> None:
    served = f'<div id="__next"><main><h1>Kiln</h1><p>{LEDGER * 2}</p></main></div><script src="/_next/static/main.js"></script>'
    assert browser_need.need_render(look(served), LEDGER * 2, 24, "readability") is None


def test_the_reason_names_the_empty_root_and_counts_what_was_found() -> None:
    need = browser_need.need_render(look(SHELL), "", 0, "bookmark")
    assert need is not None
    assert "div#root" in need.reason
    assert "0 characters" in need.reason


def test_a_bookmarks_description_does_not_count_as_text() -> None:
    assert browser_need.need_render(look(SHELL), LEDGER * 20, 240, "bookmark") is not None


def test_an_article_in_structured_data_makes_the_browser_unnecessary() -> None:
    assert browser_need.need_render(look(SHELL), LEDGER * 40, 480, "simplified") is None


def test_a_page_with_much_text_outside_links_is_not_a_shell() -> None:
    page = look(f'<div id="root"></div><p>{LEDGER * 60}</p><script src="/main.js"></script>')
    assert not page.light
    assert browser_need.need_render(page, "", 0, "bookmark") is None


def test_text_in_noscript_is_not_text_of_the_page() -> None:
    page = look(f'<body><noscript><p>{LEDGER * 60}</p></noscript><div id="root"></div>')
    assert page.light
    assert page.prose == 0
    assert page.empty_root == "div#root"


def test_an_empty_main_counts_even_when_the_app_root_holds_a_header() -> None:
    page = look(
        '<div id="app"><div>Kiln diary, a ledger of firings kept in the shed since the spring</div><main></main></div>'
    )
    assert page.empty_root == "main"


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<frameset><frame src=x></frameset>",
        "<div id='\ud800'>\x00</div>",
        "<x-y>" * 700,
        "<main>" * 400,
        "<noscript>" * 300 + "javascript",
    ],
    ids=["nothing", "frames", "surrogates", "deep custom elements", "nested mains", "nested noscript"],
)
def test_odd_pages_are_looked_at_without_a_fault(html: str) -> None:
    document = dom.parse(html)
    body = dom.first(document, "body") or dom.element("body")
    promised = browser_need.collect(document, survey(body))
    assert promised == browser_need.collect(document, survey(body))


WORDS = "kiln glaze ash oak elder clay wheel shelf cone slip".split()
LINKS = "".join(f'<li><a href="/{number}">{WORDS[number % 10].title()} {number}</a></li>' for number in range(40))
AROUND = {
    "alone": ("", ""),
    "menu in nav": (f"<nav><ul>{LINKS}</ul></nav>", ""),
    "menu in divs": (f'<div class="top"><ul>{LINKS}</ul></div>', ""),
    "header and footer": (
        '<header><img src="/logo.png" alt="Kiln"><form action="/find"><input name="q"></form></header>',
        "<footer><p>Kiln diary, Shore Road 4. All rights reserved by the potters of the yard.</p></footer>",
    ),
}
ROOTS = {
    "ng-app on the body": '<body ng-app="kiln">{}<div ng-view></div>{}',
    "data-reactroot": '<body>{}<div data-reactroot=""><div class="a1"></div></div>{}',
    "empty article": "<body>{}<article></article>{}",
    "empty main": "<body>{}<main></main>{}",
    "no name": "<body>{}<div></div>{}",
    "own id": '<body>{}<div id="kiln-page"></div>{}',
    "section with a class": '<body>{}<section class="view"></section>{}',
    "custom element": "<body>{}<kiln-diary></kiln-diary>{}",
    "heading and empty article": "<body>{}<main><h1>Firings</h1><article></article></main>{}",
    "data for the script": '<body>{}<div id="k"></div>{}<script type="application/json" id="data">{{"text": 1}}</script>',
}
SCRIPT = '<script src="/kiln.js"></script>'
SHAPES = {
    f"{root}, {around}": f"<!doctype html><title>Kiln</title>{html.format(before, after)}{SCRIPT}"
    for root, html in ROOTS.items()
    for around, (before, after) in AROUND.items()
}


def test_script_only_pages_of_forty_shapes_ask_for_a_browser() -> None:
    missed = [name for name, html in SHAPES.items() if need_render(html) is None]
    assert len(SHAPES) == 40
    assert len(missed) <= 4, missed


def test_the_same_shapes_with_their_text_ask_for_none() -> None:
    text = "".join(f"<p>{LEDGER * 4}</p>" for _ in range(4))
    served = {
        name: html.replace("</article>", f"{text}</article>").replace("</main>", f"{text}</main>")
        for name, html in SHAPES.items()
    }
    filled = {name: html for name, html in served.items() if text in html}
    assert [name for name, html in filled.items() if need_render(html)] == []


def test_a_short_server_rendered_page_with_links_asks_for_none() -> None:
    note = f'<main><h1>Kiln</h1><p>{LEDGER * 4}</p><ul>{LINKS}</ul></main><div id="modal"></div>{SCRIPT}'
    assert need_render(note) is None

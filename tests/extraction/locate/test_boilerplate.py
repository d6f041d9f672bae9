"""Boilerplate, and content that looks like it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pagekeep import dom
from pagekeep.extraction.locate import boilerplate
from pagekeep.extraction.locate.page_facts import PageFacts

FactsOf = Callable[..., PageFacts]

PROSE = "<p>The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still.</p>"
STORY = f'<div id="story">{PROSE * 8}</div>'


def excluded(facts: PageFacts) -> dict[str, str]:
    """Return the text of every excluded subtree, and why."""
    return {
        dom.text_of(facts.survey.nodes[index]).strip(): exclusion.reason for index, exclusion in facts.excluded.items()
    }


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("<nav>noise</nav>", "navigation"),
        ("<footer>noise</footer>", "footer"),
        ("<aside>noise</aside>", "aside"),
        ("<form>noise</form>", "form"),
        ("<button>noise</button>", "button"),
        ("<dialog>noise</dialog>", "dialog"),
        ('<div class="main-menu">noise</div>', "navigation"),
        ('<div id="footer">noise</div>', "footer"),
        ('<div class="ad-slot">noise</div>', "advertisement"),
        ("<div data-ad>noise</div>", "advertisement"),
        ('<div data-ad="top-slot">noise</div>', "advertisement"),
        ('<div class="share-bar">noise</div>', "share"),
        ('<div class="comments">noise</div>', "comments"),
        ('<div class="related-posts">noise</div>', "related"),
        ('<div class="newsletter">noise</div>', "sign-up"),
        ('<div class="cookie-notice">noise</div>', "cookie notice"),
        ('<div class="modal">noise</div>', "dialog"),
        ('<div class="disclaimer">noise</div>', "small print"),
        ('<div role="navigation">noise</div>', "navigation"),
        ('<div role="contentinfo">noise</div>', "footer"),
        ("<div hidden>noise</div>", "hidden"),
        ('<div style="display:none">noise</div>', "hidden"),
        ('<div style="color: red; display: none">noise</div>', "hidden"),
        ('<div aria-hidden="true">noise</div>', "hidden"),
        ('<span class="sr-only">noise</span>', "hidden"),
        ('<ul class="facets">noise</ul>', "filters"),
        ('<div class="contact-form">noise</div>', "form"),
        ('<div class="sticky-bar">noise</div>', "bar"),
    ],
)
def test_boilerplate_is_excluded_with_its_reason(facts_of: FactsOf, html: str, reason: str) -> None:
    assert excluded(facts_of(f"{STORY}<div>{html}</div>")) == {"noise": reason}


@pytest.mark.parametrize(
    "html",
    [
        '<div class="has-sidebar">{}</div>',
        '<div class="content-sidebar-wrap">{}</div>',
        '<div class="no-comments shadow unavailable">{}</div>',
        "<form>{}</form>",
        '<body class="popup nav">{}',
        '<main class="footer">{}</main>',
        '<article class="ad">{}</article>',
        '<div style="display:none">{}</div>',
        "<aside>{}</aside>",
    ],
)
def test_what_holds_the_pages_prose_is_content_whatever_it_is_called(facts_of: FactsOf, html: str) -> None:
    assert excluded(facts_of(html.format(STORY))) == {}


def test_names_within_code_mean_nothing(facts_of: FactsOf) -> None:
    code = '<pre><code><span class="comment"># why</span> <span class="nav ad">x</span></code></pre>'
    inline = '<p>Use <code class="button">go</code> now.</p>'
    assert excluded(facts_of(STORY + code + inline)) == {}


@pytest.mark.parametrize(
    "html",
    [
        '<div class="accordion-panel" hidden>The answer is here.</div>',
        '<div class="tab-pane" style="display: none">The answer is here.</div>',
        '<div class="collapse" aria-hidden="true">The answer is here.</div>',
    ],
)
def test_closed_accordions_and_tabs_are_content(facts_of: FactsOf, html: str) -> None:
    assert excluded(facts_of(STORY + html)) == {}


def test_only_the_outermost_of_nested_furniture_is_named(facts_of: FactsOf) -> None:
    assert excluded(facts_of(f"{STORY}<footer><nav>links</nav> noise</footer>")) == {"links noise": "footer"}


def test_a_cookie_notice_is_excluded_even_when_it_is_long(facts_of: FactsOf) -> None:
    notice = "<p>We and our partners store things on your device, among them cookies, if you agree to it.</p>" * 3
    reasons = excluded(facts_of(f'{STORY}<div id="cookie-banner">{notice}</div>')).values()
    assert list(reasons) == ["cookie notice"]


def test_comments_are_content_in_a_forum_and_not_under_an_article(facts_of: FactsOf) -> None:
    html = f'{STORY}<div class="comment">I think so too.</div>'
    assert excluded(facts_of(html, "article")) == {"I think so too.": "comments"}
    assert excluded(facts_of(html, "forum")) == {}


def test_a_header_in_a_section_is_kept_where_sections_have_headers(facts_of: FactsOf) -> None:
    html = f"<header>Top</header><main><section><header>Our work</header>{PROSE * 4}</section></main>"
    assert "Our work" in excluded(facts_of(html, "article"))
    kept = excluded(facts_of(html, "service"))
    assert "Our work" not in kept
    assert "Top" in kept


def test_a_heading_is_not_judged_by_its_anchor(facts_of: FactsOf) -> None:
    assert excluded(facts_of(f'{STORY}<h2 id="related-comments" class="nav">Related comments</h2>')) == {}


def test_a_long_text_in_something_called_a_button_is_a_card(facts_of: FactsOf) -> None:
    card = "A card that can be clicked and has a whole story about the mill, the sacks, the tide, and the great wheel. "
    assert excluded(facts_of(f'{STORY}<div class="btn">{card}</div>')) == {}
    assert excluded(facts_of(f'{STORY}<div class="btn">Go</div>')) == {"Go": "button"}


def test_every_node_of_an_excluded_subtree_is_marked(facts_of: FactsOf) -> None:
    facts = facts_of(f"<nav><ul><li>a<li>b</ul></nav>{STORY}")
    dead = boilerplate.mark(facts.survey, facts.excluded)
    names = {facts.survey.tag[index] for index in range(len(dead)) if dead[index]}
    assert names == {"nav", "ul", "li", "#text"}
    assert sum(dead) == 6
    assert dead == facts.dead


def test_a_page_without_prose_is_judged_without_dividing_by_nothing(facts_of: FactsOf) -> None:
    assert excluded(facts_of("<nav>noise</nav>")) == {"noise": "navigation"}


@pytest.mark.parametrize("opening", ['<div role="dialog">', '<div class="modal">', "<dialog>"])
def test_terms_of_sale_in_a_dialog_are_not_the_page_however_long(facts_of: FactsOf, opening: str) -> None:
    terms = f"{opening}{PROSE * 30}</{opening[1:].split()[0].rstrip('>')}>"
    assert [exclusion.reason for exclusion in facts_of(STORY + terms).excluded.values()] == ["dialog"]


def test_a_page_that_is_one_dialog_is_the_dialog(facts_of: FactsOf) -> None:
    assert facts_of(f'<div role="dialog">{STORY}</div><p>Close</p>').excluded == {}


def test_text_laid_over_a_picture_is_content_when_it_holds_the_text(facts_of: FactsOf) -> None:
    html = f'<div class="overlay">{STORY}</div>{PROSE * 8}'
    assert facts_of(html).excluded == {}
    assert [
        exclusion.reason for exclusion in facts_of(f'{STORY}<div class="overlay">Enlarge</div>').excluded.values()
    ] == ["overlay"]


def test_a_call_to_action_goes_unless_it_is_what_the_page_offers(facts_of: FactsOf) -> None:
    html = f'{STORY}<div class="post-cta">Mill your own flour today!</div>'
    assert excluded(facts_of(html)) == {"Mill your own flour today!": "call to action"}
    assert excluded(facts_of(html, "service")) == {}
    assert excluded(facts_of(f'{STORY}<div class="post-cta">{PROSE * 4}</div>')) == {}


def test_what_a_class_hides_is_excluded_from_a_thread_alone(facts_of: FactsOf) -> None:
    html = f'{STORY}<div class="d-none">Delete this post?</div>'
    assert excluded(facts_of(html, "forum")) == {"Delete this post?": "hidden by its class"}
    assert excluded(facts_of(html, "service")) == {}


def test_a_folded_part_that_a_class_hides_stays(facts_of: FactsOf) -> None:
    assert excluded(facts_of(f'{STORY}<div class="hidden tab-panel">More of it.</div>', "forum")) == {}


@pytest.mark.parametrize(
    "opener",
    [
        '<h3><button aria-expanded="false">How are sacks counted?</button></h3>',
        '<a role="button" aria-controls="x">How are sacks counted?</a>',
        '<div><div><button aria-controls="x">How are sacks counted?</button></div></div>',
        "<summary>How are sacks counted?</summary>",
    ],
)
def test_what_a_reader_unfolds_stays_with_its_title(facts_of: FactsOf, opener: str) -> None:
    assert excluded(facts_of(f'{STORY}<div>{opener}<div id="x" aria-hidden="true">One by one.</div></div>')) == {}


def test_a_row_of_tabs_is_not_a_title(facts_of: FactsOf) -> None:
    tabs = "<div>" + '<button aria-controls="x">How are sacks counted?</button>' * 2 + "</div><div>One by one.</div>"
    assert set(excluded(facts_of(STORY + tabs)).values()) == {"button"}


def test_a_menu_that_unfolds_is_hidden_all_the_same(facts_of: FactsOf) -> None:
    menu = '<div aria-expanded="false">Sacks</div><div hidden><a href="/a">Small</a> <a href="/b">Large</a></div>'
    assert list(excluded(facts_of(STORY + menu)).values()) == ["hidden"]


def test_what_nothing_unfolds_is_hidden(facts_of: FactsOf) -> None:
    assert list(excluded(facts_of(f"{STORY}<p>Sacks</p><div hidden>One by one.</div>")).values()) == ["hidden"]


def test_a_paragraph_without_links_is_related_to_its_heading(facts_of: FactsOf) -> None:
    assert excluded(facts_of(STORY + '<p class="h2-related">It opens at nine.</p>')) == {}
    related = excluded(facts_of(STORY + '<p class="related">Read <a href="/b">the other</a></p>'))
    assert list(related.values()) == ["related"]


def test_small_print_is_excluded_even_when_it_is_longer_than_the_story(facts_of: FactsOf) -> None:
    facts = facts_of(f'<div>{PROSE * 3}</div><div class="legal-disclaimer">{PROSE * 5}</div>')
    assert [exclusion.reason for exclusion in facts.excluded.values()] == ["small print"]


def test_a_toolbar_around_code_is_not_a_button(facts_of: FactsOf) -> None:
    assert excluded(facts_of(STORY + '<div class="code-toolbar"><pre>ring()</pre></div>')) == {}
    assert excluded(facts_of(STORY + '<div class="code-dropdown menu"><pre>ring()</pre></div>')) == {}


def test_an_aside_that_is_a_callout_is_content(facts_of: FactsOf) -> None:
    assert excluded(facts_of(STORY + '<aside class="starlight-aside"><p>Mind the tide.</p></aside>')) == {}


CARDS = "".join(f'<li><a href="/{i}">Sieve number {i}, of beech and brass</a> 12.00</li>' for i in range(20))


def test_filters_that_hold_the_cards_stay(facts_of: FactsOf) -> None:
    text = "<p>Each sieve is turned from one piece of beech, and the brass is woven by hand in the valley below.</p>"
    options = "<ul class='filters'><li>Beech</li><li>Brass</li></ul>"
    facts = facts_of(f"<ul>{CARDS}</ul>{options}<div class='filter-results'>{text}</div>", "collection")
    assert excluded(facts) == {"BeechBrass": "filters"}


def test_a_dialog_with_the_only_sentences_of_a_page_of_cards_is_excluded(facts_of: FactsOf) -> None:
    html = f"<ul>{CARDS}</ul><div class='modal'>{PROSE}</div>"
    assert list(excluded(facts_of(html, "collection")).values()) == ["dialog"]
    assert excluded(facts_of(html, "article")) == {}


def test_a_menu_is_not_content_however_much_of_a_page_of_cards_it_is(facts_of: FactsOf) -> None:
    menu = "".join(f'<a href="/{i}">Department number {i}</a>' for i in range(60))
    facts = facts_of(f"<header>{menu}</header><ul>{CARDS}</ul>", "listing")
    assert [exclusion.reason for exclusion in facts.excluded.values()] == ["header"]


def test_an_element_around_main_is_kept_whatever_its_name(facts_of: FactsOf) -> None:
    html = f"<div>{PROSE * 3}</div><div class='content-sidebar-wrap'><main><ul>{CARDS}</ul></main></div>"
    assert excluded(facts_of(html)) == {}


def test_a_dialog_may_have_its_own_main_part(facts_of: FactsOf) -> None:
    assert excluded(facts_of(f"{STORY}<div class='modal'><main>noise</main></div>")) == {"noise": "dialog"}


def test_a_footer_with_the_longest_block_of_the_page_is_still_its_footer(facts_of: FactsOf) -> None:
    towns = "<p>" + "Millbrook, Weirham, Sluice End, " * 20 + "</p>"
    shop = "".join(f"<p>Sieve {i} of beech and brass</p>" for i in range(20))
    assert [
        exclusion.reason
        for exclusion in facts_of(f"<div>{shop}</div><footer>{towns}</footer>", "service").excluded.values()
    ] == ["footer"]


LAMP = "<p>The lamp is made of brass and glass, and it burns for a whole night with one filling of oil. It was lit at dusk.</p>"


def lamps(middle: str) -> str:
    from pagekeep.pipeline import extract

    return extract(f"<title>Lamps</title><body><main><h1>Lamps</h1>{LAMP}{middle}{LAMP}{LAMP}</main>").text


def test_a_heading_that_links_to_itself_stays() -> None:
    assert "How to light it" in lamps(f'<h2 id="x"><a class="header" href="#x">How to light it</a></h2>{LAMP}')


def test_a_word_that_is_explained_elsewhere_stays() -> None:
    assert "called a wick and" in lamps(
        '<p>It is called a <a class="glossary-tooltip" href="/w">wick</a> and is of cotton.</p>'
    )


def test_a_section_of_a_manual_may_be_about_sharing() -> None:
    section = (
        '<div class="section" id="sharing-lamps"><h2>Sharing lamps</h2><p>Neighbours shared them in winter.</p></div>'
    )
    assert "Neighbours shared" in lamps(section)
    assert "Share lamps now" not in lamps(
        '<div id="share-lamps"><h2>Share lamps</h2><a href="/f">Share lamps now</a></div>'
    )

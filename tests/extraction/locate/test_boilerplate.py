"""What is not content whatever the article may be, and what only looks like it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pagekeep import dom
from pagekeep.extraction.locate import boilerplate
from pagekeep.extraction.locate.page_facts import Reading

ReadAs = Callable[..., Reading]

PROSE = "<p>The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still.</p>"
STORY = f'<div id="story">{PROSE * 8}</div>'


def dropped(reading: Reading) -> dict[str, str]:
    """Text of every dropped subtree, and why."""
    return {dom.text_of(reading.survey.nodes[index]).strip(): reason for index, reason in reading.dropped.items()}


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
def test_furniture_is_dropped_and_named(read_as: ReadAs, html: str, reason: str) -> None:
    assert dropped(read_as(f"{STORY}<div>{html}</div>")) == {"noise": reason}


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
def test_what_holds_the_pages_prose_is_content_whatever_it_is_called(read_as: ReadAs, html: str) -> None:
    assert dropped(read_as(html.format(STORY))) == {}


def test_names_within_code_mean_nothing(read_as: ReadAs) -> None:
    code = '<pre><code><span class="comment"># why</span> <span class="nav ad">x</span></code></pre>'
    inline = '<p>Use <code class="button">go</code> now.</p>'
    assert dropped(read_as(STORY + code + inline)) == {}


@pytest.mark.parametrize(
    "html",
    [
        '<div class="accordion-panel" hidden>The answer is here.</div>',
        '<div class="tab-pane" style="display: none">The answer is here.</div>',
        '<div class="collapse" aria-hidden="true">The answer is here.</div>',
    ],
)
def test_closed_accordions_and_tabs_are_content(read_as: ReadAs, html: str) -> None:
    assert dropped(read_as(STORY + html)) == {}


def test_only_the_outermost_of_nested_furniture_is_named(read_as: ReadAs) -> None:
    assert dropped(read_as(f"{STORY}<footer><nav>links</nav> noise</footer>")) == {"links noise": "footer"}


def test_a_cookie_notice_is_dropped_even_when_it_is_long(read_as: ReadAs) -> None:
    notice = "<p>We and our partners store things on your device, among them cookies, if you agree to it.</p>" * 3
    reasons = dropped(read_as(f'{STORY}<div id="cookie-banner">{notice}</div>')).values()
    assert list(reasons) == ["cookie notice"]


def test_comments_are_content_in_a_forum_and_not_under_an_article(read_as: ReadAs) -> None:
    html = f'{STORY}<div class="comment">I think so too.</div>'
    assert dropped(read_as(html, "article")) == {"I think so too.": "comments"}
    assert dropped(read_as(html, "forum")) == {}


def test_a_header_in_a_section_is_kept_where_sections_have_headers(read_as: ReadAs) -> None:
    html = f"<header>Top</header><main><section><header>Our work</header>{PROSE * 4}</section></main>"
    assert "Our work" in dropped(read_as(html, "article"))
    kept = dropped(read_as(html, "service"))
    assert "Our work" not in kept
    assert "Top" in kept


def test_a_heading_is_not_judged_by_its_anchor(read_as: ReadAs) -> None:
    assert dropped(read_as(f'{STORY}<h2 id="related-comments" class="nav">Related comments</h2>')) == {}


def test_a_long_text_in_something_called_a_button_is_a_card(read_as: ReadAs) -> None:
    card = (
        "A card that can be clicked and tells a whole story about the mill, the sacks, the tide, and the great wheel. "
    )
    assert dropped(read_as(f'{STORY}<div class="btn">{card}</div>')) == {}
    assert dropped(read_as(f'{STORY}<div class="btn">Go</div>')) == {"Go": "button"}


def test_every_node_of_a_dropped_subtree_is_marked(read_as: ReadAs) -> None:
    reading = read_as(f"<nav><ul><li>a<li>b</ul></nav>{STORY}")
    dead = boilerplate.mark(reading.survey, reading.dropped)
    names = {reading.survey.tag[index] for index in range(len(dead)) if dead[index]}
    assert names == {"nav", "ul", "li", "#text"}
    assert sum(dead) == 6
    assert dead == reading.dead


def test_a_page_without_prose_is_judged_without_dividing_by_nothing(read_as: ReadAs) -> None:
    assert dropped(read_as("<nav>noise</nav>")) == {"noise": "navigation"}


@pytest.mark.parametrize("opening", ['<div role="dialog">', '<div class="modal">', "<dialog>"])
def test_terms_of_sale_in_a_dialog_are_not_the_page_however_long(read_as: ReadAs, opening: str) -> None:
    terms = f"{opening}{PROSE * 30}</{opening[1:].split()[0].rstrip('>')}>"
    assert list(read_as(STORY + terms).dropped.values()) == ["dialog"]


def test_a_page_that_is_one_dialog_is_the_dialog(read_as: ReadAs) -> None:
    assert read_as(f'<div role="dialog">{STORY}</div><p>Close</p>').dropped == {}


def test_text_laid_over_a_picture_is_content_when_it_holds_the_text(read_as: ReadAs) -> None:
    html = f'<div class="overlay">{STORY}</div>{PROSE * 8}'
    assert read_as(html).dropped == {}
    assert list(read_as(f'{STORY}<div class="overlay">Enlarge</div>').dropped.values()) == ["overlay"]


def test_a_call_to_action_goes_unless_it_is_what_the_page_offers(read_as: ReadAs) -> None:
    html = f'{STORY}<div class="post-cta">Mill your own flour today!</div>'
    assert dropped(read_as(html)) == {"Mill your own flour today!": "call to action"}
    assert dropped(read_as(html, "service")) == {}
    assert dropped(read_as(f'{STORY}<div class="post-cta">{PROSE * 4}</div>')) == {}


def test_what_a_class_hides_is_dropped_from_a_thread_alone(read_as: ReadAs) -> None:
    html = f'{STORY}<div class="d-none">Delete this post?</div>'
    assert dropped(read_as(html, "forum")) == {"Delete this post?": "hidden by its class"}
    assert dropped(read_as(html, "service")) == {}


def test_a_folded_part_that_a_class_hides_stays(read_as: ReadAs) -> None:
    assert dropped(read_as(f'{STORY}<div class="hidden tab-panel">More of it.</div>', "forum")) == {}


@pytest.mark.parametrize(
    "opener",
    [
        '<h3><button aria-expanded="false">How are sacks counted?</button></h3>',
        '<a role="button" aria-controls="x">How are sacks counted?</a>',
        '<div><div><button aria-controls="x">How are sacks counted?</button></div></div>',
        "<summary>How are sacks counted?</summary>",
    ],
)
def test_what_a_reader_unfolds_stays_with_its_title(read_as: ReadAs, opener: str) -> None:
    assert dropped(read_as(f'{STORY}<div>{opener}<div id="x" aria-hidden="true">One by one.</div></div>')) == {}


def test_a_row_of_tabs_is_no_title(read_as: ReadAs) -> None:
    tabs = "<div>" + '<button aria-controls="x">How are sacks counted?</button>' * 2 + "</div><div>One by one.</div>"
    assert set(dropped(read_as(STORY + tabs)).values()) == {"button"}


def test_a_menu_that_unfolds_is_hidden_all_the_same(read_as: ReadAs) -> None:
    menu = '<div aria-expanded="false">Sacks</div><div hidden><a href="/a">Small</a> <a href="/b">Large</a></div>'
    assert list(dropped(read_as(STORY + menu)).values()) == ["hidden"]


def test_what_nothing_unfolds_is_hidden(read_as: ReadAs) -> None:
    assert list(dropped(read_as(f"{STORY}<p>Sacks</p><div hidden>One by one.</div>")).values()) == ["hidden"]


def test_a_paragraph_without_links_is_related_to_its_heading(read_as: ReadAs) -> None:
    assert dropped(read_as(STORY + '<p class="h2-related">It opens at nine.</p>')) == {}
    related = dropped(read_as(STORY + '<p class="related">Read <a href="/b">the other</a></p>'))
    assert list(related.values()) == ["related"]


def test_small_print_is_dropped_even_when_it_is_longer_than_the_story(read_as: ReadAs) -> None:
    reading = read_as(f'<div>{PROSE * 3}</div><div class="legal-disclaimer">{PROSE * 5}</div>')
    assert list(reading.dropped.values()) == ["small print"]


def test_a_toolbar_around_code_is_no_button(read_as: ReadAs) -> None:
    assert dropped(read_as(STORY + '<div class="code-toolbar"><pre>ring()</pre></div>')) == {}
    assert dropped(read_as(STORY + '<div class="code-dropdown menu"><pre>ring()</pre></div>')) == {}


def test_an_aside_that_is_a_callout_is_content(read_as: ReadAs) -> None:
    assert dropped(read_as(STORY + '<aside class="starlight-aside"><p>Mind the tide.</p></aside>')) == {}


CARDS = "".join(f'<li><a href="/{i}">Sieve number {i}, of beech and brass</a> 12.00</li>' for i in range(20))


def test_filters_that_hold_the_cards_stay(read_as: ReadAs) -> None:
    told = "<p>Each sieve is turned from one piece of beech, and the brass is woven by hand in the valley below.</p>"
    options = "<ul class='filters'><li>Beech</li><li>Brass</li></ul>"
    reading = read_as(f"<ul>{CARDS}</ul>{options}<div class='filter-results'>{told}</div>", "collection")
    assert dropped(reading) == {"BeechBrass": "filters"}


def test_a_dialog_with_the_only_sentences_of_a_page_of_cards_is_dropped(read_as: ReadAs) -> None:
    html = f"<ul>{CARDS}</ul><div class='modal'>{PROSE}</div>"
    assert list(dropped(read_as(html, "collection")).values()) == ["dialog"]
    assert dropped(read_as(html, "article")) == {}


def test_a_menu_is_no_content_however_much_of_a_page_of_cards_it_is(read_as: ReadAs) -> None:
    menu = "".join(f'<a href="/{i}">Department number {i}</a>' for i in range(60))
    reading = read_as(f"<header>{menu}</header><ul>{CARDS}</ul>", "listing")
    assert list(reading.dropped.values()) == ["header"]


def test_what_holds_the_main_part_is_not_what_its_name_says(read_as: ReadAs) -> None:
    html = f"<div>{PROSE * 3}</div><div class='content-sidebar-wrap'><main><ul>{CARDS}</ul></main></div>"
    assert dropped(read_as(html)) == {}


def test_a_dialog_may_have_a_main_part_of_its_own(read_as: ReadAs) -> None:
    assert dropped(read_as(f"{STORY}<div class='modal'><main>noise</main></div>")) == {"noise": "dialog"}


def test_a_footer_with_the_longest_block_of_the_page_is_still_its_footer(read_as: ReadAs) -> None:
    towns = "<p>" + "Millbrook, Weirham, Sluice End, " * 20 + "</p>"
    shop = "".join(f"<p>Sieve {i} of beech and brass</p>" for i in range(20))
    assert list(read_as(f"<div>{shop}</div><footer>{towns}</footer>", "service").dropped.values()) == ["footer"]


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

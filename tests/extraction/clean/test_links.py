from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.extraction.input import urls
from pagekeep.extraction.input.urls import make_resolver


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("https://a.example/x", "https://a.example/x"),
        ("/leaf", "https://example.org/leaf"),
        ("leaf", "https://example.org/posts/leaf"),
        ("../leaf", "https://example.org/leaf"),
        ("/a/../leaf", "https://example.org/leaf"),
        ("//cdn.example/leaf", "https://cdn.example/leaf"),
        ("?page=2", "https://example.org/posts/tea.html?page=2"),
        (" /leaf\n", "https://example.org/leaf"),
        ("/a b", "https://example.org/a%20b"),
        ("mailto:cup@example.org", "mailto:cup@example.org"),
        ("tel:+123", "tel:+123"),
    ],
)
def test_links_become_absolute(cleaned, href, expected):
    assert cleaned(f'<p><a href="{href}">tea</a></p>') == f'<p><a href="{expected}">tea</a></p>'


@pytest.mark.parametrize(
    "href",
    [
        "#top",
        "",
        "javascript:void(0)",
        "JaVaScRiPt:alert(1)",
        "vbscript:x",
        "data:text/html,hi",
        "http://[bad",
        "file:///etc",
    ],
)
def test_links_that_lead_nowhere_become_text(cleaned, href):
    assert cleaned(f'<p>some <a href="{href}"><b>tea</b></a></p>') == "<p>some <strong>tea</strong></p>"


def test_an_anchor_without_address_becomes_text(cleaned):
    assert cleaned('<p><a name="x">tea</a> <a id="y"></a>time</p>') == "<p>tea time</p>"


def test_without_a_page_address_relative_links_become_text(cleaned):
    assert cleaned('<p><a href="/x">tea</a> <a href="https://a.example/">b</a></p>', None) == (
        '<p>tea <a href="https://a.example/">b</a></p>'
    )


def test_a_linked_card_keeps_its_link_on_the_heading(cleaned):
    html = '<a href="/card"><div><h3>Green tea</h3><p>Steep it briefly.</p></div></a>'
    assert cleaned(html) == '<h3><a href="https://example.org/card">Green tea</a></h3><p>Steep it briefly.</p>'


def test_a_linked_box_without_heading_keeps_its_link_on_the_picture(cleaned):
    html = '<a href="/card"><div><img src="/a.png"></div><div>words</div></a>'
    expected = '<p><a href="https://example.org/card"><img src="https://example.org/a.png"></a></p><p>words</p>'
    assert cleaned(html) == expected


@given(
    st.sampled_from(
        (
            "https://a.example",
            "https://a.example/b/c.html",
            "http://a.example/b//c/?d=/e#f",
            "https://a.example/../b/x;y",
        )
    ),
    st.lists(
        st.sampled_from(("leaf", "b.html", "..", ".", "/", "?", "#", "x=1", "&", "-", ";", ":", "%20")),
        min_size=1,
        max_size=5,
    ),
)
def test_address_beside_the_page_is_read_as_any_other_relative_one(base: str, parts: list[str]) -> None:
    address = "leaf" + "".join(parts)
    resolved = make_resolver(base)(address)
    assert resolved == urls.absolute(address, base)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<p><a href="/a">Green</a><a href="/b">black</a></p>', '<p><a href="/a">Green</a> <a href="/b">black</a></p>'),
        ('<p><a href="/a">Gre</a><a href="/a/">en</a></p>', '<p><a href="/a">Green</a></p>'),
        ('<p><a href="/a">緑茶</a><a href="/b">紅茶</a></p>', '<p><a href="/a">緑茶</a><a href="/b">紅茶</a></p>'),
    ],
)
def test_links_that_touch_are_set_apart_or_made_whole(cleaned, html, expected):
    assert cleaned(html).replace("https://example.org", "") == expected


def test_links_side_by_side_to_one_place_are_one_with_a_space_between_words(cleaned):
    html = cleaned(
        '<p><a href="/x">The harbour</a><a href="/x">Read more</a> and <a href="/y">light</a><a href="/y">house</a></p>'
    )
    assert "The harbour Read more</a>" in html
    assert "lighthouse</a>" in html


@pytest.mark.parametrize(
    "html",
    [
        '<h2>Tea<a class="headerlink" href="#tea">¶</a></h2>',
        '<h2><a class="anchor" href="#tea" aria-hidden="true"><svg></svg></a>Tea</h2>',
        '<h2><a href="#tea">Tea</a></h2>',
        '<h2><a href="#tea">#</a>Tea</h2>',
        '<h2>Tea<a class="hash-link" href="/x#tea" aria-label="Direct link">\u200b</a></h2>',
        '<h2><span>Tea</span><span class="mw-editsection">[<a href="/edit">edit</a>]</span></h2>',
        '<h2>Tea <span class="widget"><a href="find/?name=tea" title="Permalink">🔗</a></span></h2>',
        "<h2><div>Tea</div></h2>",
        "<h2><p>Tea</p></h2>",
        '<div class="wrap"><h2 id="tea" style="color:red">Tea</h2></div>',
        '<h2 id="tea">Tea<a class="mark" href="#tea">#tea</a></h2>',
        "<h2>Tea <span>\U0001f517</span></h2>",
    ],
)
def test_headings_hold_their_words_only(cleaned, html):
    assert cleaned(html).replace(" </h2>", "</h2>") == "<h2>Tea</h2>"


def test_a_heading_that_leads_elsewhere_keeps_its_link(cleaned):
    assert cleaned('<h2><a href="/t">Tea</a></h2>') == '<h2><a href="https://example.org/t">Tea</a></h2>'


def test_two_lines_in_a_heading_stay_apart(cleaned):
    assert cleaned("<h2><div>Tea</div><div>time</div></h2>").split() == ["<h2>Tea", "time</h2>"]


def test_an_empty_heading_is_dropped(cleaned):
    assert cleaned("<h2> <span></span></h2><p>x</p>") == "<p>x</p>"


def test_protected_mail_addresses_are_shown(cleaned):
    code = "42232623022a23302027302d30270c232d"
    address = bytes(byte ^ 0x42 for byte in bytes.fromhex(code)[1:]).decode()
    html = f'<p>Write to <a href="/cdn-cgi/l/email-protection" class="__cf_email__" data-cfemail="{code}">[email&#160;protected]</a>.</p>'
    link = f'<a href="/cdn-cgi/l/email-protection#{code}"><span class="__cf_email__" data-cfemail="{code}">[email]</span></a>'
    assert "@" in address
    assert cleaned(html) == f'<p>Write to <a href="mailto:{address}">{address}</a>.</p>'
    assert cleaned(f"<p>Write to {link}.</p>") == f'<p>Write to <a href="mailto:{address}">{address}</a>.</p>'
    assert cleaned(html.replace(code, "zz")) == "<p>Write to [email&nbsp;protected].</p>"

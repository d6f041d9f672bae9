from __future__ import annotations

import pytest


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

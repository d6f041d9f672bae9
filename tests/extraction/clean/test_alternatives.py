"""Words in place of pictures."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<p>It is <span role="img" aria-label="very cold"></span> outside.</p>',
            "<p>It is very cold outside.</p>",
        ),
        ('<p>Rated <i role="img" aria-label="4 of 5 stars"></i>.</p>', "<p>Rated 4 of 5 stars .</p>"),
        ("<p>Look <svg><title>to the left</title><path/></svg> now.</p>", "<p>Look to the left now.</p>"),
        (
            '<p>See <a href="/r" aria-label="the report"><svg><path/></svg></a> now.</p>',
            '<p>See <a href="https://example.org/r"> the report </a> now.</p>',
        ),
    ],
)
def test_drawing_within_a_line_becomes_its_words(cleaned, html, expected):
    assert " ".join(cleaned(html).split()) == expected


@pytest.mark.parametrize(
    "drawing",
    [
        '<svg role="img" aria-label="Ships built in each year"><path/></svg>',
        "<svg><title>Ships built in each year</title><path/></svg>",
        '<div role="img" aria-label="Ships built in each year"><svg aria-hidden="true"><text>12</text></svg></div>',
        '<div role="img" aria-label="Ships built in each year" style="background-image:url(/m.png)"></div>',
        '<figure><canvas aria-label="Ships built in each year"></canvas></figure>',
    ],
)
def test_drawing_that_is_a_block_becomes_a_caption(cleaned, drawing):
    assert "<figcaption>Ships built in each year</figcaption>" in cleaned(f"<p>tea</p>{drawing}<p>more</p>")


@pytest.mark.parametrize(
    "html",
    [
        '<button aria-label="Close this window now"><svg><path/></svg></button>',
        '<div><svg width="24" aria-label="An arrow to the right"><path/></svg></div>',
        '<div><svg viewBox="0 0 24 24" aria-label="An arrow to the right"><path/></svg></div>',
        '<div><svg aria-hidden="true"><title>An arrow to the right</title></svg></div>',
        "<div><svg><title>Facebook</title></svg></div>",
        '<div><a href="/share"><svg aria-label="Share this on a network"><path/></svg></a></div>',
        '<div><svg aria-label="Rated 4 of 5 stars"/></svg></div><div><svg aria-label="Rated 3 of 5 stars"></svg></div>',
    ],
)
def test_icons_and_controls_have_no_words(cleaned, html):
    assert cleaned(f"<p>tea</p>{html}") == "<p>tea</p>"


def test_words_and_captions_of_the_page_are_not_repeated(cleaned):
    assert cleaned('<p>It is <span role="img" aria-label="snowman">☃</span> day.</p>') == "<p>It is ☃ day.</p>"
    figure = (
        '<figure role="img" aria-label="Ships built in each year"><svg></svg><figcaption>Ships</figcaption></figure>'
    )
    assert "each year" not in cleaned(figure)


def test_heading_has_no_words_of_its_permalink(cleaned):
    html = '<h2>Lists <a href="#lists" aria-label="Link to Lists"><svg><path/></svg></a></h2>'
    assert "Link" not in cleaned(html)


def test_image_without_alternative_text_takes_its_label(cleaned):
    assert 'alt="A mill"' in cleaned('<img src="/m.jpg" aria-label="A mill">')
    assert 'alt="Wheel"' in cleaned('<img src="/m.jpg" alt="Wheel" aria-label="A mill">')

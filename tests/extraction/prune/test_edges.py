"""What is above the headline and below the last paragraph of an article."""

from __future__ import annotations

import pytest

from pagekeep import extract

SENTENCES = (
    "The wheel at the lower mill turned slowly through the long dry summer, and the miller waited for rain.",
    "Nobody in the village remembered a year in which the water had been so low so early.",
    "When the rain came at last, in the second week of September, the wheel did not turn at once.",
)
STORY = "".join(f"<p>{sentence} {sentence.lower()}</p>" for sentence in SENTENCES)
HEADLINE = "<h1>Why the wheel stopped</h1>"
CARDS = (
    '<div><a href="/1"><h3>How flour is made</h3></a><p>On stones and sieves.</p></div>'
    '<div><a href="/2"><h3>The second mill</h3></a><p>On another wheel.</p></div>'
)


def _text(above: str, below: str) -> str:
    page = f"<title>Why the wheel stopped</title><article>{above}{HEADLINE}{STORY}{below}</article>"
    return extract(page, "https://mill.example/blog/wheel").text


@pytest.mark.parametrize(
    "above",
    [
        '<p><a href="/">Start</a> &gt; <a href="/blog">Blog</a> &gt; Why the wheel stopped</p>',
        '<ol><li><a href="/">Start</a></li><li><a href="/blog">Blog</a></li><li>Why the wheel stopped</li></ol>',
        '<p><a href="/blog">Start of the blog</a></p>',
    ],
)
def test_paths_above_the_headline_are_left_out(above: str) -> None:
    text = _text(above, "")
    assert "Start" not in text
    assert SENTENCES[0] in text


@pytest.mark.parametrize(
    "below",
    [
        f"<section><h2>Related articles</h2>{CARDS}</section>",
        f"<div><h3>Das könnte Sie auch interessieren</h3>{CARDS}</div>",
        "<div><h4>About the author</h4><p>Ada Marsh writes about water; How flour is made is her book.</p></div>",
        '<div><h3>Get our newsletter</h3><p>How flour is made, and more.</p><form><input type="email"></form></div>',
        '<div><p>Did you like How flour is made?</p><input type="email"><button>Sign up</button></div>',
        "<p>© 2025 How flour is made Press. All rights reserved.</p>",
    ],
)
def test_other_articles_authors_and_letters_below_a_short_article_are_left_out(below: str) -> None:
    text = _text("", below)
    assert "flour is made" not in text
    assert SENTENCES[2] in text


@pytest.mark.parametrize(
    "below",
    [
        f"<section><h2>Related articles</h2>{CARDS}</section><p>{SENTENCES[1]} How flour is made is another question.</p>",
        f'<div><h2>Read more</h2><p>{SENTENCES[0]} <a href="/1">How flour is made</a> says the rest.</p></div>',
        f"<div><h2>Read more</h2><p>{SENTENCES[0]} This list has the rest:</p>{CARDS}</div>",
        f"<div><h2>Related rivers</h2>{CARDS}</div>",
        f"<div><h2>About the author</h2><p>How flour is made. {' '.join(SENTENCES * 4)}</p></div>",
    ],
)
def test_sections_that_the_article_goes_on_after_or_that_are_text_stay(below: str) -> None:
    assert "flour is made" in _text("", below)

"""What is between the headline and the container of an article."""

from __future__ import annotations

import pytest

from pagekeep import Page, extract

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."
STORY = f'<div class="story">{"".join(f"<p>On day {day} it was the same. {SENTENCE}</p>" for day in range(20))}</div>'
LEAD = "Nobody in the village had ever seen the wheel turn backwards, until last night."
BYLINE = '<div class="who">Anna Miller, 3 May 2024</div><ul><li>Send</li><li>Keep</li></ul>'


def _extract(body: str) -> Page:
    return extract(f"<title>The wheel</title>{body}", "https://mill.example/the-wheel")


@pytest.mark.parametrize(
    "html",
    [
        f"<main><h1>The wheel</h1><div><p>{LEAD}</p></div>{BYLINE}{STORY}</main>",
        f"<main><header><h1>The wheel</h1><p>{LEAD}</p>{BYLINE}</header>{STORY}</main>",
        f"<main><div class=top><h1>The wheel</h1></div><section><h2>{LEAD}</h2>{BYLINE}</section>{STORY}</main>",
        f"<article><header><h1>The wheel</h1><div><div>{LEAD}</div></div>{BYLINE}</header>{STORY[19:-6]}</article>",
        f'<article><div class="header"><h1>The wheel</h1><p>{LEAD}</p>{BYLINE}</div>{STORY[19:-6]}</article>',
    ],
)
def test_a_standfirst_is_part_of_the_article_and_what_is_around_it_is_not(html: str) -> None:
    page = _extract(html)
    assert LEAD in page.text
    assert page.text.index(LEAD) < page.text.index("On day 0")
    assert "Anna Miller, 3 May" not in page.text
    assert "Send" not in page.text
    assert "On day 19" in page.text


@pytest.mark.parametrize(
    "between",
    [
        f"<figure><img src=/a.png><figcaption>{LEAD}</figcaption></figure>",
        f"<ul><li>{LEAD}</li></ul>",
        f'<p><a href="/other">{LEAD}</a></p>',
        f'<div class="newsletter"><p>{LEAD}</p></div>',
        f"<div><p>{LEAD}</p></div>" * 5,
        f'<header><h2>Mills</h2><p class="byline">{LEAD}</p></header>',
    ],
)
def test_captions_links_and_teasers_are_not_a_standfirst(between: str) -> None:
    page = _extract(f"<main><h1>The wheel</h1>{between}{STORY}</main>")
    assert LEAD not in page.text
    assert "On day 0" in page.text


def test_without_a_headline_there_is_no_standfirst() -> None:
    assert LEAD not in _extract(f"<main><div><p>{LEAD}</p></div>{STORY}</main>").text


def test_a_short_sentence_as_heading_right_after_the_headline_is_part_of_the_page() -> None:
    page = _extract(f"<main><div><h1>The wheel</h1><h2>Turn it backwards.</h2></div>{STORY}</main>")
    assert "## Turn it backwards." in page.markdown

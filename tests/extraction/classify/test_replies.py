"""How much of a page is posts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pagekeep import extract
from pagekeep.extraction.classify.kind import measure_replies
from pagekeep.extraction.locate.survey import Survey

Surveyed = Callable[[str], Survey]

TEXT = "We hang sacks of straw over the axle every evening, and the ice has never reached the bearings since."
AUTHORS = ['<a href="/user/anna">anna</a>', '<span class="post-author">anna</span>', '<a href="/u/anna">anna</a>']


def thread(author: str = AUTHORS[0], posts: int = 6, names: str = "entry", title: str = "") -> str:
    box = f'<div class="{names}">{title}{author}<time>3 May 2024</time><p>{TEXT}</p></div>'
    return f"<h1>Ice on the wheel</h1><main>{box * posts}</main>"


@pytest.mark.parametrize("author", AUTHORS)
def test_boxes_with_author_date_and_text_are_posts(surveyed: Surveyed, author: str) -> None:
    posts, share = measure_replies(surveyed(thread(author)))
    assert posts == 6
    assert share > 0.9


@pytest.mark.parametrize(
    "html",
    [
        thread(author=""),
        thread(posts=2),
        thread(names="comment"),
        thread(title='<h3><a href="/ice">Ice on the wheel</a></h3>'),
        thread().replace("<time>3 May 2024</time>", ""),
    ],
)
def test_teasers_comments_and_lists_are_not_a_thread(surveyed: Surveyed, html: str) -> None:
    assert measure_replies(surveyed(html)) == (0, 0.0)


def test_a_thread_is_one_even_when_it_calls_itself_an_article() -> None:
    head = '<meta property="og:type" content="article"><title>Ice on the wheel</title>'
    page = extract(head + thread(posts=12), "https://mill.example/t/ice")
    assert page.kind == "forum"


def test_posts_below_a_long_article_are_the_smaller_part(surveyed: Surveyed) -> None:
    story = f"<article>{'<p>' + TEXT + '</p>'}</article>" * 20
    assert measure_replies(surveyed(story + thread()))[1] < 0.5

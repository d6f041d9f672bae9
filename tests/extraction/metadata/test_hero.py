"""The hero image: a rule's, the first real picture of the content, or the one the page declares."""

from __future__ import annotations

import pytest

from pagekeep import extract
from pagekeep.extraction.metadata import about
from pagekeep.model import Metadata

URL = "https://mill.example/blog/the-wheel"
DECLARED = "https://mill.example/declared.jpg"
HEAD = f'<title>The wheel</title><meta property="og:image" content="{DECLARED}">'
STORY = "".join(
    f"<p>Day {i}: the miller counted the sacks until the tide turned and the wheel stood still.</p>" for i in range(12)
)


def hero_of(html: str, head: str = HEAD) -> str | None:
    return extract(f"{head}<body><article><h1>The wheel</h1>{html}</article>", URL).metadata.hero_image


def test_the_first_picture_of_the_article_comes_before_the_declared_one() -> None:
    assert hero_of(f'{STORY}<img src="/wheel.jpg">{STORY}<img src="/sack.jpg">') == "https://mill.example/wheel.jpg"


def test_without_a_picture_the_declared_one_is_used() -> None:
    assert hero_of(STORY) == DECLARED
    assert hero_of(STORY, "<title>The wheel</title>") is None


@pytest.mark.parametrize(
    "image",
    [
        '<img src="/icons/star.png">',
        '<img src="/u/avatar.jpg">',
        '<img src="/w.jpg" width="48" height="48">',
        '<img src="/line.png" width="600" height="20">',
        '<img src="/chart.svg">',
    ],
)
def test_icons_portraits_and_drawings_are_passed_over(image: str) -> None:
    assert hero_of(f'<p>{image}</p>{STORY}<img src="/wheel.jpg">{STORY}') == "https://mill.example/wheel.jpg"
    assert hero_of(f"<p>{image}</p>{STORY}") == DECLARED


def test_a_picture_in_the_text_is_not_repeated_above_it_and_nothing_is_invented() -> None:
    html = f'<title>The wheel</title><body><article><h1>The wheel</h1>{STORY}<img src="/wheel.jpg">{STORY}</article>'
    page = extract(html, URL)
    assert page.document.count("](https://mill.example/wheel.jpg)") == 2  # one picture that links to itself
    above = extract(f"{HEAD}<body><article><h1>The wheel</h1>{STORY}</article>", URL)
    assert f"[![]({DECLARED})]({DECLARED})" in above.document
    assert "hero image" not in above.document.replace("hero_image", "").lower()


def test_a_rules_choice_is_final() -> None:
    from pagekeep import dom
    from pagekeep.extraction.input import structured

    known = Metadata(hero_image="https://a.example/r.jpg", origins={"hero_image": "rule wheel"})
    root = dom.parse_fragment('<img src="https://a.example/w.jpg">')
    assert about.choose_hero(known, root, "article", structured.read(dom.parse(""))) is known

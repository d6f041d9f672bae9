"""Names that would leave nothing of the page are not believed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pagekeep import dom
from pagekeep.extraction.locate.page_facts import PageFacts

FactsOf = Callable[..., PageFacts]

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."
STORY = "".join(f"<p>On day {day} it was the same. {SENTENCE}</p>" for day in range(20))
NOTE = "<p>A short note from the editors about this mill and its wheel.</p>"


def thread(posts: int) -> str:
    remark = "<p>I have seen the wheel myself, and I can say that it never stood still as long as I was there.</p>"
    items = "".join(
        f'<div class="comment-item"><div class="comment-body">{remark * 3}</div></div>' for _ in range(posts)
    )
    return f'<div class="comments-list">{items}</div>'


def kept(facts: PageFacts) -> str:
    texts = [
        node.data
        for node, dead in zip(facts.survey.nodes, facts.dead, strict=True)
        if isinstance(node, dom.Text) and not dead
    ]
    return " ".join(texts)


@pytest.mark.parametrize(
    "opening",
    [
        '<div class="commentOnSelection">',
        '<div id="comments-wrapper">',
        '<div class="modal-body">',
        '<div class="reviews">',
    ],
)
def test_the_article_may_be_in_an_element_with_any_name(facts_of: FactsOf, opening: str) -> None:
    assert "On day 7" in kept(facts_of(f"{NOTE}{opening}{STORY}</div>{thread(40)}"))


def test_comments_below_such_an_article_are_still_comments(facts_of: FactsOf) -> None:
    facts = facts_of(f'{NOTE}<div class="commentOnSelection">{STORY}</div>{thread(40)}')
    assert "I have seen the wheel" not in kept(facts)


def test_comments_beside_a_short_article_are_comments(facts_of: FactsOf) -> None:
    facts = facts_of(f"<div>{STORY[:1600]}</div>{thread(40)}")
    assert "I have seen the wheel" not in kept(facts)
    assert "On day 7" in kept(facts)


def test_many_parts_with_the_same_name_are_one_text(facts_of: FactsOf) -> None:
    parts = "".join(
        f'<div class="share-text"><p>On day {day} it was the same. {SENTENCE}</p></div>' for day in range(20)
    )
    assert "On day 7" in kept(facts_of(NOTE + parts))


def test_a_text_that_a_script_shows_is_content_when_there_is_no_other(facts_of: FactsOf) -> None:
    parts = "".join(f'<p style="visibility: hidden">On day {day} it was the same. {SENTENCE}</p>' for day in range(20))
    assert "On day 7" in kept(facts_of(f"<div>{parts}</div>"))


@pytest.mark.parametrize("opening", ['<div class="cookie-notice">', '<div class="disclaimer">'])
def test_some_things_may_be_nearly_all_that_a_page_shows(facts_of: FactsOf, opening: str) -> None:
    assert "On day 7" not in kept(facts_of(f"<div>{NOTE * 3}</div>{opening}{STORY}</div>"))


def test_names_within_names_are_checked_again(facts_of: FactsOf) -> None:
    html = f'{NOTE}<div class="footer"><div class="reviews"><div role="dialog">{STORY}</div></div></div>{thread(2)}'
    assert "On day 7" in kept(facts_of(html))

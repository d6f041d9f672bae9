"""Names that say what a text is about."""

from __future__ import annotations

import pytest

import pagekeep

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."
LAW = "The court decides each case by itself, and the author of a text keeps the right to be named beside it."


def page(part: str) -> str:
    story = f"<p>{' '.join([SENTENCE] * 4)}</p>" * 6
    return f"<html><body><article><h1>The tide mill</h1>{story}{part}{story}</article></body></html>"


def paragraphs(count: int) -> str:
    return f"<p>{' '.join([LAW] * 4)}</p>" * count


@pytest.mark.parametrize(
    "start",
    [
        '<div id="copyright-law"><h2>Copyright law</h2>',
        '<div id="copyright-law">',
        '<section class="copyright-law">',
        '<div class="comment-on-text"><h2>On the text</h2>',
        '<div class="comment-on-text">',
        '<div class="comments-by-miller"><h3>Comments by the miller</h3>',
        '<div id="social-history"><h2>Social history</h2>',
    ],
)
def test_part_named_after_its_subject_is_content(start: str) -> None:
    end = "</section>" if start.startswith("<section") else "</div>"
    assert pagekeep.extract(page(f"{start}{paragraphs(4)}{end}")).text.count("court decides") == 16


@pytest.mark.parametrize(
    "start",
    [
        '<div class="comments">',
        '<div class="comment-list">',
        '<div id="comments" class="comment-on-text">',
        '<div class="copyright-notice">',
        '<div class="footer copyright-law">',
        '<div class="site-copyright">',
        '<div class="js-comment-text-and-form">',
    ],
)
def test_part_of_the_layout_is_not_content(start: str) -> None:
    assert "court decides" not in pagekeep.extract(page(f"{start}{paragraphs(4)}</div>")).text


def test_part_without_prose_is_not_content() -> None:
    links = "".join(f'<p><a href="/{number}">{LAW}</a></p>' for number in range(8))
    for inside in (links, "<p>The court decides.</p>"):
        assert "court decides" not in pagekeep.extract(page(f'<div id="copyright-law">{inside}</div>')).text

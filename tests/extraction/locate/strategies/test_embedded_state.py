"""The article in the state that a page carries for its script."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pagekeep import dom, extract
from pagekeep.extraction.locate.strategies import simplified

SENTENCES = [
    f"On day {i} the ferry left the harbour late, and nobody on the pier knew why it had waited." for i in range(12)
]
HTML = "".join(f"<p>{sentence}</p>" for sentence in SENTENCES)


def page(value: Any, attributes: str = 'id="__NEXT_DATA__" type="application/json"') -> str:
    """A page whose body is empty until its script has run."""
    data = json.dumps(value).replace("</", "<\\/")
    return (
        "<!doctype html><title>The late ferry</title><div id=__next></div>"
        f'<script {attributes}>{data}</script><script src="/_next/static/chunks/main.js"></script>'
    )


def read(value: Any) -> str | None:
    made = simplified.find_state_body(dom.parse(page(value)))
    return None if made is None else " ".join(dom.text_of(made).split())


def test_an_article_that_is_only_in_the_state_is_found() -> None:
    result = extract(page({"props": {"pageProps": {"post": {"title": "The late ferry", "contentHtml": HTML}}}}))
    assert result.strategy == "simplified"
    assert result.need_render is None
    assert result.markdown.count("\n\n") >= 10
    assert all(sentence in result.text for sentence in SENTENCES)


def test_what_the_tree_shows_is_preferred_to_the_state() -> None:
    shown = f"<article>{HTML.replace('ferry', 'coach')}</article>"
    result = extract(page({"body": HTML}).replace("<div id=__next></div>", f"<div id=__next>{shown}</div>"))
    assert result.strategy == "readability"
    assert "ferry" not in result.text


def test_a_list_of_links_is_not_replaced_by_a_text_of_the_state() -> None:
    links = "".join(
        f'<li><a href="/{i}">Timetable of the ferry from pier number {i} to the islands</a></li>' for i in range(30)
    )
    result = extract(page({"body": HTML}).replace("<div id=__next></div>", f"<ul>{links}</ul>"))
    assert SENTENCES[0] not in result.text


@pytest.mark.parametrize(
    "value",
    [
        {"body": HTML},
        {"data": [{"article": {"content": "\n".join(SENTENCES)}}]},
        {"blocks": [{"type": "paragraph", "text": sentence} for sentence in SENTENCES]},
        {"body": [{"_type": "block", "children": [{"text": sentence}]} for sentence in SENTENCES]},
        {"paragraphs": SENTENCES},
    ],
)
def test_texts_are_found_in_the_shapes_publishing_systems_give_them(value: Any) -> None:
    assert read({"props": value}) == " ".join(SENTENCES) or read({"props": value}) == "".join(SENTENCES)


@pytest.mark.parametrize(
    "value", [{}, [], None, 7, {"description": HTML}, {"body": "A few words."}, {"token": "x" * 5_000}]
)
def test_a_state_without_a_text_gives_nothing(value: Any) -> None:
    assert read(value) is None


@pytest.mark.parametrize("source", ["{", "[" * 100_000, "", "null", '{"body": ' * 3_000])
def test_a_broken_state_gives_nothing(source: str) -> None:
    assert simplified.find_state_body(dom.parse(f'<script type="application/json">{source}</script>')) is None


def test_a_state_that_is_too_large_is_not_read() -> None:
    assert read({"body": HTML, "rest": "x" * 2_000_000}) is None


def test_markup_in_the_state_is_cleaned_like_any_other() -> None:
    hostile = HTML + '<script>alert(1)</script><img src=x onerror="alert(1)"><p onclick="x()">The end of it all.</p>'
    result = extract(page({"body": hostile + "<div>" * 5_000}))
    assert "The end of it all." in result.text
    assert "alert" not in result.html
    assert "onclick" not in result.html

"""Pages as large as the limit allows, in many shapes: each gives a result that is bounded and says when it was cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from pagekeep import Options, Page, PagekeepError, TooLarge, extract
from pagekeep.extraction.locate.survey import MAX_NODES

LIMIT = Options().max_bytes
PROSE = "<p>" + "Words of the page, and more of them, stand here in a row. " * 20 + "</p>"
LAST = "<p>The last paragraph of the page stands here, behind everything that was piled up before it.</p>"


def filled(unit: str, before: str = "", size: int = LIMIT) -> str:
    return before + unit * ((size - len(before)) // len(unit))


ENDLESS: dict[str, Callable[[], str]] = {
    "tiny paragraphs": lambda: filled("<p>x"),
    "links": lambda: filled('<a href="/a">b</a> '),
    "cells": lambda: filled("<tr><td>a<td>b<td>c", "<table>"),
    "line breaks": lambda: filled("a<br>", "<p>"),
    "items": lambda: filled("<li>ab", "<ul>"),
    "spans in code": lambda: filled("<span class=k>x</span>\n", "<pre><code>"),
    "unclosed bold": lambda: filled("<b>x ", "<p>"),
    "nested lists": lambda: filled("<ul><li>a"),
}
LONG: dict[str, Callable[[], str]] = {
    "paragraphs": lambda: filled("<p>The miller counted the sacks, one by one, until the tide turned.</p>"),
    "one text": lambda: filled("word ", "<p>"),
    "code": lambda: filled("x = 1\n", "<pre>"),
    "ideographs": lambda: filled("汉字，", "<p>", LIMIT // 3),
    "dollars": lambda: filled("$x$ ", "<p>"),
    "addresses": lambda: filled("http://a.example/c ", "<p>"),
}
PILED: dict[str, Callable[[], str]] = {
    "200,000 attributes": lambda: "<p " + " ".join(f'a{i}="v"' for i in range(200_000)) + ">few words</p>",
    "200,000 class names": lambda: '<div class="' + " ".join(f"c{i}" for i in range(200_000)) + '">few words</div>',
    "one long class name": lambda: '<div class="' + "nav-" * 500_000 + '">few words</div>',
    "srcset of 400,000": lambda: (
        '<img src="a.png" srcset="' + ", ".join(f"i{i}.png {i}w" for i in range(400_000)) + '">'
    ),
    "srcset of commas": lambda: '<img src="a.png" srcset="' + "," * 4_000_000 + '">',
    "a long address": lambda: '<a href="https://a.example/' + "a" * 8_000_000 + '">few words</a>',
    "a long title": lambda: "<title>" + "long " * 1_500_000 + "</title>",
    "many descriptions": lambda: '<meta name="description" content="said again">' * 100_000,
    "structured data of 150,000": lambda: (
        '<script type="application/ld+json">['
        + ",".join(f'{{"@type":"Article","author":{{"name":"a{i}"}}}}' for i in range(150_000))
        + "]</script>"
    ),
    "80,000 structured data": lambda: (
        '<script type="application/ld+json">{"@type":"Article","headline":"x"}</script>' * 80_000
    ),
    "unclosed structured data": lambda: '<script type="application/ld+json">' + "[" * 4_000_000 + "</script>",
    "entities": lambda: "<p>" + "&amp;" * 1_500_000 + "</p>",
    "what looks like entities": lambda: "<p>" + "&nothing" * 800_000 + "</p>",
    "comments": lambda: "<!-- c -->" * 800_000,
    "scripts": lambda: "<script>x</script>" * 400_000,
    "NULs": lambda: "<p>" + "\0" * 8_000_000 + "</p>",
    "newlines": lambda: "<p>a" + "\n" * 8_000_000 + "b</p>",
    "spans of rows and columns": lambda: "<table>" + "<tr><td rowspan=65534 colspan=1000>a" * 2_000 + "</table>",
    "a wide row above narrow ones": lambda: "<table><tr>" + "<td>a" * 20_000 + "<tr><td>x" * 20_000 + "</table>",
    "Markdown signs": lambda: "<p>" + "*_`[" * 1_500_000 + "</p>",
    "angle brackets": lambda: "<p>" + "&lt;" * 1_500_000 + "</p>",
    "backticks": lambda: "<p>a <code>" + "`" * 500_000 + "</code></p>",
}

FEW = frozenset(
    (
        *(
            "tiny paragraphs",
            "paragraphs",
            "code",
            "200,000 attributes",
            "srcset of 400,000",
            "a long address",
        ),
        *("structured data of 150,000", "entities", "a wide row above narrow ones"),
    )
)
"""Shapes that `make test` reads, one for each part that a page can be large in; `make hostile` reads them all."""


def marked(shapes: Iterable[str]) -> list[Any]:
    """Mark all but a few shapes as `full`."""
    return [pytest.param(shape, marks=[] if shape in FEW else [pytest.mark.full]) for shape in shapes]


def was_cut(page: Page) -> bool:
    return any(warning.code == "truncated" for warning in page.trace.warnings)


@pytest.mark.parametrize("shape", marked(ENDLESS))
def test_a_page_of_endless_nodes_is_cut_at_the_limit_and_says_so(shape: str) -> None:
    page = extract(ENDLESS[shape](), "https://mill.example/blog/large")
    assert was_cut(page)
    assert page.quality.score <= 50
    assert page.quality.colour != "green"
    assert page.word_count <= MAX_NODES


@pytest.mark.parametrize("shape", marked(LONG))
def test_a_long_page_of_few_nodes_is_kept_whole(shape: str) -> None:
    html = LONG[shape]()
    page = extract(html, "https://mill.example/blog/large")
    assert not was_cut(page)
    assert len(page.text) > len(html) / 4


@pytest.mark.parametrize("shape", marked(PILED))
def test_the_text_behind_a_pile_is_kept(shape: str) -> None:
    page = extract(PILED[shape]() + PROSE * 3 + LAST, "https://mill.example/blog/large")
    assert "The last paragraph of the page" in page.text
    assert not was_cut(page)


@pytest.mark.parametrize("count", [10_000, pytest.param(50_000, marks=pytest.mark.full)])
def test_thousands_of_footnotes_are_cut_or_kept_but_never_lost_in_silence(count: int) -> None:
    claims = "".join(f'<p>Claim {i}<sup id="r{i}"><a href="#fn{i}">{i}</a></sup></p>' for i in range(count))
    notes = "".join(f'<li id="fn{i}">Note {i} <a href="#r{i}">back</a></li>' for i in range(count))
    page = extract(f'<article>{PROSE}{claims}<ol class="footnotes">{notes}</ol></article>')
    assert f"Claim {count * 4 // 5}" in page.text
    assert was_cut(page) or f"Note {count - 1}" in page.text


def test_a_page_over_the_limit_is_refused_with_a_clear_error() -> None:
    with pytest.raises(TooLarge, match="too large"):
        extract(b"<p>" + b"a" * LIMIT)
    with pytest.raises(TooLarge):
        extract("<p>" + "a" * LIMIT)


def test_a_page_five_times_over_the_limit_is_refused_before_it_is_read() -> None:
    with pytest.raises(TooLarge) as caught:
        extract(b"\xff" * (5 * LIMIT))
    assert caught.value.suggestions


def test_large_rubbish_gives_a_result_or_one_of_our_errors() -> None:
    for unit in (b"<", b"\xff", b"\0<", b"&#", b"<!--", b"<![CDATA[", b"<a b='", b"\x1b$B<p>", b"</p>"):
        try:
            page = extract(unit * (300_000 // len(unit)))
        except PagekeepError:
            continue
        assert page.document.startswith("---\n")


def test_text_behind_the_cut_does_not_lift_the_limit() -> None:
    page = extract("<div>" + "<p>x" * 400_000 + "</div>tail words", "https://mill.example/blog/large")
    assert was_cut(page)
    assert page.word_count <= MAX_NODES

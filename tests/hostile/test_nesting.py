"""Nests of any depth end in a result, and the text behind them is kept or the page says that it was cut."""

from __future__ import annotations

from typing import Any

import pytest

from pagekeep import dom, extract

PROSE = "<p>" + "The miller counted the sacks, one by one, until the tide turned again. " * 4 + "</p>"
AFTER = "<p>What stands behind the nest is as much a part of the page as what stands before it, says the miller.</p>"

NESTS = (
    "div",
    "span",
    "b",
    "a",
    "p",
    "ul li",
    "ol",
    "table tr td",
    "blockquote",
    "section",
    "font",
    "form",
    "pre",
    "dl dd",
    "h2",
    "details",
    "figure",
    "sup",
    "math mrow",
    "svg g",
    "button",
    "ruby rt",
    "fieldset",
)

FEW = frozenset({"div", "b", "ul li", "table tr td"})
"""Nests that `make test` also makes very deep; `make hostile` does it with all."""


def to_depths(*tags: str) -> list[Any]:
    """Return every nest at every depth; very deep ones of all but a few are marked `full`."""
    return [
        pytest.param(one, depth, marks=[pytest.mark.full] if depth > 1_000 and one not in FEW else [])
        for one in tags
        for depth in (1_000, 10_000)
    ]


def nest(tags: str, depth: int, *, closed: bool) -> str:
    opening = "".join(f"<{tag}>" for tag in tags.split())
    closing = "".join(f"</{tag}>" for tag in reversed(tags.split())) if closed else ""
    return f"<title>Mill</title>{PROSE * 2}{opening * depth}innermost{closing * depth}{PROSE * 3}{AFTER}"


@pytest.mark.parametrize(("tags", "depth"), to_depths(*NESTS))
def test_text_behind_a_nest_is_kept(tags: str, depth: int) -> None:
    page = extract(nest(tags, depth, closed=True), "https://mill.example/blog/nest")
    assert "behind the nest" in page.text
    assert "behind the nest" in page.markdown


@pytest.mark.parametrize(
    ("tags", "depth"),
    to_depths("div", "span", "b", "ul li", "table tr td", "blockquote", "font", "form", "dl dd"),
)
def test_text_behind_a_nest_that_is_never_closed_is_kept(tags: str, depth: int) -> None:
    page = extract(nest(tags, depth, closed=False), "https://mill.example/blog/nest")
    assert "behind the nest" in page.text


@pytest.mark.parametrize(
    "tags",
    ["table tr td", *(pytest.param(one, marks=pytest.mark.full) for one in ("div", "b", "ul li", "blockquote", "a b"))],
)
def test_a_nest_of_a_hundred_thousand_keeps_the_text_or_says_that_it_was_cut(tags: str) -> None:
    page = extract(nest(tags, 100_000, closed=True), "https://mill.example/blog/nest")
    assert "behind the nest" in page.text or any(warning.code == "truncated" for warning in page.trace.warnings)


@pytest.mark.parametrize("depth", [1_000, 10_000])
def test_a_flattened_nest_is_noted(depth: int) -> None:
    codes = [warning.code for warning in extract(nest("div", depth, closed=True)).trace.warnings]
    assert "flattened" in codes
    assert "truncated" not in codes


def test_an_ordinary_depth_is_not_noted() -> None:
    assert extract(nest("div", 100, closed=True)).trace.warnings == ()


def test_the_words_at_the_bottom_of_a_nest_are_kept() -> None:
    page = extract(nest("div", 10_000, closed=True), "https://mill.example/blog/nest")
    assert "innermost" in page.text


@pytest.mark.parametrize("tags", ["div", "ul li", "blockquote", "section b"])
def test_no_output_is_deeper_than_the_bound(tags: str) -> None:
    page = extract(nest(tags, 10_000, closed=True))
    root = dom.parse_fragment(page.html)
    assert dom.bound_depth(root, dom.MAX_DEPTH + 8) == 0


def test_a_nest_in_the_head_of_the_page_does_no_harm() -> None:
    page = extract("<noscript>" + "<div>" * 5_000 + "</div>" * 5_000 + "</noscript>" + PROSE * 3 + AFTER)
    assert "behind the nest" in page.text


def test_nested_json_in_structured_data_does_no_harm() -> None:
    for depth in (900, 100_000):
        for opening, closing in (("[", "]"), ('{"a":', "}"), ('{"@graph":[', "]}")):
            data = opening * depth + "1" + closing * depth
            page = extract(f'<script type="application/ld+json">{data}</script>{PROSE * 3}{AFTER}')
            assert "behind the nest" in page.text

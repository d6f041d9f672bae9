"""The article in the stream that a React page carries for its script."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pagekeep import dom, extract
from pagekeep.extraction.locate.strategies import simplified

SENTENCES = [
    f"On day {i} the ferry – late as ever – left the harbour, and nobody on the pier knew why it had waited."
    for i in range(12)
]
HTML = "".join(f"<p>{sentence}</p>" for sentence in SENTENCES)


def element(tag: str, children: Any, **props: Any) -> list[Any]:
    return ["$", tag, None, {**props, "children": children}]


def page(stream: str, size: int = 700) -> str:
    """A page that shows nothing until its script has run; the stream is cut into pieces."""
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    scripts = "".join(
        f"<script>self.__next_f.push([1,{json.dumps(piece).replace('</', '<' + chr(92) + '/')}])</script>"
        for piece in pieces
    )
    start = "<script>(self.__next_f=self.__next_f||[]).push([0])</script>"
    return f"<!doctype html><title>The late ferry</title><body><div id=__next></div>{start}{scripts}"


def rows(*values: Any) -> str:
    return "".join(f"{number:x}:{json.dumps(value)}\n" for number, value in enumerate(values, 5))


PARAGRAPHS = [element("p", sentence) for sentence in SENTENCES]
NESTED = [
    element("p", ["On ", element("em", ["day ", 3]), ", ", element("a", "nobody", href="/x"), f" came. {SENTENCES[0]}"])
]
MENU = element("nav", [element("li", f"Entry {i}") for i in range(9)])
TEXT_ROW = f"9:T{len(HTML.encode()):x},{HTML}"


@pytest.mark.parametrize(
    "stream",
    [
        '1:HL["/a.css","style"]\n2:I[123,["x"],"Page"]\n' + rows(element("main", [MENU, *PARAGRAPHS])),
        rows(element("$L2", "$6", className="x"), element("article", PARAGRAPHS)),
        TEXT_ROW + rows(["$", "div", None, {"dangerouslySetInnerHTML": {"__html": "$9"}}]),
        rows(["$", "div", None, {"dangerouslySetInnerHTML": {"__html": HTML}}]),
    ],
)
def test_an_article_that_is_only_in_the_stream_is_found(stream: str) -> None:
    result = extract(page(stream))
    assert result.strategy == "simplified"
    assert [sentence for sentence in SENTENCES if sentence not in result.text] == []
    assert "Entry" not in result.text


def test_inline_elements_are_part_of_their_paragraph() -> None:
    made = simplified.find_stream_body(dom.parse(page(rows(element("main", NESTED)))))
    assert made is not None
    assert dom.text_of(made).startswith("On day 3, nobody came.")


@pytest.mark.parametrize(
    "stream",
    ["", "5:", "5:[", '5:["$","p"]\n', "5:Tffff,x", rows("$5"), rows(element("p", "$5")), '5:["$","p",null,[]]\n'],
)
def test_a_stream_that_is_not_as_expected_is_ignored(stream: str) -> None:
    assert simplified.find_stream_body(dom.parse(page(stream))) is None

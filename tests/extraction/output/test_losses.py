"""The loss check: what stood in the content and what is left of it."""

from __future__ import annotations

import pytest

from pagekeep import dom, extract, markdown
from pagekeep.extraction.output import losses

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still. "
RICH = (
    "<pre><code>x = 1</code></pre><pre><code>y = 2</code></pre><ul><li>one</li></ul>"
    "<table><tbody><tr><td>a</td><td>b</td></tr></tbody></table>"
    '<p><img src="https://mill.example/a.png" alt="a"> <span class="math-inline">x^2</span></p>'
    '<p><a href="https://mill.example/">the mill</a> and <a href="https://sea.example/">the sea</a></p>'
)


def told(html: str, written: str | None = None, page: losses.Counts | None = None) -> list[str]:
    root = dom.parse_fragment(html)
    return losses.find_losses(page or {}, root, markdown.to_markdown(root) if written is None else written)


def test_nothing_is_said_to_be_lost_when_all_is_there() -> None:
    assert told(RICH) == []


@pytest.mark.parametrize(
    ("vanished", "sentence"),
    [
        ("```\nx = 1\n```", "1 of 2 code blocks lost"),
        ("!", "1 of 1 images lost"),
        ("$", "1 of 1 math lost"),
        ("- one", "all 1 lists lost"),
        ("| --- | --- |", "all 1 tables lost"),
        ("](https://sea.example/)", "1 of 2 links lost"),
    ],
)
def test_what_vanished_on_the_way_to_markdown_is_told(vanished: str, sentence: str) -> None:
    whole = markdown.to_markdown(dom.parse_fragment(RICH))
    assert vanished in whole
    assert told(RICH, whole.replace(vanished, "")) == [sentence]


@pytest.mark.parametrize(
    "html",
    [
        "<table><tbody><tr><td>a</td><td><ul><li>one</li></ul></td></tr></tbody></table>",
        "<table><tbody><tr><td>a</td><td><pre><code>x\ny</code></pre></td></tr></tbody></table>",
        '<p><code>see <a href="https://mill.example/">mill</a>()</code></p>',
        '<p><a href="https://mill.example/"><img src="https://mill.example/a.png"></a></p>',
        '<p>a<sup class="footnote-ref"><a href="#fn-1">1</a></sup></p>'
        '<section class="footnotes"><ol><li id="fn-1">note</li></ol></section>',
        "<p>It costs $5, not $6.</p>",
    ],
)
def test_what_markdown_writes_in_another_way_is_not_lost(html: str) -> None:
    assert told(html) == []


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("<pre>x = 1</pre>", "code blocks"),
        ("<ul><li>one</li></ul>", "lists"),
        ('<img src="/a.png">', "images"),
        ("<math><mi>x</mi></math>", "math"),
        ('<a href="/a">a</a><a href="/b">b</a><a href="/c">c</a>', "links"),
    ],
)
def test_what_vanished_in_the_clean_up_is_told(page: str, kind: str) -> None:
    counts = losses.count_in_page(dom.parse_fragment(page))
    assert told("<p>words</p>", page=counts) == [f"all {counts[kind]} {kind} lost in the clean-up"]


@pytest.mark.parametrize(
    "page",
    [
        "<ul><li></li><li> </li></ul>",
        "<ul><style>.a{}</style><li></li></ul>",
        '<img src="/spacer.gif">',
        '<img src="data:image/gif;base64,R0lGODlhAQ">',
        '<img src="/face.jpg" width="32" height="32">',
        '<a href="#top">top</a><a href="">x</a><a href="javascript:go()">y</a>',
        '<h2>a <a href="/x#a">¶</a></h2>',
    ],
)
def test_what_shows_nothing_is_no_loss(page: str) -> None:
    assert told("<p>words</p>", page=losses.count_in_page(dom.parse_fragment(page))) == []


def test_what_the_clean_up_took_by_design_is_noted() -> None:
    pictures = '<img src="/a.png"><p>x</p><img src="/spacer.gif">'
    page = extract(f"<article><p>{SENTENCE * 4}</p><p>{SENTENCE * 4}</p>{pictures}</article>", "https://mill.example/")
    assert any("kept 1 of 2 images" in warning.text for warning in page.trace.warnings if warning.code == "reduced")
    assert next(check for check in page.quality.checks if check.name == "nothing_lost").passed

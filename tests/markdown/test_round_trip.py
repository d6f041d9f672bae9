"""Markdown -> HTML -> words keeps the words and the structure, whatever the text looks like."""

from __future__ import annotations

from collections import Counter
from html import escape

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pagekeep import dom
from pagekeep.extraction.clean import clean as clean_up
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.markdown import to_markdown
from pagekeep.markdown.inline.escape import clean
from pagekeep_lab.markdown_cases import find_differences

from .render import markdown, raw_html, render, texts, words

NASTY = (
    "# ## - + * ** *** _ __ ___ ~ ~~ ~~~ ` `` ``` > | || [ ] ( ) ][ ]( []: [x] [^1] [!note] ! ![ ^ ^[ $ $$ $5 5$ \\ \\\\ "
    "< <b> </b> <!-- <a@b.c> & &amp; &#35; 1. 2) 10. = == --- *** : :-- |- |-| -- http://x.y/a_b_c a*b*c a_b_c __init__ "
    "~5 a~b~c “quote” （括号） 汉字 テキスト العربية 😀 ☃ «x» it's don't e.g. x, y. z: \u200b \u00a0 \u3000 \x00 \x07"
).split(" ")
PIECES = [piece + gap for piece in ["word", "two words", "42", "end.", *NASTY] for gap in ("", " ", "\n")]
piece = st.one_of(st.sampled_from(PIECES), st.text(max_size=6))


def text() -> st.SearchStrategy[str]:
    return st.lists(piece, min_size=1, max_size=4).map(lambda pieces: escape("".join(pieces)))


def element(tag: str, inner: st.SearchStrategy[str], attrs: str = "") -> st.SearchStrategy[str]:
    return inner.map(lambda html: f"<{tag}{attrs}>{html}</{tag}>")


def _inline(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    content = st.lists(inner, min_size=1, max_size=3).map("".join)
    tags = ["strong", "em", "s", "span", "mark", "cite", "small", "abbr"]
    links = st.sampled_from([' href="https://x.y/a_(b)"', ' href="https://x.y/a b)|" title="T &quot;x&quot;"'])
    return st.one_of(
        *(element(tag, content) for tag in tags),
        links.flatmap(lambda attrs: element("a", content, attrs)),
        element("code", text()),
    )


inline = st.recursive(text(), _inline, max_leaves=8)
line = st.lists(inline, min_size=1, max_size=4).map("".join)
broken_line = st.lists(line, min_size=1, max_size=3).map("<br>".join)
code = text().map(lambda inner: f'<pre><code class="language-c">{inner}</code></pre>')
cell = st.tuples(st.sampled_from(["td", "th", 'td colspan="2"', 'td rowspan="2"']), line).map(
    lambda made: f"<{made[0]}>{made[1]}</{made[0][:2]}>"
)
table = st.lists(st.lists(cell, min_size=1, max_size=3).map("".join), min_size=1, max_size=3).map(
    lambda rows: "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"
)
simple = st.one_of(
    element("p", broken_line),
    element("h2", line),
    element("h4", line),
    code,
    table,
    line,
    st.just("<hr>"),
    element("figcaption", line).map(lambda made: f'<figure><img src="https://x.y/i.png" alt="">{made}</figure>'),
)


def _containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    content = st.lists(inner, min_size=1, max_size=3).map("".join)
    items = st.lists(element("li", content), min_size=1, max_size=3).map("".join)
    definitions = st.lists(st.one_of(element("dt", line), element("dd", content)), min_size=1, max_size=3).map("".join)
    return st.one_of(
        element("ul", items),
        element("ol", items),
        element("ol", items, ' start="7"'),
        element("dl", definitions),
        element("blockquote", content),
        element("div", content),
        element("details", content),
    )


blocks = st.lists(st.recursive(simple, _containers, max_leaves=6), min_size=1, max_size=4).map("".join)
thorough = settings(suppress_health_check=list(HealthCheck))


@thorough
@given(blocks)
def test_words_come_back_in_order_and_no_html_is_left_over(html: str) -> None:
    written = markdown(html)
    assert words(render(written)) == words(dom.parse_fragment(html))
    assert raw_html(written) == []


@thorough
@given(blocks)
def test_structure_comes_back(html: str) -> None:
    tree, back = dom.parse_fragment(html), render(markdown(html))
    for css in ("h2", "h4", "th, td"):
        assert texts(back, css) == texts(tree, css)
    assert code_in(back) == code_in(tree)
    assert len(texts(back, "li")) == len(texts(tree, "li, dd"))


@thorough
@given(st.lists(inline, min_size=1, max_size=5).map("".join))
def test_nothing_is_emphasised_linked_or_code_that_was_not(html: str) -> None:
    tree, back = dom.parse_fragment(html), render(markdown(html))
    for source, rendered in (("em, cite", "em"), ("strong, mark", "strong"), ("s", "s"), ("a", "a"), ("code", "code")):
        assert letters(back, rendered) <= letters(tree, source)


# Pages as they come: anything in anything, brought into clean HTML first.

loose = st.one_of(
    line,
    element("sup", text()),
    element("sub", text()),
    element("q", line),
    element("kbd", text()),
    element("span", text(), ' class="math-tex"'),
    st.just('<img src="https://x.y/i.png" alt="a [b] *c*">'),
    st.just("<br>"),
    st.just("<ruby>漢<rt>kan</rt></ruby>"),
    st.just('<sup><a href="#fn1">1</a></sup>'),
)
raw_simple = st.one_of(
    simple, loose, element("pre", text()), element("figcaption", line), element("address", broken_line)
)


def _boxes(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    content = st.lists(inner, min_size=1, max_size=4).map("".join)
    tags = [
        "div",
        "section",
        "b",
        "i",
        "a",
        "li",
        "ul",
        "ol",
        "dl",
        "dt",
        "dd",
        "td",
        "figure",
        "blockquote",
        "center",
        "h3",
    ]
    cells = st.lists(element("td", content), min_size=1, max_size=3).map(lambda row: f"<tr>{''.join(row)}</tr>")
    rows = st.lists(cells, min_size=1, max_size=3).map("".join)
    return st.one_of(
        _containers(inner),
        st.sampled_from(tags).flatmap(lambda tag: element(tag, content, ' href="/x"' if tag == "a" else "")),
        element("table", rows),
        element("div", content, ' class="alert alert-info"'),
        element("li", content, ' id="fn1"').map(lambda item: f"<ol>{item}</ol>"),
        element("ul", content.map(lambda inside: f'<li><input type="checkbox">{inside}</li>')),
    )


raw_pages = st.lists(st.recursive(raw_simple, _boxes, max_leaves=10), min_size=1, max_size=4).map("".join)


@thorough
@given(raw_pages)
def test_any_nest_of_html_comes_back_from_markdown_as_the_clean_html_said(html: str) -> None:
    assert faults_of(html) == []


def faults_of(html: str) -> list[str]:
    safe, root = sanitise(clean_up(dom.parse_fragment(html), "https://x.y/")[0])
    return find_differences(safe, to_markdown(root))


@pytest.mark.parametrize(
    "html",
    [
        '<p>10<sup>3</sup><span class="math-tex">x</span> and <span class="math-tex">y</span>\u2460</p>',
        "<blockquote>[!note] as people write it</blockquote>",
    ],
)
def test_what_once_did_not_come_back_does(html: str) -> None:
    assert faults_of(html) == []


def code_in(root: dom.Element) -> list[str]:
    found = (clean(dom.text_of(node)).removesuffix("\n") for node in dom.select(root, "pre"))
    return [code for code in found if code.strip()]


def letters(root: dom.Element, css: str) -> Counter[str]:
    return Counter(letter for found in texts(root, css) for letter in found if letter != " ")

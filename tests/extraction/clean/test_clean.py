"""What holds for the clean-up as a whole, whatever the page."""

from __future__ import annotations

import re
from itertools import accumulate

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pagekeep import dom
from pagekeep.extraction.clean import clean
from pagekeep.extraction.output.sanitise import sanitise

INLINE = ["b", "i", "em", "strong", "span", "a", "code", "small", "u", "font", "sub", "mark", "label", "x-word"]
BLOCK = [
    "p", "div", "section", "article", "blockquote", "h2", "h4", "ul", "ol", "li", "dl", "dt", "dd", "center", "details",
    "summary", "address", "table", "figure", "header", "pre", "figcaption",
]  # fmt: skip
APART = frozenset(BLOCK) | {"br", "hr", "tr", "td", "th", "tbody", "thead"}


def words(node: dom.Node) -> list[str]:
    """The words as a browser shows them: blocks and line breaks part them, inline elements do not."""
    out: list[str] = []

    def walk(current: dom.Node) -> None:
        for child in current.children:
            if isinstance(child, dom.Text):
                out.append(child.data)
            elif isinstance(child, dom.Element):
                if child.tag in APART:
                    out.append(" ")
                walk(child)
                if child.tag in APART:
                    out.append(" ")

    walk(node)
    return "".join(out).split()


def _element(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    tags = st.sampled_from(INLINE + BLOCK)
    inner = st.lists(children, max_size=4).map("".join)

    def write(tag: str, content: str) -> str:
        if tag == "table":
            return f"<table><tr><th>{content}</th><td>cell</td></tr><tr><td>{content}</td><td></td></tr></table>"
        href = ' href="https://example.org/x"' if tag == "a" else ""
        return f"<{tag}{href}>{content}</{tag}>"

    return st.builds(write, tags, inner)


def _inline(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    inner = st.lists(children, max_size=3).map("".join)
    return st.builds(lambda tag, content: f"<{tag}>{content}</{tag}>", st.sampled_from(INLINE), inner)


TEXT = st.text(alphabet="abx déß茶 \n", min_size=1, max_size=8)  # no "c": above a block of code that is its language
LEAF = st.one_of(TEXT, st.sampled_from(["<br>", "<hr>", " ", "<!-- c -->", "<span></span>", "<br><br>"]))
PAGE = st.lists(st.recursive(LEAF, _element, max_leaves=14), max_size=5).map("".join)


@given(PAGE)
def test_no_word_is_lost_glued_or_moved(html):
    root = dom.parse_fragment(html)
    before = words(root)
    _, tree = sanitise(clean(root, "https://example.org/")[0])
    after = words(tree)
    assert "".join(after) == "".join(before)
    assert ends(before) <= ends(after)


def ends(parts: list[str]) -> set[int]:
    """Where words end, counted in characters from the start."""
    return set(accumulate(map(len, parts)))


@given(st.lists(st.recursive(LEAF.filter(lambda leaf: leaf != "<hr>"), _inline, max_leaves=8), max_size=5).map("".join))
def test_inline_elements_never_part_a_word(html):
    root = dom.parse_fragment(f"<p>{html}</p>")
    before = words(root)
    assert words(sanitise(clean(root, None)[0])[1]) == before


@given(PAGE)
def test_clean_html_comes_through_a_second_time_unchanged(html):
    # Code is a block or not, and a line above it its label ("c") or not, by neighbours that the first pass changes.
    assume("<code" not in html and "<pre" not in html)
    once, tree = sanitise(clean(dom.parse_fragment(html), "https://example.org/")[0])
    twice, _ = sanitise(clean(tree, "https://example.org/")[0])
    assert twice == once


@given(PAGE)
def test_no_element_is_left_empty(html):
    _, tree = sanitise(clean(dom.parse_fragment(html), None)[0])
    empty = [
        node.tag for node in dom.elements(tree) if node.tag not in ("br", "hr", "img", "td", "th") and not node.children
    ]
    assert empty == []


ODD = st.sampled_from(
    [
        '<img srcset="a 1x, b">', '<noscript><img src="x">', "<picture>", '<sup><a href="#fn1">1</a></sup>', '<li id="fn1">',
        '<div class="admonition note">', '<blockquote class="twitter-tweet">', "<math><mfrac><mi>x", '<span class="katex">',
        '<script type="math/tex">x^2', '<pre><span class="line">', '<table class="highlighttable"><tr><td><pre>1', "<iframe>",
        '<video src="a.mp4">', '<p class="caption">', "<figcaption>", "<li><input type=checkbox>", "</div>", "</p>", "\x00",
        '<a href="http://[">', "$$", "\\(", "<mjx-container><mjx-math><mjx-msubsup>", "<dt>", "<td class=blob-code>", "<button>",
        '<div class="cm-content"><div class="cm-line">', "<template>", "<svg><foreignObject><p>", "text", " ", "<select><option>",
    ]
)  # fmt: skip


@given(
    st.lists(ODD, max_size=12).map("".join), st.sampled_from([None, "https://example.org/a", "not a url", "http://["])
)
def test_any_tree_is_cleaned_without_error_and_alike_each_time(html, base_url):
    first = sanitise(clean(dom.parse_fragment(html), base_url)[0])[0]
    assert sanitise(clean(dom.parse_fragment(html), base_url)[0])[0] == first


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 480 + "<p>x</p>" * 3000,
        "<span>" * 480 + "x<div>y</div>" * 1000,
        "<blockquote>" * 300 + "x<p>y",
        '<div class="admonition note">' * 300 + "x",
        "<ul><li>" * 240 + "x",
        "<table><tr><td>" * 120 + "x",
        "<figure>" * 400 + "<img src=https://example.org/a.png>",
        "<p " + " ".join(f"a{number}=1" for number in range(30000)) + ">x",
        '<a href="#fn1">1</a>' * 2000 + "<ol><li id=fn1>x</ol>",
        "$x " * 5000,
        "<math>" + "<mrow>" * 450 + "<mi>x",
    ],
)
def test_hostile_pages_keep_their_text(html):
    root = dom.parse_fragment(html)
    dom.bound_depth(root)
    html_out, _ = sanitise(clean(root, "https://example.org/")[0])
    assert re.search(r"[x1]|<img", html_out)


def test_a_page_of_nothing_is_nothing():
    assert sanitise(clean(dom.parse_fragment(""), None)[0])[0] == ""
    assert sanitise(clean(dom.parse_fragment(" <div> <p></p></div><!-- x -->"), None)[0])[0] == ""


def test_the_root_itself_is_returned():
    root = dom.parse_fragment("<p>x</p>")
    assert clean(root, None)[0] is root

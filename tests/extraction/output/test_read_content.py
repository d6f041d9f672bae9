"""Content that is read without the sanitiser is what the sanitiser leaves of it; whatever could differ is refused."""

from __future__ import annotations

import random

import pytest

from pagekeep import dom
from pagekeep.extraction.output.read_content import read_content
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.model.clean_tree import CleanElement, CleanNode, read_tree

ALLOWED = (
    "p h2 h3 ul ol li dl dt dd blockquote hr div section details summary a strong em code sup small br ruby rt rp span pre img "
    "figure figcaption table caption thead tbody tr th td font u"
).split()
OTHERS = "button select svg math iframe script style xmp textarea image nobr body col template marquee x-tag wbr noindex y-".split()
INSIDE = {
    "table": ("caption", "thead", "tbody"), "thead": ("tr",), "tbody": ("tr",), "tr": ("th", "td"), "ul": ("li",),
    "ol": ("li",), "dl": ("dt", "dd"), "ruby": ("rt", "rp"),
}  # fmt: skip
TEXTS = (
    "a",
    "word ",
    "  two  words ",
    "\n",
    "\n\nx",
    " ",
    "",
    "<b>",
    "&amp;",
    "\xa0",
    "\r\n",
    "\0",
    '"',
    "\ud800",
    "\x1e",
)
NAMES = "href src title alt class id lang dir start align colspan data-done data-callout width style onclick".split()
VALUES = (
    "", "x", "fn-1", "#fn-1", "https://a.example/?y=1&z", "http://[::1]/", "https://", "javascript:alert(1)", "data:x",
    "mailto:a@b.example", "language-py x", "math-block", "footnotes", "task", "rtl", "en", " 10 ", "10px", "true", "left",
    "https://1.2.3.4.5/", "https://xn--a/", "HTTPS://A.EXAMPLE/", "http://a.example:99999/", " https://a.example/ ", '"q"',
)  # fmt: skip


def test_what_is_read_is_what_the_sanitiser_leaves() -> None:
    chance = random.Random(20)
    read = 0
    for _ in range(3_000):
        root = dom.element("div", None, *make_nodes(chance, 0, "div"))
        html, parsed = sanitise(root)
        content = read_content(root)
        if content is not None:
            read += 1
            assert outline(content[0].root.children) == outline(read_tree(parsed).root.children)
            assert content[1] == html
    assert read > 300


def make_nodes(chance: random.Random, depth: int, parent: str) -> list[dom.Node | str]:
    """Return random nodes, most of them where HTML allows them."""
    nodes: list[dom.Node | str] = []
    for _ in range(chance.randrange(5)):
        if depth > 5 or chance.random() < 0.4:
            nodes.append(chance.choice(TEXTS if chance.random() < 0.3 else TEXTS[:4]))
            continue
        tags = INSIDE[parent] if parent in INSIDE and chance.random() < 0.9 else ALLOWED
        tag = chance.choice(OTHERS if chance.random() < 0.03 else tags)
        attributes = {chance.choice(NAMES): chance.choice(VALUES) for _ in range(chance.randrange(3))}
        inner = [] if tag in ("br", "hr", "img") else make_nodes(chance, depth + 1, tag)
        nodes.append(dom.element(tag, attributes if chance.random() < 0.3 else None, *inner))
    return nodes


def outline(nodes: list[CleanNode]) -> list[object]:
    """Return the nodes as values, without white space at both ends of the content."""
    shown = [
        node if isinstance(node, str) else (node.tag, node.attributes, outline([" ", *node.children, " "]))
        for node in nodes
        if node != ""
    ]
    while shown and isinstance(shown[0], str) and not shown[0].strip():
        shown.pop(0)
    while shown and isinstance(shown[-1], str) and not shown[-1].strip():
        shown.pop()
    if shown and isinstance(shown[0], str):
        shown[0] = shown[0].lstrip()
    if shown and isinstance(shown[-1], str):
        shown[-1] = shown[-1].rstrip()
    return shown


@pytest.mark.parametrize(
    "html",
    [
        '<p>a <a href="https://b.example/">b</a> <em>c</em></p><ul><li>d</li></ul>',
        "<table><caption>a</caption><tbody><tr><td>b</td></tr></tbody></table>",
        '<pre><code class="language-py">a\n  b</code></pre><div class="math-block">x\n  y</div>',
        '<figure><img src="https://b.example/a.png" alt="" onerror="alert(1)"></figure><p style="x" id="y">z</p>',
    ],
)
def test_clean_html_is_read_without_the_sanitiser(html: str) -> None:
    assert read_content(dom.parse_fragment(html)) is not None


@pytest.mark.parametrize(
    "root",
    [
        dom.element("div", None, dom.element("script", None, "alert(1)")),
        dom.element("div", None, dom.element("svg", None, dom.element("p", None, "a"))),
        dom.element("div", None, dom.element("a", {"href": "javascript:alert(1)"}, "a")),
        dom.element("div", None, dom.element("img", {"src": "data:image/svg+xml,x"})),
        dom.element("div", None, dom.element("p", None, dom.element("div", None, "a"))),
        dom.element("div", None, dom.element("a", None, dom.element("em", None, dom.element("a", None, "b")))),
        dom.element("div", None, dom.element("table", None, "a")),
        dom.element("div", None, dom.element("table", None, dom.element("tr"))),
        dom.element("div", None, dom.element("td", None, "a")),
        dom.element("div", None, dom.element("h2", None, dom.element("h3", None, "a"))),
        dom.element("div", None, dom.element("pre", None, "\na")),
        dom.element("div", None, dom.element("p", None, "a\r\nb")),
        dom.element("div", None, dom.element("p", None, "\ud800")),
    ],
    ids=dom.inner_html,
)
def test_what_the_sanitiser_could_change_is_refused(root: dom.Element) -> None:
    assert read_content(root) is None


def test_a_deep_nest_is_left_to_the_sanitiser() -> None:
    root = dom.element("div")
    for _ in range(3_000):
        root = dom.element("div", None, root)
    assert read_content(root) is None


def test_texts_around_elements_that_are_dropped_are_one_text() -> None:
    fonts = [dom.element("font", None, f" {number} ") for number in range(1_000)]
    content = read_content(dom.element("div", None, dom.element("p", None, "a ", *fonts, dom.element("em", None, "b"))))
    assert content is not None
    (paragraph,) = content[0].root.children
    assert isinstance(paragraph, CleanElement)
    text, _ = paragraph.children
    assert text == "a " + "".join(f"{number} " for number in range(1_000))

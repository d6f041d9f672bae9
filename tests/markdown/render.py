"""A CommonMark renderer with GFM's extensions, to see what readers of our Markdown will see."""

from __future__ import annotations

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from pagekeep import dom
from pagekeep.markdown import to_markdown, to_text
from pagekeep.markdown.escape import clean

_RENDERER = (
    MarkdownIt("commonmark")
    .enable(["table", "strikethrough"])
    .use(footnote_plugin)
    .use(dollarmath_plugin, allow_space=False, allow_digits=False)
    .use(tasklists_plugin)
)


def markdown(html: str) -> str:
    """Our Markdown for a piece of clean HTML."""
    return to_markdown(dom.parse_fragment(html))


def render(text: str) -> dom.Element:
    """The Markdown as a renderer shows it."""
    return dom.parse_fragment(_RENDERER.render(text))


def round_trip(html: str) -> dom.Element:
    """The HTML as it comes back from our Markdown."""
    return render(markdown(html))


def words(root: dom.Element) -> list[str]:
    """All words in order."""
    return to_text(root).split()


def texts(root: dom.Element, css: str) -> list[str]:
    """The words of every element that matches and has any."""
    found = (" ".join(clean(dom.text_of(node)).split()) for node in dom.select(root, css))
    return [text for text in found if text]


def raw_html(text: str) -> list[str]:
    """Raw HTML a renderer would pass through."""
    found: list[str] = []
    for token in _RENDERER.parse(text):
        for part in (token, *(token.children or ())):
            if part.type in ("html_block", "html_inline"):
                found.append(part.content)
    return found

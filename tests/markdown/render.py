"""What readers of our Markdown will see, for comparing."""

from __future__ import annotations

from pagekeep import dom
from pagekeep.markdown import to_markdown, to_text
from pagekeep.markdown.inline.escape import clean
from pagekeep_lab.markdown_cases import raw_html, render_tree

__all__ = ["markdown", "raw_html", "render", "round_trip", "texts", "words"]


def markdown(html: str) -> str:
    """Our Markdown for a piece of clean HTML."""
    return to_markdown(dom.parse_fragment(html))


def render(text: str) -> dom.Element:
    """The Markdown as a renderer shows it."""
    return render_tree(text)


def round_trip(html: str) -> dom.Element:
    """The HTML as it comes back from our Markdown."""
    return render(markdown(html))


def words(root: dom.Element) -> list[str]:
    """All words in order."""
    return to_text(root, captions=True).split()


def texts(root: dom.Element, css: str) -> list[str]:
    """The words of every element that matches and has any."""
    found = (" ".join(clean(dom.text_of(node)).split()) for node in dom.select(root, css))
    return [text for text in found if text]

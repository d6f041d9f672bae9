"""Lines across the page that part nothing: before the text, behind it, right under its title."""

from __future__ import annotations

from pagekeep import dom
from pagekeep.extraction.clean.vocabulary import is_blank, is_tag


def drop_edging(root: dom.Element) -> None:
    """Drop the lines at the edges of the content."""
    shown = [child for child in root.children if not is_blank(child)]
    while shown and is_tag(shown[-1], "hr"):
        dom.drop(shown.pop())
    titled = bool(shown) and is_tag(shown[0], "h1")
    for child in shown[titled:]:
        if not is_tag(child, "hr"):
            break
        dom.drop(child)

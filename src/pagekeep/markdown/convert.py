"""Convert clean HTML to Markdown; the table says which function writes which block."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.dom import Element
from pagekeep.markdown.blocks.code import code_block
from pagekeep.markdown.blocks.footnotes import section
from pagekeep.markdown.blocks.lists import bold_block, bullet_list, definition_list, numbered_list
from pagekeep.markdown.blocks.simple import caption, division, figure, heading, quote, rule
from pagekeep.markdown.blocks.tables import table
from pagekeep.markdown.blocks.writer import Handler, Writer, enter_card, join
from pagekeep.markdown.inline.elements import ACTIONS
from pagekeep.markdown.inline.links import complete_notes
from pagekeep.markdown.inline.run import BLOCKS, Inline

HANDLERS: Final[dict[str, Handler]] = {
    "a": enter_card,
    "blockquote": quote,
    "caption": caption,
    "div": division,
    "dl": definition_list,
    "figcaption": caption,
    "figure": figure,
    "hr": rule,
    "ol": numbered_list,
    "section": section,
    "table": table,
    **dict.fromkeys(("dt", "summary", "th"), bold_block),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), heading),
    **dict.fromkeys(("listing", "pre", "xmp"), code_block),
    **dict.fromkeys(("dir", "menu", "ul"), bullet_list),
}
"""Functions by tag, for the blocks that are more than their content."""

_BLOCK: Final = ", ".join(sorted(BLOCKS))


def to_markdown(root: Element) -> str:
    """Return clean HTML as CommonMark with GFM tables, ending in one newline; empty for an empty tree."""
    writer = Writer(HANDLERS, Inline(ACTIONS, complete_notes(root), _find_cards(root)))
    text = join(writer.blocks([root]))
    whole = "\n\n".join([part for part in (text, *writer.footnotes.values()) if part])
    return whole + "\n" if whole else ""


def _find_cards(root: Element) -> frozenset[Element]:
    """Return the links that contain blocks and have a target."""
    return frozenset(
        link
        for link in dom.tagged(root, ("a",))
        if any(isinstance(child, Element) for child in link.children)
        and dom.first(link, _BLOCK) is not None
        and not (link.attr("href") or "#").startswith("#")
    )

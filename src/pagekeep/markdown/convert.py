"""Convert clean HTML to Markdown; the table says which function writes which block."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from pagekeep import dom
from pagekeep.markdown.blocks.code import code_block
from pagekeep.markdown.blocks.footnotes import section
from pagekeep.markdown.blocks.lists import bold_block, bullet_list, definition_list, numbered_list
from pagekeep.markdown.blocks.simple import caption, division, figure, heading, quote, rule
from pagekeep.markdown.blocks.tables import table
from pagekeep.markdown.blocks.writer import Handler, Writer, enter_card, join
from pagekeep.markdown.inline.elements import ACTIONS
from pagekeep.markdown.inline.links import complete_notes
from pagekeep.markdown.inline.run import BLOCKS, Inline
from pagekeep.model.clean_tree import CleanElement, CleanTree, has_any, read_tree

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


def to_markdown(content: CleanTree | dom.Element) -> str:
    """Return clean HTML as CommonMark with GFM tables, ending in one newline; empty for an empty tree."""
    tree = content if isinstance(content, CleanTree) else read_tree(content)
    writer = Writer(HANDLERS, Inline(ACTIONS, complete_notes(tree), _find_cards(tree), _find_bracketed(tree)))
    text = join(writer.blocks([tree.root]))
    whole = "\n\n".join([part for part in (text, *writer.footnotes.values()) if part])
    return whole + "\n" if whole else ""


def _find_cards(tree: CleanTree) -> frozenset[CleanElement]:
    """Return the links that contain blocks and have a target."""
    return frozenset(
        link
        for link in tree.tagged.get("a", ())
        if (len(link.children) > 1 or (link.children and isinstance(link.children[0], CleanElement)))
        and has_any(link, BLOCKS)
        and not (link.attr("href") or "#").startswith("#")
    )


def _find_bracketed(tree: CleanTree) -> frozenset[CleanElement]:
    """Return the ruby texts that come after an element for the parentheses."""
    if "rp" not in tree.tagged:
        return frozenset()
    bracketed: set[CleanElement] = set()
    pending = [tree.root]
    while pending:
        inner = [child for child in pending.pop().children if isinstance(child, CleanElement)]
        bracketed.update(node for before, node in pairwise(inner) if before.tag == "rp" and node.tag == "rt")
        pending += inner
    return frozenset(bracketed)

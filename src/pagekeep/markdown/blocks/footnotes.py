"""Write footnotes: `[^1]` in the text, the notes at the end of the page.

A renderer drops a note without a reference and shows a reference without a note as plain text, so only notes with both are
written this way. The others become a plain list, and a reference without a note stays the number it shows.
"""

from __future__ import annotations

from pagekeep.markdown.blocks.lists import write_bullets
from pagekeep.markdown.blocks.writer import Block, Writer, enter, indent, join
from pagekeep.markdown.inline.links import footnote_label
from pagekeep.markdown.inline.run import Stack
from pagekeep.model.clean_tree import CleanElement


def section(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Collect the notes for the end of the page; any other section is just its content."""
    if "footnotes" not in node.attr("class").split():
        enter(writer, node, out, stack)
        return
    strays: list[CleanElement] = []
    for child in node.children:
        items = child.children if isinstance(child, CleanElement) and child.tag == "ol" else ()
        for item in items:
            if isinstance(item, CleanElement) and not _define(writer, item):
                strays.append(item)
    write_bullets(writer, [item.children for item in strays], out)


def _define(writer: Writer, item: CleanElement) -> bool:
    label = footnote_label(item.attr("id"))
    if label not in writer.inline.notes or label in writer.footnotes:
        return False
    writer.footnotes[label] = ""  # reserves its position while notes within the note are written
    text = join(writer.nested(item.children))
    writer.footnotes[label] = f"[^{label}]: {indent(text, '    ')}"
    return True

"""Footnotes: `[^1]` in the text, the notes at the end of the page.

A renderer drops a note nobody refers to and shows a reference without a note as odd text, so only notes with both are
written this way: the others become a plain list, and a reference without a note stays the number it shows.
"""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.dom import Element
from pagekeep.markdown.lists import bullets
from pagekeep.markdown.run import Run, Stack
from pagekeep.markdown.writer import Block, Writer, enter, indent, join

_LABEL: Final = re.compile(r"[^\w-]+")


def _label(fragment: str) -> str:
    """`#fn-1` and `fn-1` as the label `1`."""
    return _LABEL.sub("-", fragment.removeprefix("#").removeprefix("fn-"))


def complete_notes(root: Element) -> frozenset[str]:
    """Labels of the notes that have both a text and a reference outside the notes."""
    texts = {_label(node.attr("id") or "") for node in dom.select(root, "section.footnotes li[id]")}
    if not texts:
        return frozenset()
    links = dom.select(root, "sup.footnote-ref a[href]")
    references = {_label(node.attr("href") or "") for node in links}
    return frozenset((texts & references) - {""})


def footnote_reference(run: Run, node: Element) -> bool:
    """Write `[^1]` if the superscript is a reference to a complete note; whether it was."""
    if run.in_link or "footnote-ref" not in (node.attr("class") or ""):
        return False
    link = dom.first(node, "a[href]")
    label = _label(link.attr("href") or "") if link is not None else ""
    if label not in run.inline.notes:
        return False
    run.atom(f"[^{label}]")
    return True


def section(writer: Writer, node: Element, out: list[Block], stack: Stack) -> None:
    """The notes, kept for the end of the page; any other section is its content."""
    if "footnotes" not in (node.attr("class") or "").split():
        enter(writer, node, out, stack)
        return
    strays: list[Element] = []
    for child in node.children:
        items = child.children if isinstance(child, Element) and child.tag == "ol" else ()
        for item in items:
            if isinstance(item, Element) and not _define(writer, item):
                strays.append(item)
    bullets(writer, [item.children for item in strays], out)


def _define(writer: Writer, item: Element) -> bool:
    label = _label(item.attr("id") or "")
    if label not in writer.inline.notes or label in writer.footnotes:
        return False
    writer.footnotes[label] = ""  # keeps its place while notes within the note are written
    text = join(writer.nested(item.children))
    writer.footnotes[label] = f"[^{label}]: {indent(text, '    ')}"
    return True

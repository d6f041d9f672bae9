"""Check that Markdown has the content of the clean HTML: rendered, it must have the same words and structure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from pagekeep import dom
from pagekeep.lab.markdown.rendered import raw_html, render_tree
from pagekeep.markdown import to_text
from pagekeep.markdown.inline.escape import clean
from pagekeep.markdown.inline.scripts import write_subscript, write_superscript

_WORD: Final = re.compile(r"[^\W_]+")
_CALLOUT: Final = re.compile(r"\A\[!([\w-]+)\] ?")
_FORBIDDEN: Final = re.compile(r"\\?\$|\\+$")
_MATH: Final = ".math-inline,.math-block,.math.inline,.math.block"
_CELLS: Final = frozenset(("td", "th"))
_NOT_ITEM_PARENTS: Final = _CELLS | {"section"}
_ITEM_WORDS: Final = 6


def find_differences(html: str, markdown: str) -> list[str]:
    """Return a sentence for each aspect in which a page's clean HTML and its Markdown differ."""
    before, after = dom.parse_fragment(html), render_tree(markdown)
    for back in dom.select(after, "a.footnote-backref"):
        dom.drop(back)
    differences = [f"raw HTML: {part[:60]!r}" for part in raw_html(markdown)]
    differences += _first_difference("code", _code(before), _code(after))
    differences += _first_difference("math", _math(before), _math(after))
    _prepare(before)
    _prepare_rendered(after)
    differences += _first_difference("headings", _headings(before), _headings(after))
    differences += _first_difference("tables", _tables(before), _tables(after))
    differences += _first_difference("items", _items(before), _items(after))
    differences += _first_difference(
        "words", _words(to_text(before, captions=True)), _words(to_text(after, captions=True))
    )
    return differences


def _first_difference(aspect: str, before: list[str], after: list[str]) -> Iterator[str]:
    """Yield a sentence about the first difference, if any."""
    if before == after:
        return
    for place, (old, new) in enumerate(zip(before, after, strict=False)):
        if old != new:
            context = " ".join(before[max(0, place - 4) : place])
            yield f"{aspect} differ after {context[-60:]!r}: {old[:60]!r} became {new[:60]!r}"
            return
    longer, what = (before, "lost") if len(before) > len(after) else (after, "added")
    yield f"{aspect}: {abs(len(before) - len(after))} {what}, first {longer[min(len(before), len(after))][:60]!r}"


def _code(root: dom.Element) -> list[str]:
    texts = (clean(dom.text_of(block)).removesuffix("\n") for block in dom.select(root, "pre"))
    return [text for text in texts if text.strip()]


def _math(root: dom.Element) -> list[str]:
    """Return the formulas without what Markdown does not allow in them or at their ends."""
    formulas = (_FORBIDDEN.sub("", "".join(clean(dom.text_of(node)).split())) for node in dom.select(root, _MATH))
    return sorted(tex for tex in formulas if tex)


# Differences by design


def _prepare(root: dom.Element) -> None:
    """Reduce the clean tree to what Markdown can show: no formulas, raised and lowered text as Unicode characters."""
    for node in dom.select(root, _MATH):
        dom.replace(node, " ")
    for node in dom.select(root, "sub,sup:not(.footnote-ref)"):
        _write_script(node)
    _list_unreferred_notes(root)
    for node in dom.select(root, "rt,q"):  # in brackets and quotation marks
        dom.replace(node, " ", *node.children, " ")


def _list_unreferred_notes(root: dom.Element) -> None:
    """Turn notes without a reference, which a renderer would not show, into items of a plain list."""
    known = {f"#{note.attr('id')}" for note in dom.select(root, "section.footnotes li[id]")}
    referred = {link.attr("href") for link in dom.select(root, "sup.footnote-ref a")}
    for link in dom.select(root, "sup.footnote-ref a"):
        if link.attr("href") not in known:  # a reference without a note becomes its number
            dom.replace(link.parent or link, link)
    for section in dom.select(root, "section.footnotes"):
        strays = [note for note in dom.select(section, "li[id]") if f"#{note.attr('id')}" not in referred]
        if strays:
            dom.add_before(section, dom.element("ul", None, *strays))


def _write_script(node: dom.Element) -> None:
    beside, inner = node.previous_sibling, node.children[0] if len(node.children) == 1 else None
    before = beside.data[-1:] if isinstance(beside, dom.Text) else ""
    if isinstance(inner, dom.Text):
        write = write_superscript if node.tag == "sup" else write_subscript
        dom.replace(node, write(" ".join(inner.data.split()), before) or inner.data)


def _prepare_rendered(root: dom.Element) -> None:
    for node in dom.select(root, _MATH):
        dom.replace(node, " ")
    for line in dom.select(root, "blockquote.callout > p:first-child"):
        first = line.children[0] if line.children else None
        if isinstance(first, dom.Text) and _CALLOUT.match(first.data):
            dom.replace(first, _CALLOUT.sub("", first.data))


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text))


def _headings(root: dom.Element) -> list[str]:
    """Return level and words of each heading; a heading in a table cell becomes text."""
    nodes = [node for node in dom.select(root, "h1,h2,h3,h4,h5,h6") if not _is_in(node, _CELLS)]
    headings = ((node.tag, _words(to_text(node, captions=True))) for node in nodes)
    return [f"{tag} {' '.join(words)}" for tag, words in headings if words]


def _tables(root: dom.Element) -> list[str]:
    """Return the cells of every row that are not empty."""
    rows: list[str] = []
    for table in dom.select(root, "table"):
        if dom.first(table, "pre,table") is not None:
            continue  # Markdown has these cell by cell
        for row in dom.select(table, "tr"):
            cells = [" ".join(_words(to_text(cell, captions=True))) for cell in dom.select(row, "td,th")]
            filled = [cell for cell in cells if cell]
            if filled:
                rows.append(" | ".join(filled))
    return rows


def _items(root: dom.Element) -> list[str]:
    """Return the first words of each list item and definition; those in a table cell are only words."""
    items = (
        _words(to_text(item, captions=True))[:_ITEM_WORDS]
        for item in dom.select(root, "li,dd")
        if not _is_in(item, _NOT_ITEM_PARENTS)
    )
    return [" ".join(words) for words in items if words]


def _is_in(node: dom.Element, kinds: frozenset[str]) -> bool:
    above = node.parent
    while isinstance(above, dom.Element):
        if above.tag in kinds:
            return True
        above = above.parent
    return False

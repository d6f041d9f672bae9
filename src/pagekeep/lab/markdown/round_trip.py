"""Whether Markdown says what the clean HTML said: rendered again, it must give the same words and structure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from pagekeep import dom
from pagekeep.lab.markdown.rendered import raw_html, tree_of
from pagekeep.markdown import to_text
from pagekeep.markdown.inline.escape import clean
from pagekeep.markdown.inline.scripts import write_subscript, write_superscript

_WORD: Final = re.compile(r"[^\W_]+")
_CALLOUT: Final = re.compile(r"\A\[!([\w-]+)\] ?")
_FORBIDDEN: Final = re.compile(r"\\?\$|\\+$")
_MATH: Final = ".math-inline,.math-block,.math.inline,.math.block"
_CELLS: Final = frozenset(("td", "th"))
_NO_ITEMS: Final = _CELLS | {"section"}
_ITEM: Final = 6


def faults(html: str, markdown: str) -> list[str]:
    """What is not the same in the clean HTML of a page and in its Markdown, in words; empty when all is."""
    before, after = dom.parse_fragment(html), tree_of(markdown)
    for back in dom.select(after, "a.footnote-backref"):
        dom.drop(back)
    found = [f"raw HTML: {part[:60]!r}" for part in raw_html(markdown)]
    found += _differ("code", _code(before), _code(after))
    found += _differ("math", _math(before), _math(after))
    _prepare(before)
    _prepare_rendered(after)
    found += _differ("headings", _headings(before), _headings(after))
    found += _differ("tables", _tables(before), _tables(after))
    found += _differ("items", _items(before), _items(after))
    found += _differ("words", _words(to_text(before)), _words(to_text(after)))
    return found


def _differ(aspect: str, before: list[str], after: list[str]) -> Iterator[str]:
    """A sentence about the first difference."""
    if before == after:
        return
    for place, (one, other) in enumerate(zip(before, after, strict=False)):
        if one != other:
            context = " ".join(before[max(0, place - 4) : place])
            yield f"{aspect} differ after {context[-60:]!r}: {one[:60]!r} became {other[:60]!r}"
            return
    longer, what = (before, "lost") if len(before) > len(after) else (after, "added")
    yield f"{aspect}: {abs(len(before) - len(after))} {what}, first {longer[min(len(before), len(after))][:60]!r}"


def _code(root: dom.Element) -> list[str]:
    found = (clean(dom.text_of(block)).removesuffix("\n") for block in dom.select(root, "pre"))
    return [text for text in found if text.strip()]


def _math(root: dom.Element) -> list[str]:
    """The formulas without what may not stand in them, or not at their ends."""
    found = (_FORBIDDEN.sub("", "".join(clean(dom.text_of(node)).split())) for node in dom.select(root, _MATH))
    return sorted(tex for tex in found if tex)


# -- what is written otherwise by design ------------------------------------------------------------------------------


def _prepare(root: dom.Element) -> None:
    """The clean tree as far as Markdown can show it: formulas apart, raised and lowered text in its own letters."""
    for node in dom.select(root, _MATH):
        dom.replace(node, " ")
    for node in dom.select(root, "sub,sup:not(.footnote-ref)"):
        _write_script(node)
    _list_unreferred_notes(root)
    for node in dom.select(root, "rt,q"):  # in brackets and quotation marks
        dom.replace(node, " ", *node.children, " ")


def _list_unreferred_notes(root: dom.Element) -> None:
    """A note nobody refers to would not be shown, so it is written as an item of a plain list."""
    known = {f"#{note.attr('id')}" for note in dom.select(root, "section.footnotes li[id]")}
    referred = {link.attr("href") for link in dom.select(root, "sup.footnote-ref a")}
    for link in dom.select(root, "sup.footnote-ref a"):
        if link.attr("href") not in known:  # a mark without a note is the number it shows
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
    """Level and words of each heading; in a cell it is no heading any more."""
    nodes = [node for node in dom.select(root, "h1,h2,h3,h4,h5,h6") if not _is_in(node, _CELLS)]
    found = ((node.tag, _words(to_text(node))) for node in nodes)
    return [f"{tag} {' '.join(words)}" for tag, words in found if words]


def _tables(root: dom.Element) -> list[str]:
    """The cells of every row that show something."""
    rows: list[str] = []
    for table in dom.select(root, "table"):
        if dom.first(table, "pre,table") is not None:
            continue  # written cell by cell
        for row in dom.select(table, "tr"):
            cells = [" ".join(_words(to_text(cell))) for cell in dom.select(row, "td,th")]
            shown = [cell for cell in cells if cell]
            if shown:
                rows.append(" | ".join(shown))
    return rows


def _items(root: dom.Element) -> list[str]:
    """The first words of each list item and definition; those in a cell are only words."""
    found = (_words(to_text(item))[:_ITEM] for item in dom.select(root, "li,dd") if not _is_in(item, _NO_ITEMS))
    return [" ".join(words) for words in found if words]


def _is_in(node: dom.Element, kinds: frozenset[str]) -> bool:
    above = node.parent
    while isinstance(above, dom.Element):
        if above.tag in kinds:
            return True
        above = above.parent
    return False

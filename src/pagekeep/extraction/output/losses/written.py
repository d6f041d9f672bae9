"""What the clean HTML holds and the Markdown does not: nothing may be lost between the two, so every piece is counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from pagekeep import dom
from pagekeep.text import compile_lazily

_IN_CLEAN_HTML: Final = {
    "code blocks": "pre",
    "tables": "table:not(:has(pre,table))",
    "list items": "li",
    "images": "img",
    "math": "span.math-inline,div.math-block",
    "links": 'a[href]:not([href^="#"])',
    "footnotes": "section.footnotes > ol > li",
}
_TAGS: Final = {
    "code blocks": ("pre",),
    "tables": ("table",),
    "list items": ("li",),
    "images": ("img",),
    "math": ("span", "div"),
    "links": ("a",),
    "footnotes": ("section",),
}
"""The tags of each kind; a selector takes longer than counting them."""
_WRITTEN_AS_TEXT: Final = {
    "list items": ":is(td,th) li,section.footnotes > ol > li",
    "links": ":is(pre,code,kbd) a[href]",
}
"""What Markdown cannot express in that place, so that only its words are written."""
# Patterns for the start of a line begin with the line break, which is several times as fast to search for as `^`.
_FENCE: Final = compile_lazily(r"\n[ >\t]*(?:[-*+\d.)]+[ \t]+)*(`{3,}|~{3,})")
_FENCED: Final = compile_lazily(r"(\n[ >\t]*(?:[-*+\d.)]+[ \t]+)*)(`{3,}|~{3,}).*?\n[ >\t]*\2[ \t]*(?=\n)", re.S)
_TABLE_RULE: Final = compile_lazily(r"\n[ >\t]*(?:[-*+\d.)]+[ \t]+)*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?=\n)")
_ITEM_START: Final = compile_lazily(r"\n[ >\t]*((?:(?:[-*+]|\d+[.)])(?:[ \t>]+|(?=\n)))+)")
_NOTE: Final = compile_lazily(r"\n\[\^[^\]\n]+\]:")

Counts = Mapping[str, int]


def count_in_clean(root: dom.Element) -> Counts:
    """Count the pieces of each kind in the clean HTML that Markdown can express."""
    tags = Counter([node.tag for node in dom.elements(root)])
    counts = {kind: _count(root, css, [tags[tag] for tag in _TAGS[kind]]) for kind, css in _IN_CLEAN_HTML.items()}
    for kind, css in _WRITTEN_AS_TEXT.items():
        if counts[kind]:
            counts[kind] -= len(dom.select(root, css))
    return counts


def _count(root: dom.Element, css: str, tagged: list[int]) -> int:
    """Count what a selector finds; `tagged` are the numbers of elements by tag, which are the answer for a tag alone."""
    return len(dom.select(root, css)) if any(tagged) and not css.isalpha() else sum(tagged)


def find_unwritten(root: dom.Element, markdown: str) -> list[str]:
    """Return in words what the clean HTML has and the Markdown has not; empty when nothing is missing."""
    had = count_in_clean(root)
    has = _count_in_markdown(root, markdown, had)
    return [f"{had[kind] - has[kind]} of {had[kind]} {kind} lost" for kind in had if has[kind] < had[kind]]


def _count_in_markdown(root: dom.Element, markdown: str, had: Counts) -> Counts:
    """Count the kinds that the clean HTML has in the Markdown."""
    markdown = f"\n{markdown}\n"
    fences = len(_FENCE.findall(markdown)) // 2 if had["code blocks"] else 0
    if fences:
        markdown = _FENCED.sub(r"\1", markdown)
    return {
        "code blocks": fences,
        "tables": len(_TABLE_RULE.findall(markdown)) if had["tables"] else 0,
        "list items": _count_items(markdown) if had["list items"] > 0 else 0,
        "images": markdown.count("!["),
        "math": _count_formulas(markdown) if had["math"] else 0,
        "links": _count_links(root, markdown, had) if had["links"] > 0 else 0,
        "footnotes": len(_NOTE.findall(markdown)) if had["footnotes"] else 0,
    }


def _count_items(markdown: str) -> int:
    """Count the marks of list items; several on a line begin nested lists."""
    return sum(len(marks.replace(">", " ").split()) for marks in _ITEM_START.findall(markdown))


def _count_formulas(markdown: str) -> int:
    markdown = markdown.replace("\\$", "")
    blocks = markdown.count("$$")
    return blocks // 2 + (markdown.count("$") - 2 * blocks) // 2


def _count_links(root: dom.Element, markdown: str, had: Counts) -> int:
    """Count the links other than those of images, which look the same; an empty one is not written and counts as kept."""
    targets = markdown.count("](") - markdown.count("\\](")
    images = had["images"]
    linked = len(dom.select(root, "a img")) if images else 0
    empty = len(dom.select(root, 'a[href]:not([href^="#"]):empty'))
    return targets - images - (images - linked) + empty

"""Callouts: notes, tips and warnings of every documentation tool in one form."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState, Removals
from pagekeep.extraction.clean.vocabulary import class_names, fill, first_elements, is_blank
from pagekeep.model import Removal

_CALLOUTS: Final = (
    ".markdown-alert,[data-callout],.theme-admonition,.admonition,.alert,.admonitionblock,.hint,.notice,.custom-block,"
    ".callout,.callout-block,.bd-callout,.wp-block-callout,.starlight-aside,.nextra-callout,.message,"
    '[class*="callout_"],[class*="callout-"],[class*="admonition-"],'
    "details:is(.note,.info,.tip,.success,.warning,.danger,.caution,.important,.failure,.bug,.example,.abstract)"
)
_CLASS_PARTS: Final = ("alert", "callout", "admonition", "hint", "notice", "custom-block", "starlight-aside", "message")
_ASIDES: Final = "div,aside,section,blockquote,details,p,table"
_PAIRS: Final = (
    "note note info info tip tip hint tip success success check success done success important important warning "
    "warning warn warning attention warning caution caution danger danger error danger failure danger bug bug "
    "example example quote quote question question help question faq question abstract abstract summary abstract "
    "tldr abstract todo todo seealso info see-also info primary note secondary note advice tip idea tip critical "
    "danger alert warning default note definition note deprecated warning experimental warning versionadded info "
    "versionchanged info"
).split()
_KINDS: Final = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
"""What pages call a callout, and the kind it becomes."""
_KIND_OF_CLASS: Final = re.compile(
    r"(?:markdown-alert|alert|admonition|callout|hint|notice|custom-block|bd-callout|starlight-aside|is|message|style|type|theme-admonition)"
    r"[-_]{1,2}([a-z-]+?)(?:__\w+|_\w{4,8})?"
)
_TITLE: Final = (
    ".markdown-alert-title,.admonition-title,.callout-title,.admonitionHeading,[class*=admonitionHeading],.alert-heading,.alert-title,"
    ".hint-title,.custom-block-title,.starlight-aside__title,.notice-title,.callout-header,summary,.title"
)
_MAX_HEAD_ELEMENTS: Final = 16
"""First elements of a callout that may be its title and icon."""
_MAX_TITLE_CHARS: Final = 200
"""A longer first line is text of the callout."""
_ICONS: Final = ".callout-fold,.callout-icon,.admonition-icon,[class*=admonitionIcon],td.icon"


def mark_callouts(state: CleanState) -> list[Removal]:
    """Turn notes, tips and warnings into quotes that carry their kind and title."""
    removals = Removals(state.changes)
    if not (state.index.has_tag("details") or state.index.has_class(*_CLASS_PARTS)):
        return removals
    for node in dom.select(state.root, _CALLOUTS):
        kind = _kind(node)
        if kind and dom.matches(node, _ASIDES) and node.parent is not None and not _is_part(node):
            _write(node, kind, removals)
    return removals


def _kind(node: dom.Element) -> str:
    """Return the kind of callout; empty if the element is not one."""
    declared = (node.attr("data-callout") or "").strip().lower()
    if declared:
        return _KINDS.get(declared, "note")
    names = [name.lower() for name in class_names(node)]
    for name in names:
        match = _KIND_OF_CLASS.fullmatch(name)
        if match and match.group(1) in _KINDS:
            return _KINDS[match.group(1)]
    for name in names:
        if name in _KINDS and name not in ("alert", "hint", "default", "primary", "secondary"):
            return _KINDS[name]
    if "hint" in names and "hint" not in names[1:]:
        return "tip" if len(names) == 1 else ""
    return "note" if any(name in ("admonition", "callout", "theme-admonition") for name in names) else ""


def _is_part(node: dom.Element) -> bool:
    """Return whether this is the title, icon or body of a callout."""
    return any(
        name.endswith(
            ("-title", "-content", "-body", "-icon", "-header", "-heading", "-inner", "-text", "-link", "-fold")
        )
        for name in class_names(node)
    )


def _write(node: dom.Element, kind: str, removals: Removals) -> None:
    title = _take_title(node, kind)
    for part in first_elements(node, _MAX_HEAD_ELEMENTS):
        if dom.matches(part, _ICONS):
            removals.drop(part, "icon of a callout")
    body = _body(node)
    if body is not node:
        around = list(node.children)
        fill(node, *body.children)
        removals.record_words(around, "text outside the body of a callout")
    if title and all(is_blank(child) for child in node.children):
        fill(node, dom.element("p", None, title))
        title = ""
    # In place: moving the content into a new element costs a walk through all of it, at every level of a nest.
    dom.retag(node, "blockquote")
    dom.set_attr(node, "data-callout", None)
    for name, value in (("class", "callout"), ("data-callout", kind), ("data-title", title or None)):
        dom.set_attr(node, name, value)


def _body(node: dom.Element) -> dom.Element:
    """Return what holds the callout's words: the cell beside the icon in a table, else the callout itself."""
    return next(
        (
            part
            for part in first_elements(node, _MAX_HEAD_ELEMENTS)
            if part.tag == "td" and "content" in class_names(part)
        ),
        node,
    )


def _take_title(node: dom.Element, kind: str) -> str:
    """Detach the title line and return its text; empty if it only repeats the kind."""
    title = next((part for part in first_elements(node, _MAX_HEAD_ELEMENTS) if dom.matches(part, _TITLE)), None)
    if title is None:
        return ""
    text = " ".join(dom.text_of(title).split())
    if len(text) > _MAX_TITLE_CHARS or dom.first(title, "img,pre,table,ul,ol") is not None:
        return ""
    dom.drop(title)
    names = (kind, *[name for name, same in _KINDS.items() if same == kind])
    return "" if text.strip(" :!").lower() in names else text

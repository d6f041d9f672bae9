"""Inline elements: modern tag names, spaces between words, links that are absolute and lead somewhere."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import (
    HEADINGS,
    CleanState,
    Removals,
    fill,
    is_line,
    is_only_child,
    is_tag,
    shown_before,
)
from pagekeep.model import Removal
from pagekeep.text import compile_lazily

_MODERN_TAGS: Final = {
    "b": "strong",
    "i": "em",
    "strike": "s",
    "tt": "code",
    "samp": "code",
    "acronym": "abbr",
    "dfn": "em",
    "var": "em",
    "menu": "ul",
    "dir": "ul",
    "listing": "pre",
    "xmp": "pre",
    "center": "div",
}
_WHOLE_REFERENCES: Final = "cite:has(i,em,cite),cite.citation,cite.ltx_cite,cite:has(sup)"
"""A `cite` is the title of a work. Around a whole reference, which marks its title itself, it means nothing."""
_FIRST_IDEOGRAPH: Final = "\u2e80"
"""From here on, scripts write no spaces between words (CJK radicals come first)."""
_MIN_PARAGRAPH_CHARS: Final = 80
"""Fewer characters after an image are its label."""


def rename_old_tags(state: CleanState) -> None:
    """Replace `b`, `i`, `strike`, `tt` and other old tags by modern ones; unwrap a `cite` around a whole reference."""
    if state.index.has_tag("cite"):
        for node in dom.select(state.root, _WHOLE_REFERENCES):
            dom.unwrap(node)
    for node in state.index.find(*_MODERN_TAGS):
        dom.retag(node, _MODERN_TAGS[node.tag])


def leave_text_in_code(state: CleanState) -> None:
    """Leave only text in code within a line: marks of notes go behind it, a formula takes its place, breaks are spaces."""
    if not state.index.has_tag("code", "kbd", "tt", "samp"):
        return
    for code in dom.select(state.root, "code:has(.footnote-ref),kbd:has(.footnote-ref)"):
        dom.add_after(code, *dom.select(code, ".footnote-ref"))
    for code in dom.select(state.root, "code:has(.math-inline),kbd:has(.math-inline)"):
        dom.unwrap(code)
    for quote in dom.select(state.root, "code q,kbd q"):
        dom.unwrap(quote)
    for line_break in dom.select(state.root, "code br,kbd br"):
        dom.replace(line_break, " ")


def separate_links(state: CleanState) -> None:
    """Put a space between links that only the style sets apart; join the pieces of one link."""
    for link in state.index.find("a"):
        if link.parent is None or not is_tag(link.next_sibling, "a"):
            continue
        end = dom.text_of(link)[-1:]
        for piece in _pieces(link):
            text = dom.text_of(piece)
            dom.append(link, *([] if _is_one_word(end, text[:1]) else [" "]), *piece.children)
            dom.drop(piece)
            end = text[-1:] or end
        beside = link.next_sibling
        if (
            isinstance(beside, dom.Element)
            and beside.tag == "a"
            and _use_spaces(dom.text_of(link), dom.text_of(beside))
        ):
            dom.add_after(link, " ")


def _pieces(link: dom.Element) -> list[dom.Element]:
    """Return the links right after a link with the same address; two neighbouring images are two links."""
    pieces: list[dom.Element] = []
    beside = link.next_sibling
    while isinstance(beside, dom.Element) and beside.tag == "a" and _address(beside) == _address(link):
        if dom.first(beside, "img") is not None or (not pieces and dom.first(link, "img") is not None):
            break
        pieces.append(beside)
        beside = beside.next_sibling
    return pieces


def _is_one_word(before: str, after: str) -> bool:
    """Return whether two characters may belong to one word, or something separates them already."""
    return not (before.isalnum() and after.isalnum() and _use_spaces(before, after)) or after.islower()


def _address(link: dom.Element) -> str:
    return (link.attr("href") or "").rstrip("/")


def _use_spaces(before: str, after: str) -> bool:
    """Return whether both texts are of a script that writes spaces between words."""
    return before[-1:] < _FIRST_IDEOGRAPH and after[:1] < _FIRST_IDEOGRAPH


def separate_images(state: CleanState) -> None:
    """Put a space between images and words; an image that opens a paragraph gets its own line."""
    for image in state.index.find("img"):
        link = image.parent
        node: dom.Node = link if link is not None and is_tag(link, "a") and is_only_child(image) else image
        after, before = node.next_sibling, node.previous_sibling
        if isinstance(after, dom.Text) and after.data[:1].isalnum():
            if isinstance(node.parent, dom.Element) and _opens_paragraph(node, node.parent):
                dom.add_before(node.parent, dom.element("p", None, node))
            else:
                dom.add_after(node, " ")
        if isinstance(before, dom.Text) and before.data[-1:].isalnum():
            dom.add_before(node, " ")


def _opens_paragraph(node: dom.Node, paragraph: dom.Element) -> bool:
    """Return whether the image comes before more than a label."""
    return paragraph.tag == "p" and shown_before(node) is None and len(dom.text_of(paragraph)) >= _MIN_PARAGRAPH_CHARS


_NOTE_ADDRESS: Final = compile_lazily(r"#fn-\d+")
_CODE: Final = compile_lazily(r"(?i)(?:[0-9a-f]{2}){4,200}")
_MAIL_ADDRESS: Final = compile_lazily(r"[^\s@<>()]{1,100}@[^\s@<>()]{1,150}")
_KEPT_SCHEMES: Final = ("mailto:", "tel:")
_HEADING_ANCHORS: Final = (
    "a.anchor,a.headerlink,a.header-anchor,a.heading-anchor,a.anchor-link,a.permalink,a.hash-link,a.heading-link,"
    'a.anchorjs-link,a.octicon-link,a.direct-link,a[aria-hidden=true],a[href^="#"],a[title=Permalink],'
    "span.mw-editsection,a.mw-editsection,[class~=headline-anchor]"
)
_ANCHOR_WORDS: Final = ("anchor", "permalink", "headerlink", "hash-link", "heading-link", "direct-link")
_TRAILING_SIGNS: Final = ("\u00b6", "\U0001f517", "\U0001f517\ufe0e")
_ANCHOR_TEXTS: Final = frozenset(
    ("", "#", "¶", "§", "🔗", "🔗︎", "link", "permalink", "anchor", "direct link", "copy link", "[edit]", "edit")
)


def resolve_links(state: CleanState) -> None:
    """Make links absolute; turn anchors, in-page links and links that run code into text; show protected mail addresses."""
    if state.index.has_class("__cf_email__"):
        for shown in dom.select(state.root, ".__cf_email__[data-cfemail]"):
            if address := _decode_address(shown.attr("data-cfemail") or ""):
                fill(shown, address)
    for link in state.index.find("a"):
        href = (link.attr("href") or "").strip()
        if href.startswith("#"):
            if not _is_note_reference(link, href):
                dom.unwrap(link)
            continue
        if "/cdn-cgi/l/email-protection" in href:
            _write_mail_link(link, href)
            continue
        if href[:7].lower().startswith(_KEPT_SCHEMES):
            continue
        target = state.resolve(href) if href else None
        if target is None:
            dom.unwrap(link)
        elif target != href:
            dom.set_attr(link, "href", target)


def _write_mail_link(link: dom.Element, href: str) -> None:
    """Give a link to a protected mail address its real target."""
    address = _decode_address(href.rpartition("#")[2]) or dom.text_of(link).strip()
    if _MAIL_ADDRESS.fullmatch(address):
        dom.set_attr(link, "href", f"mailto:{address}")
    else:
        dom.unwrap(link)


def _decode_address(code: str) -> str:
    """Return a mail address that a host hides from robots: its first byte is the key of all others."""
    if not _CODE.fullmatch(code):
        return ""
    key, *data = bytes.fromhex(code)
    address = bytes(byte ^ key for byte in data).decode("utf-8", "replace").partition("?")[0]
    return address if _MAIL_ADDRESS.fullmatch(address) else ""


def _is_note_reference(link: dom.Element, href: str) -> bool:
    parent = link.parent
    return (
        isinstance(parent, dom.Element)
        and parent.tag == "sup"
        and parent.attr("class") == "footnote-ref"
        and _NOTE_ADDRESS.fullmatch(href) is not None
    )


def drop_heading_anchors(state: CleanState) -> list[Removal]:
    """Remove permalink signs and edit links from headings; a link that is the heading's own text stays."""
    removals = Removals(state.changes)
    for heading in state.index.find(*HEADINGS, "dt"):
        for anchor in dom.select(heading, _HEADING_ANCHORS) if not is_line(heading.children) else ():
            if _is_sign(anchor) or _is_permalink(anchor, heading):
                removals.drop(anchor, "permalink or edit link of a heading")
        if heading.tag != "dt" and dom.text_of(heading).rstrip().endswith(_TRAILING_SIGNS):
            _drop_trailing_sign(heading)
    return removals


def _is_sign(anchor: dom.Element) -> bool:
    """Return whether the link is not part of the heading's text."""
    text = dom.text_of(anchor).strip()
    return anchor.tag == "span" or text.lower() in _ANCHOR_TEXTS or (text[:1] == "#" and text == anchor.attr("href"))


def _is_permalink(anchor: dom.Element, heading: dom.Element) -> bool:
    """Return whether the link leads to its own heading and is named for that, beside the heading's own words."""
    href, names = anchor.attr("href") or "", (anchor.attr("class") or "").lower()
    if not href.startswith("#") or not any(word in names for word in _ANCHOR_WORDS):
        return False
    own = href[1:] in (heading.attr("id"), anchor.attr("id")) or heading.attr("id") is None
    rest = dom.text_of(heading).replace(dom.text_of(anchor), "", 1)
    return own and any(character.isalnum() for character in rest) and anchor.next_sibling is None


def _drop_trailing_sign(heading: dom.Element) -> None:
    """Remove a permalink sign that is plain text."""
    texts = [node for node in dom.nodes(heading) if isinstance(node, dom.Text) and not node.data.isspace()]
    dom.replace(texts[-1], texts[-1].data.rstrip().removesuffix("\ufe0e").rstrip("".join(_TRAILING_SIGNS)))

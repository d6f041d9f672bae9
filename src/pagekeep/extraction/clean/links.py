"""Links: absolute addresses, no links that lead nowhere, no permalink signs in headings."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState, Removals
from pagekeep.extraction.clean.vocabulary import HEADINGS, fill, is_line
from pagekeep.model import Removal
from pagekeep.text import compile_lazily

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

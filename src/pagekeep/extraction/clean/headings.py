"""Headings without the links that point at themselves."""

from __future__ import annotations

from typing import Final

from pagekeep import dom

_ANCHORS: Final = (
    ":is(h1,h2,h3,h4,h5,h6,dt) :is(a.anchor,a.headerlink,a.header-anchor,a.heading-anchor,a.anchor-link,a.permalink,"
    'a.hash-link,a.heading-link,a.anchorjs-link,a.octicon-link,a.direct-link,a[aria-hidden=true],a[href^="#"],'
    "a[title=Permalink],span.mw-editsection,a.mw-editsection,[class~=headline-anchor])"
)
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_AT_THE_END: Final = ("\u00b6", "\U0001f517", "\U0001f517\ufe0e")
_SIGNS: Final = frozenset(
    ("", "#", "¶", "§", "🔗", "🔗︎", "link", "permalink", "anchor", "direct link", "copy link", "[edit]", "edit")
)


def drop_heading_anchors(root: dom.Element) -> None:
    """Drop permalink signs and edit links from headings; a link that is the heading's own text stays text."""
    for anchor in dom.select(root, _ANCHORS):
        text = dom.text_of(anchor).strip()
        if anchor.tag == "span" or text.lower() in _SIGNS or (text[:1] == "#" and text == anchor.attr("href")):
            dom.drop(anchor)
    for heading in dom.tagged(root, _HEADINGS):
        if dom.text_of(heading).rstrip().endswith(_AT_THE_END):
            _drop_sign(heading)


def _drop_sign(heading: dom.Element) -> None:
    """Drop a sign for a link that is no link any more."""
    texts = [node for node in dom.nodes(heading) if isinstance(node, dom.Text) and not node.data.isspace()]
    dom.replace(texts[-1], texts[-1].data.rstrip().removesuffix("\ufe0e").rstrip("".join(_AT_THE_END)))

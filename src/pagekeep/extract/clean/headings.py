"""Headings without the links that point at themselves."""

from __future__ import annotations

from typing import Final

from pagekeep import dom

_ANCHORS: Final = (
    ":is(h1,h2,h3,h4,h5,h6,dt) :is(a.anchor,a.headerlink,a.header-anchor,a.heading-anchor,a.anchor-link,a.permalink,"
    'a.hash-link,a.heading-link,a.anchorjs-link,a.octicon-link,a.direct-link,a[aria-hidden=true],a[href^="#"],'
    "a[title=Permalink],span.mw-editsection,a.mw-editsection,[class~=headline-anchor])"
)
_SIGNS: Final = frozenset(
    ("", "#", "¶", "§", "🔗", "🔗︎", "link", "permalink", "anchor", "direct link", "copy link", "[edit]", "edit")
)


def drop_heading_anchors(root: dom.Element) -> None:
    """Drop permalink signs and edit links from headings; a link that is the heading's own text stays text."""
    for anchor in dom.select(root, _ANCHORS):
        if anchor.tag == "span" or dom.text_of(anchor).strip().lower() in _SIGNS:
            dom.drop(anchor)

"""Figures: images with the captions beside them."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState
from pagekeep.extraction.clean.vocabulary import ancestors, first_elements, shown_after, shown_before

_CAPTIONS: Final = (
    ".wp-caption-text,.image-caption,.img-caption,.photo-caption,.caption-text,.media-caption,.figure-caption,.gallery-caption,"
    ".thumbcaption,.image__caption,.wp-element-caption,p.caption,div.caption,span.caption,.td-caption,.tr-caption,.caption-img,"
    "em.caption,small.caption,.article-image-caption,.picture-caption,.imageCaption"
)
_MAX_FRAME_ELEMENTS: Final = 20
"""More elements around one image are more than its frame."""
_MAX_CAPTION_DEPTH: Final = 5
"""Boxes between a caption and its figure."""
_BOXES: Final = frozenset(("div", "p", "dl", "span", "section", "center", "aside", "td", "a"))


def join_figures(state: CleanState) -> None:
    """Join an image and the caption right after it in a figure."""
    if not (state.index.has_tag("img") and state.index.has_class("aption")):
        return
    for caption in dom.select(state.root, _CAPTIONS):
        if caption.tag in ("figure", "img", "table", "figcaption", "caption") or not dom.text_of(caption).strip():
            continue
        if _is_in_figure(caption):
            if caption.tag != "figcaption" and dom.first(caption, "img") is None:
                dom.retag(caption, "figcaption" if _parent_tag(caption) == "figure" else caption.tag)
            continue
        _join(caption)


def _parent_tag(node: dom.Element) -> str:
    return node.parent.tag if isinstance(node.parent, dom.Element) else ""


def _is_in_figure(node: dom.Element) -> bool:
    return any(above.tag == "figure" for above in ancestors(node, _MAX_CAPTION_DEPTH))


def _join(caption: dom.Element) -> None:
    box = caption.parent
    if not isinstance(box, dom.Element):
        return
    beside = dom.previous_element(caption)
    if beside is None or not _is_picture(beside):
        return
    figure = dom.element("figure")
    if beside.tag in ("dt", "dd", "li"):
        inner = dom.element("p")
        dom.prepend(beside, inner)
        dom.append(inner, *beside.children[1:])
        dom.unwrap(beside)
        beside = inner
    alone = shown_before(beside) is None and shown_after(caption) is None
    dom.add_before(beside, figure)
    dom.append(figure, beside, dom.element("figcaption", None, *caption.children))
    dom.drop(caption)
    if alone and box.tag in _BOXES and box.parent is not None and box.tag != "td":
        dom.unwrap(box)


def _is_picture(node: dom.Element) -> bool:
    """Return whether the element shows one image and no words."""
    if node.tag == "img":
        return True
    inside = first_elements(node, _MAX_FRAME_ELEMENTS)
    return (
        len(inside) < _MAX_FRAME_ELEMENTS
        and sum(part.tag == "img" for part in inside) == 1
        and not dom.text_of(node).strip()
    )

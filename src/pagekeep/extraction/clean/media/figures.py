"""Figures: images with the captions beside them."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState
from pagekeep.extraction.clean.vocabulary import ancestors, fill, first_elements, is_blank, shown_after, shown_before
from pagekeep.text import compile_lazily

_CAPTIONS: Final = (
    ".wp-caption-text,.image-caption,.img-caption,.photo-caption,.caption-text,.media-caption,.figure-caption,.gallery-caption,"
    ".thumbcaption,.image__caption,.wp-element-caption,p.caption,div.caption,span.caption,.td-caption,.tr-caption,.caption-img,"
    "em.caption,small.caption,.article-image-caption,.picture-caption,.imageCaption"
)
_MAX_FRAME_ELEMENTS: Final = 20
"""More elements around one image are more than its frame."""
_MAX_CAPTION_DEPTH: Final = 5
"""Boxes between a caption and its figure."""
_MAX_FRAME_DEPTH: Final = 4
"""Boxes between an image and the box that also holds its caption."""
_MAX_CAPTION_CHARS: Final = 300
"""Of a caption; a longer text beside an image is a paragraph."""
_MAX_LINK_SHARE: Final = 0.5
"""Share of a caption's text in links; a card with a picture is nearly all link."""
_FRAMES: Final = frozenset(("div", "p", "dl", "section", "center", "aside"))
_NO_CAPTION: Final = frozenset(
    "h1 h2 h3 h4 h5 h6 ul ol table pre blockquote button form input iframe video figure".split()
)
_CAPTION_WORDS: Final = frozenset(
    "caption captions captiontext imagecaption imgcaption photocaption legend legende legenda leyenda didascalia cutline "
    "credit credits photocredit imagecredit fotocredit bildunterschrift bildtext bildzeile bildquelle bu bijschrift "
    "onderschrift bildetekst billedtekst kuvateksti podpis popisek piedefoto piefoto".split()
)
"""Words in the class of a caption or credit, in the languages whose sites name it in their own."""
_PICTURE_WORDS: Final = frozenset(
    "image img photo picture foto bild bilder imagen imagem immagine afbeelding kuva obrazek zdjecie illustration "
    "thumbinner".split()
)
"""Words in the class of the box of one picture."""
_WORDS: Final = compile_lazily(r"[a-z]+")
_CAMEL: Final = compile_lazily(r"(?<=[a-z])(?=[A-Z])")
_BOXES: Final = frozenset(("div", "p", "dl", "span", "section", "center", "aside", "td", "a"))


def join_figures(state: CleanState) -> None:
    """Join an image and the caption right after it in a figure."""
    if not state.index.has_tag("img"):
        return
    for caption in dom.select(state.root, _CAPTIONS) if state.index.has_class("aption") else ():
        if caption.tag in ("figure", "img", "table", "figcaption", "caption") or not dom.text_of(caption).strip():
            continue
        if _is_in_figure(caption):
            if caption.tag != "figcaption" and dom.first(caption, "img") is None:
                dom.retag(caption, "figcaption" if _parent_tag(caption) == "figure" else caption.tag)
            continue
        _join(caption)
    for image in state.index.find("img"):
        if (frame := _find_frame(image)) is not None:
            _write_figure(frame, image)


def _find_frame(image: dom.Element) -> dom.Element | None:
    """Return the box that holds the image and its caption alone: by names in classes, or because all words are in italics."""
    for box in ancestors(image, _MAX_FRAME_DEPTH):
        if box.tag not in _FRAMES:
            if box.tag in ("a", "picture", "span") and not dom.text_of(box).strip():
                continue
            return None
        inside = first_elements(box, _MAX_FRAME_ELEMENTS)
        if len(inside) == _MAX_FRAME_ELEMENTS or sum(part.tag == "img" for part in inside) != 1:
            return None
        text = dom.text_of(box).strip()
        if text:
            fits = len(text) <= _MAX_CAPTION_CHARS and not any(part.tag in _NO_CAPTION for part in inside)
            return box if fits and _is_captioned(box, inside, text) and not _is_in_figure(image) else None
    return None


def _is_captioned(box: dom.Element, inside: list[dom.Element], text: str) -> bool:
    linked = sum(len(dom.text_of(part).strip()) for part in inside if part.tag == "a")
    if linked > _MAX_LINK_SHARE * len(text):
        return False  # a card
    if any(_has_word(part, _CAPTION_WORDS) for part in inside) or _has_word(box, _CAPTION_WORDS):
        return True
    slanted = next((part for part in inside if part.tag in ("em", "i", "small", "figcaption")), None)
    if slanted is not None and dom.text_of(slanted).strip() == text:
        return True
    return _has_word(box, _PICTURE_WORDS) and box.tag != "p"


def _has_word(node: dom.Element, words: frozenset[str]) -> bool:
    names = node.attr("class") or ""
    return bool(names) and not words.isdisjoint(_WORDS.findall(_CAMEL.sub("-", names).lower()))


def _write_figure(box: dom.Element, image: dom.Element) -> None:
    """Turn the box into a figure with the image first and all its words in one caption."""
    picture: dom.Node = image
    while isinstance(picture.parent, dom.Element) and picture.parent is not box:
        picture = picture.parent
        if dom.text_of(picture).strip():
            picture = image
            break
    caption = dom.element("figcaption")
    dom.drop(picture)
    for child in list(box.children):
        if caption.children and isinstance(child, dom.Element) and child.tag in ("p", "div"):
            dom.append(caption, " ")
        is_block = isinstance(child, dom.Element) and child.tag in ("p", "div")
        dom.append(caption, *(list(child.children) if is_block else [child]))
    for line_break in dom.select(caption, "br"):
        dom.replace(line_break, " ")
    shown = [child for child in caption.children if not is_blank(child)]
    if len(shown) == 1 and isinstance(shown[0], dom.Element) and shown[0].tag in ("em", "i", "small"):
        fill(caption, *shown[0].children)  # captions are written in italics anyway
    fill(box, picture, caption)
    dom.retag(box, "figure")


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

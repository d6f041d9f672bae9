"""Images and figures: the real address behind lazy loading, captions; no trackers, spacers or duplicates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import (
    CleanState,
    Removals,
    ancestors,
    class_names,
    fill,
    first_elements,
    is_blank,
    is_tag,
    shown_after,
    shown_before,
)
from pagekeep.extraction.input.urls import Resolve
from pagekeep.model import Removal
from pagekeep.text import compile_lazily

_ADDRESS_ATTRIBUTES: Final = (
    "data-src",
    "data-lazy-src",
    "data-original",
    "data-orig-file",
    "data-lazy",
    "data-actualsrc",
    "data-full-src",
    "data-hi-res-src",
    "data-hires",
    "data-image",
    "data-img-src",
    "data-ll-src",
    "data-echo",
    "data-url",
    "data-runner-src",
    "data-original-src",
    "data-canonical-src",
    "src",
)
_LAZY_SRCSETS: Final = ("data-srcset", "data-lazy-srcset", "data-original-set", "data-ll-srcset")
_MAX_WIDTH: Final = 2600.0
"""Pixels; wider candidates are originals for print: megabytes that no screen shows."""
_MAX_SOURCES: Final = 20
"""Of one `picture`; bounds the cost of broken markup."""
_MAX_SRCSET_CHARS: Final = 20_000
"""Of a `srcset` that are read; the longest of 8,060 in the corpora has 3,742."""
_MAX_ADDRESS_CHARS: Final = 2000
"""An attribute with more characters is not an address but data."""
_MAX_FILE_NAME_CHARS: Final = 99
"""A placeholder has a short file name; bounds the cost of the pattern for it."""
_MAX_SIZE: Final = 1e6
"""Of a candidate in a `srcset`, in pixels or density; more is an error."""
_MAX_EMOJI_NAME_CHARS: Final = 40
"""A longer text for an emoji is a description of a picture."""
_MIN_ALT_CHARS: Final = 9
"""Two images with the same text of at least this length are the same picture; "photo" and "logo" are not enough."""
_MAX_BOXES: Final = 8
"""Boxes around an image that are searched for its neighbours."""
_PLACEHOLDER: Final = compile_lazily(
    r"(?:(?:.{0,40}[_.-])?(?:placeholder|spacer|lazy|lazyload)(?:[_.-][\w-]{0,40})?"
    r"|(?:.{0,10}[_.-])?(?:blank|transparent|pixel|clear|empty|gr[ea]y|loading|loader|1x1)(?:[_.-][\w-]{0,12})?|s)"
    r"\.(?:gif|png|svg|jpe?g|webp)"
)
"""File names of placeholders that are visible until the image is loaded."""
_BLANK_WORDS: Final = "placeholder spacer lazy blank transparent pixel clear empty gray grey load 1x1".split()
"""One of these is in every such name but that of `s.gif`."""
_TRACKERS: Final = compile_lazily(
    r"//pixel\.|//track\.|//tracking\.|//tracker\.|//beacon\.|//stats\.|//counter\.|//analytics\.|//b\.scorecard|"
    r"facebook\.com/tr[?/]|doubleclick\.net|quantserve|google-analytics|/pixel\.gif|/pixel\.png|/pixel\?|/beacon|"
    r"/tracking\.gif|/track\?|feedburner\.com/~|feedsportal|/_/stat\?|stats\.wordpress|republication-tracker|"
    r"/piwik\.php|/matomo\.php"
)
_TRACKER_WORDS: Final = (
    "pixel track beacon stat counter analytics scorecard facebook doubleclick quantserve feed piwik matomo".split()
)
"""One of these is in the address of every tracker."""
_PICTURE_FILE: Final = compile_lazily(r"\.(?:jpe?g|png|webp|gif|avif)(?:$|[?#])", re.I)
_SIZE_SUFFIX: Final = compile_lazily(r"[-_](?:\d{2,4}x\d{2,4}|small|medium|large|thumb(?:nail)?)?(?:\.\w{3,4})?$")
_TINY_STYLE: Final = compile_lazily(r"(?:^|;)\s*(?:width|height)\s*:\s*[01]px", re.I)


def resolve_images(state: CleanState) -> list[Removal]:
    """Give every image its real absolute address; remove trackers, placeholders and duplicates."""
    removals, resolve = Removals(state.changes), state.resolve
    images = state.index.find("img", "picture", "noscript", "amp-img", "amp-anim", "image")
    for node in images:
        if node.tag == "noscript":
            _place_fallback(node, resolve, removals)
    previous: dom.Element | None = None
    for node in images:
        if node.tag in ("amp-img", "amp-anim", "image"):
            dom.retag(node, "img")
        if node.tag != "img" or is_tag(node.parent, "noscript"):
            continue
        if _resolve_image(node, resolve, removals):
            if previous is not None and _is_same_picture(previous, node) and _are_neighbours(previous, node):
                removals.drop(node, "same image as the one before")
            else:
                previous = node
    for node in images:
        if node.tag == "picture":
            dom.unwrap(node)
    return removals


def _resolve_image(image: dom.Element, resolve: Resolve, removals: Removals) -> bool:
    """Set the image's address or remove the image; return whether it stayed."""
    emoji = _emoji(image)
    if emoji is not None:
        dom.replace(image, emoji)
        return False
    address = None if _is_tiny(image) else _best_address(image, resolve)
    if address is None or (any(word in address for word in _TRACKER_WORDS) and _TRACKERS.search(address)):
        removals.drop(
            image,
            "placeholder or image without an address" if address is None and not _is_tiny(image) else "tracking pixel",
        )
        return False
    if address != image.attr("src"):
        dom.set_attr(image, "src", address)
    if inside := list(image.children):  # only an AMP image has any
        removals.record_words(inside, "fallback of an image")
        fill(image)
    return True


def _emoji(image: dom.Element) -> str | None:
    """Return the character that a picture of an emoji shows."""
    alt = image.attr("alt") or ""
    if not alt or len(alt) > _MAX_EMOJI_NAME_CHARS:
        return None
    names = class_names(image)
    if "emoji" in names or "wp-smiley" in names or "twemoji" in names or "joypixels" in names:
        return alt
    return None


def is_emoji(image: dom.Element) -> bool:
    """Return whether the clean-up replaces the image with the character that it shows."""
    return _emoji(image) is not None


def _is_tiny(image: dom.Element) -> bool:
    width, height = image.attr("width"), image.attr("height")
    if width in ("0", "1", "1px", "2") and height in (None, "", "0", "1", "1px", "2"):
        return True
    if height in ("0", "1", "1px") and not width:
        return True
    return len(_TINY_STYLE.findall(image.attr("style") or "")) > 1


# -- the address ------------------------------------------------------------------------------------------------------


def _best_address(image: dom.Element, resolve: Resolve) -> str | None:
    for address in _addresses(image):
        if not address.startswith(("data:", "blob:", "about:", "#")) and not is_placeholder(address):
            target = resolve(address)
            if target is not None:
                return target
    return None


def is_placeholder(address: str | None) -> bool:
    """Return whether the address is of a placeholder file."""
    name = (address or "").partition("?")[0].rpartition("/")[2].lower()
    if len(name) > _MAX_FILE_NAME_CHARS or not (name.startswith("s.") or any(word in name for word in _BLANK_WORDS)):
        return False
    return _PLACEHOLDER.fullmatch(name) is not None


def _addresses(image: dom.Element) -> Iterator[str]:
    """Yield the addresses the image may have, best first."""
    yield from _by_size(image.attr("srcset") or "")
    attributes = dom.attributes(image)
    for name in _LAZY_SRCSETS:
        if name in attributes:
            yield from _by_size(attributes[name])
    yield from _picture_sources(image)
    for name in _ADDRESS_ATTRIBUTES:
        if name in attributes and (address := attributes[name].strip()):
            yield address
    for name, value in attributes.items():
        if (
            name not in ("alt", "title")
            and len(value) < _MAX_ADDRESS_CHARS
            and _PICTURE_FILE.search(value)
            and " " not in value.strip()
        ):
            yield value.strip()


def _picture_sources(image: dom.Element) -> Iterator[str]:
    parent = image.parent
    if not isinstance(parent, dom.Element) or parent.tag != "picture":
        return
    sources: list[dom.Element] = []
    before = dom.previous_element(image)
    while before is not None and before.tag == "source" and len(sources) < _MAX_SOURCES:
        sources.append(before)
        before = dom.previous_element(before)
    for source in reversed(sources):
        yield from _by_size(source.attr("srcset") or source.attr("data-srcset") or "")


def _by_size(srcset: str) -> list[str]:
    """Return the addresses of a `srcset`, the largest sensible one first."""
    if not srcset:
        return []
    sized = [
        (size if size <= _MAX_WIDTH else 1 / size, address) for address, size in _candidates(srcset[:_MAX_SRCSET_CHARS])
    ]
    sized.sort(key=lambda pair: -pair[0])
    return [address for _, address in sized]


def _candidates(srcset: str) -> Iterator[tuple[str, float]]:
    """Yield address and size of each candidate. Addresses may hold commas; only a comma at their end separates."""
    address = ""
    for token in srcset.split():
        if not address:
            address = token
            if token.endswith(","):
                yield address.rstrip(","), 1.0
                address = ""
            continue
        size, _, glued = token.partition(",")
        yield address, _size(size)
        address = glued
    if address:
        yield address.rstrip(","), 1.0


def _size(descriptor: str) -> float:
    try:
        size = float(descriptor[:-1])
    except ValueError:
        return 1.0
    return size if 0 < size < _MAX_SIZE else 1.0


# -- fallbacks and duplicates --------------------------------------------------------------------------------------------


def _place_fallback(noscript: dom.Element, resolve: Resolve, removals: Removals) -> None:
    """Use the image for browsers without scripts in place of the placeholder beside it, or alone."""
    images = dom.select(noscript, "img")
    if not images:
        return
    beside = _image_beside(noscript)
    if beside is None:
        dom.unwrap(noscript)
    else:
        if _best_address(beside, resolve) is None:
            removals.record(beside, "placeholder or image without an address")
            dom.replace(beside, images[0])
        removals.record_words([noscript], "fallback for browsers without scripts")
        dom.drop(noscript)


def _image_beside(noscript: dom.Element) -> dom.Element | None:
    for step in (dom.previous_element, dom.next_element):
        other = step(noscript)
        if other is None:
            continue
        if other.tag == "img":
            return other
        if other.tag in ("picture", "span", "div", "a", "figure"):
            image = dom.first(other, "img")
            if image is not None and not dom.text_of(other).strip():
                return image
    return None


def _is_same_picture(one: dom.Element, other: dom.Element) -> bool:
    """Return whether two images show the same picture, perhaps in two sizes."""
    alt = (one.attr("alt") or "").strip()
    if len(alt) >= _MIN_ALT_CHARS and alt == (other.attr("alt") or "").strip():
        return True
    return _picture_name(one) == _picture_name(other)


def _picture_name(image: dom.Element) -> str:
    return _SIZE_SUFFIX.sub("", (image.attr("src") or "").partition("?")[0])


def _are_neighbours(one: dom.Element, other: dom.Element) -> bool:
    """Return whether nothing but boxes is between two images."""
    node: dom.Node | None = other
    for _ in range(_MAX_BOXES):
        if node is None:
            return False
        before = shown_before(node)
        while is_tag(before, "source") and before is not None:
            before = shown_before(before)
        if before is not None:
            return _ends_with(before, one)
        node = node.parent
    return False


def _ends_with(node: dom.Node, image: dom.Element) -> bool:
    for _ in range(_MAX_BOXES):
        if node is image:
            return True
        visible = [child for child in node.children if not is_blank(child)]
        if not visible:
            return False
        node = visible[-1]
    return False


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

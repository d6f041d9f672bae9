"""Images: the real address behind every way of loading late, and no picture that only counts readers or fills space."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.links import Resolve
from pagekeep.extraction.clean.vocabulary import class_names, is_blank, is_tag, shown_before, stands_alone

_LAZY: Final = (
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
_LAZY_SETS: Final = ("data-srcset", "data-lazy-srcset", "data-original-set", "data-ll-srcset")
_WIDEST: Final = 2600.0
"""Candidates wider than this are originals for print: megabytes that no screen shows."""
_MAX_SOURCES: Final = 20
_PARAGRAPH: Final = 80
_PLACEHOLDER: Final = re.compile(
    r"(?:(?:.{0,40}[_.-])?(?:placeholder|spacer|lazy|lazyload)(?:[_.-][\w-]{0,40})?"
    r"|(?:.{0,10}[_.-])?(?:blank|transparent|pixel|clear|empty|gr[ea]y|loading|loader|1x1)(?:[_.-][\w-]{0,12})?|s)"
    r"\.(?:gif|png|svg|jpe?g|webp)"
)
"""Names of files that stand in for a picture until it is loaded."""
_TRACKERS: Final = (
    "//pixel. //track. //tracking. //tracker. //beacon. //stats. //counter. //analytics. //b.scorecard "
    "facebook.com/tr? facebook.com/tr/ doubleclick.net quantserve google-analytics /pixel.gif /pixel.png /pixel? "
    "/beacon /tracking.gif /track? feedburner.com/~ feedsportal /_/stat? stats.wordpress republication-tracker "
    "/piwik.php /matomo.php"
).split()
_PICTURE_FILE: Final = re.compile(r"\.(?:jpe?g|png|webp|gif|avif)(?:$|[?#])", re.I)
_SIZE_SUFFIX: Final = re.compile(r"[-_](?:\d{2,4}x\d{2,4}|small|medium|large|thumb(?:nail)?)?(?:\.\w{3,4})?$")
_TINY_STYLE: Final = re.compile(r"(?:^|;)\s*(?:width|height)\s*:\s*[01]px", re.I)


def resolve_images(root: dom.Element, resolve: Resolve) -> None:
    """Give every image its real absolute address; drop those that show nothing."""
    found = dom.select(root, "img,picture,noscript,amp-img,amp-anim,image")
    if not found:
        return
    for node in found:
        if node.tag == "noscript":
            _place_fallback(node, resolve)
    previous: dom.Element | None = None
    for node in found:
        if node.tag in ("amp-img", "amp-anim", "image"):
            dom.retag(node, "img")
        if node.tag != "img" or is_tag(node.parent, "noscript"):
            continue
        if _settle_image(node, resolve):
            if previous is not None and _same_picture(previous, node) and _stand_together(previous, node):
                dom.drop(node)
            else:
                previous = node
    for node in found:
        if node.tag == "picture":
            dom.unwrap(node)


def part_images(root: dom.Element) -> None:
    """Set images apart from the words they touch: those ahead of a paragraph get a line of their own."""
    for image in dom.tagged(root, ("img",)):
        link = image.parent
        node: dom.Node = link if link is not None and is_tag(link, "a") and stands_alone(image) else image
        after, before = node.next_sibling, node.previous_sibling
        if isinstance(after, dom.Text) and after.data[:1].isalnum():
            if isinstance(node.parent, dom.Element) and _opens_paragraph(node, node.parent):
                dom.add_before(node.parent, dom.element("p", None, node))
            else:
                dom.add_after(node, " ")
        if isinstance(before, dom.Text) and before.data[-1:].isalnum():
            dom.add_before(node, " ")


def _opens_paragraph(node: dom.Node, paragraph: dom.Element) -> bool:
    """Whether the image stands ahead of more than a label."""
    return paragraph.tag == "p" and shown_before(node) is None and len(dom.text_of(paragraph)) >= _PARAGRAPH


def _settle_image(image: dom.Element, resolve: Resolve) -> bool:
    """Set the image's address, or drop it; whether it stayed."""
    emoji = _emoji(image)
    if emoji is not None:
        dom.replace(image, emoji)
        return False
    address = None if _is_tiny(image) else _best_address(image, resolve)
    if address is None or any(sign in address for sign in _TRACKERS):
        dom.drop(image)
        return False
    if address != image.attr("src"):
        dom.set_attr(image, "src", address)
    for inner in list(image.children):  # only an AMP image has any
        dom.drop(inner)
    return True


def _emoji(image: dom.Element) -> str | None:
    """The character that a picture of an emoji stands for."""
    alt = image.attr("alt") or ""
    if not alt or len(alt) > 40:
        return None
    names = class_names(image)
    if "emoji" in names or "wp-smiley" in names or "twemoji" in names or "joypixels" in names:
        return alt
    return None


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
        if not address.startswith(("data:", "blob:", "about:")) and not is_placeholder(address):
            target = resolve(address)
            if target is not None:
                return target
    return None


def is_placeholder(address: str | None) -> bool:
    """Whether the address is of a file that stands in for the picture."""
    name = (address or "").partition("?")[0].rpartition("/")[2]
    return len(name) < 100 and _PLACEHOLDER.fullmatch(name.lower()) is not None


def _addresses(image: dom.Element) -> Iterator[str]:
    """Where the picture may be, best first."""
    yield from _by_size(image.attr("srcset") or "")
    attributes = dom.attributes(image)
    for name in _LAZY_SETS:
        if name in attributes:
            yield from _by_size(attributes[name])
    yield from _picture_sources(image)
    for name in _LAZY:
        if name in attributes and (address := attributes[name].strip()):
            yield address
    for name, value in attributes.items():
        if (
            name not in ("alt", "title")
            and len(value) < 2000
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
    """The addresses of a `srcset`, the largest sensible one first."""
    if not srcset:
        return []
    sized = [(size if size <= _WIDEST else 1 / size, address) for address, size in _candidates(srcset[:20_000])]
    sized.sort(key=lambda pair: -pair[0])
    return [address for _, address in sized]


def _candidates(srcset: str) -> Iterator[tuple[str, float]]:
    """Address and size of each candidate. Addresses may hold commas; only one at their end separates."""
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
    return size if 0 < size < 1e6 else 1.0


# -- fallbacks and doubles --------------------------------------------------------------------------------------------


def _place_fallback(noscript: dom.Element, resolve: Resolve) -> None:
    """The image for readers without scripts stands in for the placeholder beside it, or alone."""
    images = dom.select(noscript, "img")
    if not images:
        return
    beside = _image_beside(noscript)
    if beside is None:
        dom.unwrap(noscript)
    else:
        if _best_address(beside, resolve) is None:
            dom.replace(beside, images[0])
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


def _same_picture(one: dom.Element, other: dom.Element) -> bool:
    """Whether two images show the same, be it in two sizes."""
    alt = (one.attr("alt") or "").strip()
    if len(alt) > 8 and alt == (other.attr("alt") or "").strip():
        return True
    return _picture_name(one) == _picture_name(other)


def _picture_name(image: dom.Element) -> str:
    return _SIZE_SUFFIX.sub("", (image.attr("src") or "").partition("?")[0])


def _stand_together(one: dom.Element, other: dom.Element) -> bool:
    """Whether nothing but boxes stands between two images."""
    node: dom.Node | None = other
    for _ in range(8):
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
    for _ in range(8):
        if node is image:
            return True
        shown = [child for child in node.children if not is_blank(child)]
        if not shown:
            return False
        node = shown[-1]
    return False

"""Make SVG drawings harmless: without scripts, foreign content and addresses of others. Runs in a worker."""

from __future__ import annotations

import re
from typing import Final
from xml.etree import ElementTree

from pagekeep.values import dataclass

_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "http://www.w3.org/1999/xlink"
_START: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*>\s*)*<svg[\s>/]", re.S
)
_HEAD_BYTES: Final = 4_000
"""Where the root element of a drawing begins."""
_REMOVED: Final = frozenset(
    {"script", "foreignobject", "iframe", "object", "embed", "audio", "video", "handler", "listener", "set"}
)
"""Elements that run, load or change something. `set` and `animate*` can change an address to a script."""
_STYLE_ADDRESS: Final = re.compile(
    r"@import[^;]*;?|url\(\s*(?!['\"]?(?:#|data:image/(?:png|jpeg|gif|webp)))[^)]*\)", re.I
)
_INNER: Final = re.compile(r"\s*(?:#|data:image/(?:png|jpeg|gif|webp)[;,])", re.I)
"""Addresses within the drawing."""
_LENGTH: Final = re.compile(r"\s*(\d{1,6}(?:\.\d+)?)(?:px)?\s*")
_BOX: Final = re.compile(r"\s*[-\d.e]+[\s,]+[-\d.e]+[\s,]+(\d{1,6}(?:\.\d+)?)[\s,]+(\d{1,6}(?:\.\d+)?)\s*", re.I)
_MAX_ELEMENTS: Final = 200_000


@dataclass(frozen=True, slots=True)
class Drawing:
    """A harmless drawing."""

    body: bytes
    width: int | None
    height: int | None


def looks_like_svg(data: bytes) -> bool:
    """Return whether the data begins as an SVG drawing does."""
    return _START.match(data[:_HEAD_BYTES]) is not None or (
        b"<svg" in data[:_HEAD_BYTES] and data.lstrip()[:5] == b"<?xml"
    )


def clean_svg(data: bytes) -> Drawing | None:
    """Return the drawing without anything that runs or loads; `None` when it is not well-formed, or endless."""
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError):
        return None
    if root.tag != f"{{{_SVG}}}svg" or sum(1 for _ in root.iter()) > _MAX_ELEMENTS:
        return None
    _clean(root)
    width, height = (_length(root.get(name)) for name in ("width", "height"))
    if (width is None or height is None) and (box := _BOX.fullmatch(root.get("viewBox") or "")):
        width, height = round(float(box[1])), round(float(box[2]))
    return Drawing(ElementTree.tostring(root, encoding="utf-8"), width, height)


def _length(text: str | None) -> int | None:
    match = _LENGTH.fullmatch(text or "")
    return round(float(match[1])) if match else None


def _clean(root: ElementTree.Element) -> None:
    waiting = [root]
    while waiting:
        element = waiting.pop()
        for child in list(element):
            if _is_harmful(child):
                element.remove(child)
            else:
                waiting.append(child)
        _clean_attributes(element)
        if _local(element.tag) == "style" and element.text:
            element.text = _STYLE_ADDRESS.sub("", element.text)


def _is_harmful(element: ElementTree.Element) -> bool:
    """Return whether an element must go: elements of other vocabularies go too, such as HTML."""
    name = _local(element.tag)
    return not element.tag.startswith(f"{{{_SVG}}}") or name in _REMOVED or name.startswith("animate")


def _clean_attributes(element: ElementTree.Element) -> None:
    for name, value in list(element.attrib.items()):
        local = _local(name)
        is_address = local in ("href", "src") and not _INNER.match(value)
        if local.startswith("on") or is_address or "javascript:" in value.casefold():
            del element.attrib[name]
        elif "(" in value or "@" in value:
            element.attrib[name] = _STYLE_ADDRESS.sub("none", value)


def _local(name: str) -> str:
    return name.rpartition("}")[2].casefold()

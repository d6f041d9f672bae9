"""List the links and media of the clean content, each once, in order."""

from __future__ import annotations

from typing import Final, Literal

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.model import Link, Media

_MAX_TEXT_CHARS: Final = 500
"""Longer texts of links and captions are cut: a card can be one link with a whole article in it."""
_VIDEO_HOSTS: Final = (
    ".youtube.com", ".youtube-nocookie.com", ".youtu.be", ".vimeo.com", ".dailymotion.com", ".twitch.tv", ".tiktok.com",
    ".loom.com", ".wistia.com", ".wistia.net", ".bilibili.com", ".rumble.com", ".ted.com", ".streamable.com",
    ".brightcove.net", ".jwplayer.com", ".peertube.tv", ".odysee.com", ".vidyard.com",
)  # fmt: skip
_AUDIO_HOSTS: Final = (
    ".soundcloud.com", ".spotify.com", ".podcasts.apple.com", ".bandcamp.com", ".mixcloud.com", ".anchor.fm",
)  # fmt: skip
_VIDEO_ENDINGS: Final = (".mp4", ".webm", ".ogv", ".mov", ".m4v", ".m3u8")
_AUDIO_ENDINGS: Final = (".mp3", ".ogg", ".oga", ".wav", ".m4a", ".flac", ".opus", ".aac")


def links(root: dom.Element) -> tuple[Link, ...]:
    """Return the web links, one per URL with its first text; embeds and links within the page are left out."""
    found: dict[str, Link] = {}
    for anchor in dom.select(root, "a[href]"):
        url = urls.absolute(anchor.attr("href"))
        if url is None or anchor.attr("class") == "embed":
            continue
        known = found.get(url)
        # A page often links the same URL from an image first and from words later: the words say more.
        if known is None or not known.text:
            found[url] = Link(url, _text(anchor))
    return tuple(found.values())


def media(root: dom.Element) -> tuple[Media, ...]:
    """Return the images, videos and audio, one per URL, with alternative text and caption."""
    found: dict[str, Media] = {}
    for element in dom.select(root, "img[src], a.embed[href], video[src], audio[src]"):
        item = _image(element) if element.tag == "img" else _recording(element)
        if item is not None:
            found.setdefault(item.url, item)
    return tuple(found.values())


def _text(anchor: dom.Element) -> str:
    text = " ".join(dom.text_of(anchor)[: _MAX_TEXT_CHARS * 4].split())[:_MAX_TEXT_CHARS]
    if text:
        return text
    image = dom.first(anchor, "img[alt]")
    return _line(image.attr("alt")) if image is not None else ""


def _line(text: str | None) -> str:
    return " ".join((text or "")[: _MAX_TEXT_CHARS * 4].split())[:_MAX_TEXT_CHARS]


def _image(element: dom.Element) -> Media | None:
    url = urls.absolute(element.attr("src"))
    return Media("image", url, _line(element.attr("alt")), _caption(element)) if url else None


def _caption(element: dom.Element) -> str:
    """Return the caption of the figure around the element, at most two levels up (a link may be between)."""
    node = element.parent
    for _ in range(3):
        if not isinstance(node, dom.Element):
            return ""
        if node.tag == "figure":
            caption = next((child for child in node.children if _is_caption(child)), None)
            return _line(dom.text_of(caption)) if caption is not None else ""
        node = node.parent
    return ""


def _is_caption(node: dom.Node) -> bool:
    return isinstance(node, dom.Element) and node.tag == "figcaption"


def _recording(element: dom.Element) -> Media | None:
    url = urls.absolute(element.attr("href") or element.attr("src"))
    kind = _recording_kind(element, url) if url else None
    return Media(kind, url, _line(dom.text_of(element)), _caption(element)) if url and kind else None


def _recording_kind(element: dom.Element, url: str) -> Literal["video", "audio"] | None:
    path, domain = urls.path(url).lower(), f".{urls.host(url)}"  # The dot makes whole labels match.
    if element.tag == "audio" or path.endswith(_AUDIO_ENDINGS) or domain.endswith(_AUDIO_HOSTS):
        return "audio"
    if element.tag == "video" or path.endswith(_VIDEO_ENDINGS) or domain.endswith(_VIDEO_HOSTS):
        return "video"
    return None

"""The parts of the result: content, links and media; which are left out, and what a bookmark keeps."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple

from pagekeep import dom
from pagekeep.errors import RuleError
from pagekeep.extraction.input import urls
from pagekeep.extraction.output.quality import Output
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.model import Attempt, Caught, Kind, Link, Media, Metadata, Options, Page, Quality, Strategy, Trace
from pagekeep.model.clean_tree import CleanTree, read_tree
from pagekeep.model.on_demand import OnDemand
from pagekeep.text import count_words, reading_time


class Links(OnDemand[tuple[Link, ...]]):
    """The links of the content."""

    __slots__ = ("_html",)

    def __init__(self, html: str) -> None:
        self._html = html

    def make(self) -> tuple[Link, ...]:
        """Return the links; none if they cannot be listed, because the content is complete without."""
        with suppress(Exception):
            return list_links(dom.parse_fragment(self._html))
        return ()


class MediaFiles(OnDemand[tuple[Media, ...]]):
    """The images, videos and audio of the content."""

    __slots__ = ("_html",)

    def __init__(self, html: str) -> None:
        self._html = html

    def make(self) -> tuple[Media, ...]:
        """Return the images, videos and audio; none if they cannot be listed, because the content is complete without."""
        with suppress(Exception):
            return list_media(dom.parse_fragment(self._html))
        return ()


def list_on_demand(html: str) -> tuple[Any, Any]:
    """Return the links and the media of the content, to be listed when they are first read."""
    return Links(html).as_value(), MediaFiles(html).as_value()


class Content(NamedTuple):
    """The content with nothing outside the vocabulary of clean HTML: as a tree, as HTML, and as parsed from it."""

    tree: CleanTree
    html: str
    root: dom.Element


def sanitise_content(root: dom.Element) -> Content:
    """Return what is below the root with nothing outside the vocabulary."""
    html, parsed = sanitise(root)
    return Content(read_tree(parsed), html, parsed)


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


def list_links(root: dom.Element) -> tuple[Link, ...]:
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


def list_media(root: dom.Element) -> tuple[Media, ...]:
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


def find_skipped(options: Options) -> frozenset[str]:
    """Return the steps to skip: those named, and those whose result is switched off. `RuleError` for a bad selector."""
    for selector in options.selectors:
        try:
            dom.select(dom.element("div"), selector)
        except dom.SelectorError:
            hint = "Use a CSS selector, such as `main .story`."
            raise RuleError(f"{selector:.100} is not a CSS selector.", suggestions=(hint,)) from None
    switched_off = {
        "language": not options.detect_language,
        "tags": not options.extract_categories,
        "links-and-media": not (options.extract_links or options.extract_media),
    }
    return options.skip_steps | {step for step, is_off in switched_off.items() if is_off}


def make_page(
    url: str | None,
    output: Output,
    about: Metadata,
    kind: Kind,
    quality: Quality,
    strategy: Strategy,
    trace: Trace,
    *,
    links: tuple[Link, ...] = (),
    media: tuple[Media, ...] = (),
    **others: Any,
) -> Page:
    """Return the page with its content in all forms; `others` are further fields of `Page`."""
    return Page(
        url=url,
        markdown=output.markdown,
        document="",
        html=output.html,
        text=output.text,
        metadata=about,
        links=links,
        media=media,
        kind=kind,
        quality=quality,
        strategy=strategy,
        trace=trace,
        word_count=output.word_count,
        reading_time=reading_time(output.word_count),
        **others,
    )


def leave_out(page: Page, options: Options) -> Page:
    """Return the page without the parts that are switched off."""
    changes: dict[str, Any] = {}
    if not options.extract_categories:
        changes["metadata"] = replace(page.metadata, categories=(), keywords=(), suggested_tags=())
    if not options.enable_markdown:
        changes["markdown"] = ""
    if not options.extract_links:
        changes["links"] = ()
    if not options.extract_media:
        changes["media"] = ()
    return page.copy_with(**changes) if changes else page


def has_summary(about: Metadata) -> bool:
    """Return whether the page's description says something: a single word does not."""
    return bool(about.description) and count_words(about.description or "") > 1


def make_bookmark_content(about: Metadata) -> dom.Element:
    """Return what is kept of a page without content: its own description."""
    return dom.element("div", None, *([dom.element("p", None, about.description)] if about.description else []))


def explain_failure(caught: Caught | None, attempts: Iterable[Attempt]) -> str:
    """Return why there is no content: what came instead of the page, or why each strategy failed."""
    if caught:
        return f"{caught.reason.rstrip('.')}. {caught.suggestion}"
    return "; ".join(f"{attempt.strategy}: {attempt.reason}" for attempt in attempts if not attempt.passed)

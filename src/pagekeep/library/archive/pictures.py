"""Pictures of items: which are kept and which are to be, and their addresses in Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, cast
from urllib.parse import quote

from pagekeep.config import Settings
from pagekeep.errors import NotFound, StoreError
from pagekeep.model import BlobRole, Item, ItemBlob
from pagekeep.present.json_shapes import Picture, to_json
from pagekeep.present.sections import body_of
from pagekeep.store import Store

REASONS: Final[dict[str, str]] = {
    "too_large": "It is too large.",
    "too_many": "The page has too many pictures (setting `page_pictures`).",
    "page_full": "The pictures of the page take too much space (setting `page_picture_bytes`).",
    "library_full": "The library's space for files is used up (setting `archive_bytes`).",
    "not_found": "It was not found on the site.",
    "refused": "The site refuses to send it, or its address is private.",
    "unreachable": "The site could not be reached, or failed.",
    "timeout": "The download took too long.",
    "not_a_picture": "The site did not send a picture.",
    "damaged": "The file is damaged.",
    "not_wanted": "It was not requested.",
    "downscaled": "It was downscaled (setting `picture_bytes`).",
}
"""Reason codes in words."""


class KeptPicture(NamedTuple):
    """A picture from the library."""

    media_type: str
    data: bytes


def find_picture(store: Store, url: str, *, small: bool = False) -> KeptPicture | None:
    """Return the kept picture from an address, its thumbnail if `small`; `None` when it is not kept or cannot be read."""
    roles: list[tuple[BlobRole, ...]] = [("picture", "hero")]
    for chosen in [("thumbnail",), *roles] if small else roles:
        link = store.blobs.find_source(normal_source(url), chosen)
        if link is not None and link.hash is not None:
            try:
                return KeptPicture(link.media_type, store.blobs.get(link.hash))
            except (NotFound, StoreError):  # the folder of kept files is not there, or damaged
                continue
    return None


def list_pictures(store: Store, item_id: str) -> tuple[ItemBlob, ...]:
    """Return the pictures of an item, kept and left out, each once and in the order of the page."""
    links = store.blobs.of_item(item_id, ("picture", "hero"))
    by_source: dict[str, ItemBlob] = {}
    for link in links:
        by_source.setdefault(link.source, link)
    return tuple(sorted(by_source.values(), key=lambda link: link.position))


def left_out(pictures: Iterable[ItemBlob]) -> tuple[ItemBlob, ...]:
    """Return the pictures that are not kept."""
    return tuple(picture for picture in pictures if picture.state == "left_out")


def explain_reason(picture: ItemBlob) -> str:
    """Return why a picture was left out or changed, as a sentence; empty when there is nothing to say."""
    return REASONS.get(picture.reason or "", picture.reason or "")


def show_picture(item: Item, picture: ItemBlob) -> Picture:
    """Return a picture of the item in its JSON form."""
    return to_json(Picture, picture, main=picture.source == hero_source(item), message=explain_reason(picture) or None)


def show_pictures(store: Store, item: Item, wanted: Iterable[str] = ()) -> list[Picture]:
    """Return the pictures of an item in their JSON form, also `wanted` ones not downloaded yet, in the order of the page."""
    places = {url: place for place, url in enumerate(wanted)}
    shown = [(picture.source, show_picture(item, picture)) for picture in list_pictures(store, item.id)]
    known = {source for source, _ in shown}
    shown += [(url, _missing(url, main=url == hero_source(item))) for url in places if url not in known]
    return [shape for _, shape in sorted(shown, key=lambda one: places.get(one[0], len(places)))]


def _missing(url: str, *, main: bool) -> Picture:
    """Return a picture that was not downloaded yet."""
    nothing = dict.fromkeys(("reason", "message", "media_type", "width", "height", "bytes", "hash"))
    return cast("Picture", {"url": url, "state": "missing", "main": main, **nothing})


_MAX_URL_CHARS: Final = 8_000


def wanted_sources(item: Item, settings: Settings) -> list[str]:
    """Return the addresses of the pictures to keep, each once: the hero first, then those of the text in order."""
    wanted = item.metadata.keep_pictures or settings.keep_pictures
    if wanted == "none":
        return []
    hero = item.metadata.hero_image or ""
    urls = [hero] if hero.startswith(("http://", "https://")) else []
    if wanted == "all":
        urls += find_picture_urls(body_of(item.content))
    return list(dict.fromkeys(normal_source(url) for url in urls if len(url) <= _MAX_URL_CHARS))


def hero_source(item: Item) -> str | None:
    """Return the address of the item's main picture."""
    return normal_source(item.metadata.hero_image) if item.metadata.hero_image else None


def missing_sources(sources: Iterable[str], links: Iterable[ItemBlob]) -> list[str]:
    """Return the addresses that are not kept."""
    kept = {link.source for link in links if link.state == "kept" and link.role in ("picture", "hero")}
    return [source for source in sources if source not in kept]


_KEPT_CHARS: Final = "%!#$&'()*+,/:;=?@[]~"
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.M)
_PICTURE: Final = re.compile(r"(!\[(?:[^\[\]\\\n]++|\\.)*+\]\()(?:<([^<>\n]*+)>|((?:[^()\s<>]++|\([^()\s]*+\))++))")


def normal_source(url: str) -> str:
    """Return the address of a picture in one notation, whether it comes from a text or from a rendered page."""
    return quote(url.partition("#")[0].encode("utf-8", "replace"), safe=_KEPT_CHARS)


def find_picture_urls(markdown: str) -> list[str]:
    """Return the web addresses of the pictures in a text, each once."""
    urls: dict[str, None] = {}

    def collect(url: str) -> str:
        urls[url] = None
        return url

    replace_picture_urls(markdown, collect)
    return [url for url in urls if url.startswith(("http://", "https://"))]


def replace_picture_urls(markdown: str, new_urls: Callable[[str], str] | Mapping[str, str]) -> str:
    """Return the text with its pictures at other addresses; fenced code stays as it is."""
    find_new_url = new_urls.get if isinstance(new_urls, Mapping) else new_urls

    def replace_url(match: re.Match[str]) -> str:
        url = match[2] if match[2] is not None else match[3]
        new_url = find_new_url(url)
        return match[0] if new_url is None or new_url == url else f"{match[1]}{new_url}"

    parts = _split_fenced_code(markdown)
    return "".join(part if is_code else _PICTURE.sub(replace_url, part) for part, is_code in parts)


def _split_fenced_code(markdown: str) -> list[tuple[str, bool]]:
    """Return the text as alternating parts of prose and fenced code; `True` for code."""
    parts: list[tuple[str, bool]] = []
    begin, fence = 0, ""
    for match in _FENCE.finditer(markdown):
        if not fence:
            parts.append((markdown[begin : match.start()], False))
            begin, fence = match.start(), match[1]
        elif match[1].startswith(fence):
            end = markdown.find("\n", match.end())
            end = len(markdown) if end < 0 else end
            parts.append((markdown[begin:end], True))
            begin, fence = end, ""
    return [*parts, (markdown[begin:], bool(fence))]

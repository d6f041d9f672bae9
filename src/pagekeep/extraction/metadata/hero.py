"""Find the hero image: the picture that represents the page."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import unquote

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import Json, Structured, type_names
from pagekeep.extraction.metadata.clues import Clues, FieldValue
from pagekeep.model import Kind, Metadata
from pagekeep.text import compile_lazily

_NOT_HERO: Final = compile_lazily(
    r"(?:\A|[/_.@\s-])(?:placeholder|favicon|spacer|blank|pixel|fallback|sprite|avatars?|profileavatar|gravatar|icons?"
    r"|logos?|og-?default|default-?image|no-?image|default-(?:social|share|og)|(?:social|og|share|open-?graph)-(?:share|image|icon"
    r"|default|card)|subscribe-card)(?=[/_.@\s\d-]|\Z)"
    r"|logo(?=[_.\d-][^/]*\Z)|(?<!/vi)/[^/]*\bdefault\.\w+\Z|transparent\.\w+\Z|\.ico\Z|\A(?:data|blob):"
)
"""URLs of images that a site uses for every page, or that show nothing."""
_MAX_URL_CHARS: Final = 2_000
_MIN_HERO_WIDTH: Final = 120
"""Pixels; narrower images are icons."""
_MAX_DIGITS: Final = 5
_MAX_IMAGES: Final = 3
"""Images of one JSON-LD object that are tried."""
_MIN_HERO_HEIGHT: Final = 60
"""Pixels; lower images are icons, buttons and banners."""
_MAX_PICTURES: Final = 20
"""Pictures of the content that are looked at: the first real one comes early."""
_OF_MANY_THINGS: Final[frozenset[Kind]] = frozenset(("forum", "collection", "listing"))
"""Kinds of pages whose first picture shows one of many things, or the author of a post, rather than the page."""
_DECLARED: Final = frozenset(("json-ld", "opengraph", "twitter", "link", "microdata"))
"""Origins of an image that the page declares; any other is a rule, whose choice is final."""


def choose(known: Metadata, root: dom.Element, kind: Kind, structured: Structured) -> Metadata:
    """Return the metadata with the hero image: a rule's, else the first real picture of the content, else the declared one.

    Where the content is about many things, the declared image comes before the first picture.
    """
    if known.hero_image and (known.origins.get("hero_image") not in _DECLARED or kind in _OF_MANY_THINGS):
        return known
    picture = _find_picture(root, structured)
    if picture is None:
        return known
    return replace(known, hero_image=picture, origins=MappingProxyType({**known.origins, "hero_image": "content"}))


def _find_picture(root: dom.Element, structured: Structured) -> str | None:
    """Return the first picture of the clean content that is not an icon, a logo or a portrait."""
    for image in dom.tagged(root, ("img",), _MAX_PICTURES):
        url = image.attr("src")
        if (
            not url
            or _is_under(image.attr("width"), _MIN_HERO_WIDTH)
            or _is_under(image.attr("height"), _MIN_HERO_HEIGHT)
        ):
            continue
        drawing = url.partition("?")[0].lower().endswith(".svg")
        if not drawing and _may_be_hero(url) and url not in _logos_and_portraits(structured, {}, None):
            return url
    return None


def _is_under(size: str | None, least: int) -> bool:
    digits = (size or "").removesuffix("px")[:_MAX_DIGITS]
    return digits.isdecimal() and int(digits) < least


def find_declared(clues: Clues) -> FieldValue | None:
    """Return the image that the page declares as its main one; never a logo or a placeholder."""
    data = clues.structured
    targets = [
        *((image, "json-ld") for image in _images(clues.item, clues.by_id)),
        *((data.opengraph.get(name), "opengraph") for name in ("og:image", "og:image:secure_url", "og:image:url")),
        *((data.twitter.get(name), "twitter") for name in ("twitter:image", "twitter:image:src")),
        *((link, "link") for link in data.links.get("image_src", ())),
        *((image, "microdata") for image in data.properties.get("image", ())[:1]),
    ]
    for address, origin in targets:
        url = urls.absolute(address, clues.base)
        is_tiny = origin == "opengraph" and _is_tiny(clues)
        if url and not is_tiny and _may_be_hero(url) and url not in _logos_and_portraits(data, clues.by_id, clues.base):
            return url, origin
    return None


def _may_be_hero(url: str) -> bool:
    if len(url) > _MAX_URL_CHARS:
        return False
    path = unquote(url.lower().split("?")[0].partition("://")[2].partition("/")[2])
    return not _NOT_HERO.search(f"/{path}".replace("_", "-"))


def _is_tiny(clues: Clues) -> bool:
    return _is_under(clues.structured.opengraph.get("og:image:width", "").strip(), _MIN_HERO_WIDTH)


def _logos_and_portraits(structured: Structured, by_id: Any, base: str | None) -> frozenset[str]:
    """Return the images that the JSON-LD declares as logos of organisations or portraits of people."""
    images: list[Any] = []
    for item in structured.json_ld:
        publisher = item.get("publisher")
        images += [item.get("logo"), item.get("image") if "Person" in type_names(item) else None]
        images.append(publisher.get("logo") if isinstance(publisher, dict) else None)
    addresses = [_image_address(value, by_id) for value in images if value]
    return frozenset(url for address in addresses if address and (url := urls.absolute(address, base)))


def _images(item: Json, by_id: Any) -> list[str]:
    value = item.get("image") or item.get("thumbnailUrl")
    values = value[:_MAX_IMAGES] if isinstance(value, list) else [value]
    return [address for entry in values if (address := _image_address(entry, by_id))]


def _image_address(value: Any, by_id: Any) -> str | None:
    if isinstance(value, dict):
        identity = value.get("@id")
        known = by_id.get(identity, {}) if isinstance(identity, str) else {}
        value = value.get("url") or value.get("contentUrl") or known.get("url") or known.get("contentUrl")
        value = value[0] if isinstance(value, list) and value else value
    return value if isinstance(value, str) else None

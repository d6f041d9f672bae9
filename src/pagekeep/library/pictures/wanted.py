"""Which pictures of an item are to be kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pagekeep.config import Settings
from pagekeep.library.pictures.addresses import find_picture_urls, normal_source
from pagekeep.model import Item, ItemBlob
from pagekeep.present.sections import body_of

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

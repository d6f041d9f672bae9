"""Find the kept pictures of items, and say why others were left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from pagekeep.errors import NotFound, StoreError
from pagekeep.library.pictures.addresses import normal_source
from pagekeep.library.pictures.wanted import hero_source
from pagekeep.model import BlobRole, Item, ItemBlob
from pagekeep.present.archive_shapes import Picture, missing_shape, picture_shape
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
        link = store.find_source(normal_source(url), chosen)
        if link is not None and link.hash is not None:
            try:
                return KeptPicture(link.media_type, store.blob(link.hash))
            except (NotFound, StoreError):  # the folder of kept files is not there, or damaged
                continue
    return None


def list_pictures(store: Store, item_id: str) -> tuple[ItemBlob, ...]:
    """Return the pictures of an item, kept and left out, each once and in the order of the page."""
    links = store.item_blobs(item_id, ("picture", "hero"))
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
    return picture_shape(picture, main=picture.source == hero_source(item), message=explain_reason(picture))


def show_pictures(store: Store, item: Item, wanted: Iterable[str] = ()) -> list[Picture]:
    """Return the pictures of an item in their JSON form, also `wanted` ones not downloaded yet, in the order of the page."""
    places = {url: place for place, url in enumerate(wanted)}
    shown = [(picture.source, show_picture(item, picture)) for picture in list_pictures(store, item.id)]
    known = {source for source, _ in shown}
    shown += [(url, missing_shape(url, main=url == hero_source(item))) for url in places if url not in known]
    return [shape for _, shape in sorted(shown, key=lambda one: places.get(one[0], len(places)))]

"""Fill a library with the demo pages, and remove them again."""

from __future__ import annotations

import uuid
from asyncio import to_thread
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pagekeep import clock
from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.from_url import Progress, Retrieval, ignore_progress
from pagekeep.capture.uploads import sent_page
from pagekeep.errors import Conflict
from pagekeep.library import normal_url
from pagekeep.library.archive.keep_pictures import keep_uploaded
from pagekeep.library.items import build_item
from pagekeep.library.items.change import purge_items
from pagekeep.library.open import remove_unused
from pagekeep.model import Annotation, Item, ItemQuery, Options, Page, item_filters
from pagekeep.model.reading import ReadingState
from pagekeep.store import Store
from pagekeep_demo.draw import draw_picture
from pagekeep_demo.pages import DemoPage, load_pages, write_html

SOURCE: Final = "demo"
"""The source of the demo's items, by which they are found again."""
_PAGE_ITEMS: Final = 200
_CONTEXT_CHARS: Final = 40


async def fill_library(store: Store, retrieval: Retrieval, progress: Progress = ignore_progress) -> tuple[Item, ...]:
    """Save the demo pages that are not in the library yet, and return them.

    Nothing is fetched. Raises `Conflict` when the library has other pages. Ids and dates are always the same.
    """
    present = set()
    for item in await to_thread(lambda: list(_walk_all(store))):
        if item.source != SOURCE:
            raise Conflict(
                "The library already has pages, and the demo does not mix with them.",
                suggestions=("Give the demo a library to itself.",),
            )
        present.add(item.url)
    added = []
    for page in load_pages():
        if normal_url.normalise(page.url) not in present:
            progress(f"Saving {page.fields['title']}")
            added.append(await _save(page, store, retrieval))
    return tuple(added)


def remove_demo(store: Store) -> int:
    """Remove the demo pages with all that belongs to them; other pages stay. Return how many were removed."""
    now = clock.now()
    ids = [item.id for item in list(_walk_all(store)) if item.source == SOURCE]
    for item_id in ids:
        store.items.delete(item_id, now)
    count = purge_items(store, ids) if ids else 0
    remove_unused(store, at_once=True)
    return count


def _walk_all(store: Store) -> Iterator[Item]:
    """Yield every item, deleted ones too."""
    for deleted in (False, True):
        query = ItemQuery(filters=item_filters(deleted=deleted), limit=_PAGE_ITEMS)
        while True:
            page = store.search.find(query)
            yield from page.items
            if page.next is None:
                break
            query = replace(query, after=page.next)


async def _save(demo: DemoPage, store: Store, retrieval: Retrieval) -> Item:
    """Extract a page as an upload would be, store it with what its user did, and keep its picture."""
    options = Options(max_bytes=retrieval.settings.max_bytes)
    fetched = replace(sent_page(demo.url, write_html(demo), rendered=False))
    page = await retrieval.extract(fetched, options)
    url = normal_url.identity(demo.url, demo.url, page.metadata.canonical)
    item = build_item.new_item(
        page,
        fetched,
        url=url,
        url_full=demo.url,
        user_id=store.user_id,
        now=demo.saved_at,
        tags=tuple(demo.fields["tags"]),
        rules_hash=fingerprint(retrieval.rules),
        options=options,
        source=SOURCE,
    )
    about = replace(
        item.metadata, pinned=demo.fields.get("pinned") or None, archived=demo.fields.get("archived") or None
    )
    item = replace(item, id=_make_id(demo.url), metadata=about)
    stored = await to_thread(store.items.save, item, build_item.to_raw_page(fetched, demo.saved_at))
    for annotation in _annotations(demo, stored, page):
        await to_thread(store.annotations.put, annotation)
    if demo.opened_at:
        stored = await to_thread(store.items.mark_opened, stored.id, demo.opened_at)
        reading = _reading_state(stored.id, float(demo.fields.get("progress", 1)), demo.opened_at)
        await to_thread(store.reading.change, stored.id, lambda _old: reading)
    if demo.picture_url and retrieval.settings.keep_pictures != "none":
        picture = demo.fields["picture"]
        data = draw_picture(picture["scene"], picture["palette"])
        await keep_uploaded(stored, store, retrieval, demo.picture_url, data)
    return stored


def _reading_state(item_id: str, progress: float, time: str) -> ReadingState:
    is_read = progress >= 1
    return ReadingState(
        item_id,
        "read" if is_read else "reading",
        progress=progress,
        updated_at=time,
        read_at=time if is_read else None,
    )


def _make_id(*parts: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "\n".join(parts)))


def _annotations(demo: DemoPage, item: Item, page: Page) -> Iterator[Annotation]:
    text = " ".join(page.text.split())
    time = demo.opened_at or demo.saved_at
    for number, mark in enumerate(demo.fields.get("highlights", ())):
        quote, made = mark["quote"], clock.add_seconds(time, 60 * (number + 1))
        at = text.find(quote)
        before, after = text[max(0, at - _CONTEXT_CHARS) : at].strip(), text[at + len(quote) :][:_CONTEXT_CHARS].strip()
        identity = _make_id(demo.url, quote)
        yield Annotation(identity, item.id, quote, before, after, mark.get("note", ""), mark["colour"], made, made)
    if note := demo.fields.get("note"):
        yield Annotation(_make_id(demo.url, "", note), item.id, "", "", "", note, None, time, time)

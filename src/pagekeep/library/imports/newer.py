"""A newer copy of a page that the library already has: it becomes another version of the item."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

from pagekeep import clock
from pagekeep.errors import PagekeepError, StoreError
from pagekeep.library import build_item
from pagekeep.library.imports.merge import has_content
from pagekeep.model import Fetched, Item, Options, Page, RawPage
from pagekeep.store import Store


def add_newer(
    stored: Item, raw: RawPage | None, store: Store, read: Callable[[Fetched], Page], rules_hash: str, options: Options
) -> Item | None:
    """Store an imported raw page as the newest version of its item, and return the item; `None` when it is not one.

    It must be newer than what is stored, as good, and have other content, as the same parser makes it of both.
    """
    if raw is None or not has_content(stored) or stored.metadata.edited:
        return None
    versions = store.snapshots(stored.id)
    known = {version.hash for version in versions}
    if not versions or raw.fetched_at <= versions[-1].fetched_at or hashlib.sha256(raw.body).hexdigest() in known:
        return None
    fetched = build_item.to_fetched(raw)
    try:
        before = read(build_item.to_fetched(store.snapshot_raw(stored.id, versions[-1].number)))
        page = read(fetched)
    except StoreError:
        raise
    except PagekeepError:
        return None
    new = build_item.new_item(
        page,
        fetched,
        url=stored.url,
        url_full=stored.url_full,
        user_id=stored.user_id,
        now=clock.now(),
        saved_at=stored.saved_at,
        tags=(),
        rules_hash=rules_hash,
        options=options,
        source=stored.source,
    )
    if page.markdown == before.markdown or build_item.why_worse(new.metadata, stored.metadata):
        return None
    return store.upsert(replace(new, id=stored.id), raw, versions="add", version_source="import")

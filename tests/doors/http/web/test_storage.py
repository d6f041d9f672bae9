"""The storage page: what everything takes, and freeing what nothing uses."""

from __future__ import annotations

from dataclasses import replace

from fastapi.testclient import TestClient

from pagekeep.model import ItemBlob
from pagekeep.store import Store
from tests.store.making import NOW, make_item, make_raw


def test_page_shows_pictures_sites_and_frees_unused_files(client: TestClient, library: Store) -> None:
    item = library.items.save(make_item(domain="large.example"), make_raw())
    name = library.blobs.put(b"x" * 54_321, NOW)
    left_out = ItemBlob("picture", "https://large.example/b.png", "left_out", NOW, reason="not_found")
    library.blobs.link(
        item.id, [ItemBlob("picture", "https://large.example/a.png", "kept", NOW, "image/png", name, 54_321), left_out]
    )
    page = client.get("/settings/storage").text
    for words in ("54 KB", "large.example", "1 picture could not be kept", "There are none."):
        assert words in page
    shown = client.get(f"/items/{item.id}").text
    assert "1 picture could not be kept" in shown
    assert "https://large.example/b.png</a> It was not found on the site." in shown

    library.items.delete(item.id, NOW)
    library.items.purge()
    page = client.get("/settings/storage").text
    assert "1 file (54 KB) belongs to no page" in page
    answer = client.post("/settings/storage")
    assert "54 KB freed." in answer.text
    assert library.blobs.total_bytes() == 0


def test_empty_library_has_a_page_too(client: TestClient) -> None:
    assert "0 bytes in use" in client.get("/settings/storage").text


def test_earlier_versions_are_counted_apart(client: TestClient, library: Store) -> None:
    item = library.items.save(make_item(), make_raw(b"<p>" + b"The old pier. " * 90))
    library.items.save(replace(item, content="New."), make_raw(b"<p>The new pier."), versions="add")
    found = library.blobs.storage()
    assert (found.raw_pages.count, found.snapshots.count) == (2, 1)
    assert 0 < found.snapshots.bytes < found.raw_pages.bytes
    assert "Earlier versions" in client.get("/settings/storage").text

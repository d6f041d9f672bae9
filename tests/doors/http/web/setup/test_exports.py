"""Exports and backups in the browser."""

from __future__ import annotations

import io
import re
import time
import zipfile
from pathlib import Path

from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.library.backup import restore
from pagekeep.store import Store, open_store
from tests.store.making import make_item, make_raw

LINK = re.compile(r"/settings/export/[0-9a-f]{32}(?=\" download)")


def make(client: TestClient, kind: str, **more: str) -> bytes:
    """The file of an export, when it is complete."""
    client.post("/settings/export", data={"kind": kind, **more})
    for _ in range(600):
        page = client.get("/settings/export", headers={"x-part": "1"}).text
        if "<progress" not in page:
            break
        time.sleep(0.1)
    answer = client.get(LINK.findall(page)[0])
    assert answer.headers["content-disposition"].startswith("attachment")
    return answer.content


def test_an_export_is_made_downloaded_and_removed(client: TestClient, library: Store) -> None:
    library.items.save(make_item(1, title="The pier"), None)
    library.items.save(make_item(2, title="The mole"), None)
    with zipfile.ZipFile(io.BytesIO(make(client, "markdown", query="pier"))) as archive:
        assert len(archive.namelist()) == 1
    page = client.get("/settings/export").text
    assert "is ready (pier)" in page
    [path] = LINK.findall(page)
    client.post(path)
    assert client.get(path).status_code == 404
    assert not LINK.search(client.get("/settings/export").text)


def test_a_backup_is_downloaded_and_restored(client: TestClient, library: Store, tmp_path: Path) -> None:
    library.items.save(make_item(1, title="The pier"), make_raw(b"<p>The pier.</p>"))
    with zipfile.ZipFile(io.BytesIO(make(client, "backup"))) as archive:
        archive.extractall(tmp_path / "unpacked")
    target = Settings(library=str(tmp_path / "other.db"), rules=str(tmp_path / "other-rules"))
    assert restore(target, tmp_path / "unpacked" / "pagekeep-backup").items == 1
    assert len(list(open_store(target.library).items.all_ids())) == 1


def test_what_cannot_be_exported_says_why(client: TestClient, shared: TestClient) -> None:
    assert client.post("/settings/export", data={"kind": "everything"}).status_code == 422
    assert "Make a backup" in client.get("/settings/export").text
    client.post("/settings/export", data={"kind": "epub"})  # an empty library
    for _ in range(600):
        page = client.get("/settings/export", headers={"x-part": "1"}).text
        if "<progress" not in page:
            break
        time.sleep(0.1)
    assert "the book would be empty" in page

"""SingleFile's own program saves a page of ours with Chromium; its file is uploaded as the extension does."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from pagekeep.errors import RenderError
from pagekeep.fetch.browser import chromium
from pagekeep.library.archive.pictures import list_pictures
from pagekeep.store import Store
from tests.site.fixtures import Shore, article
from tests.site.gallery import draw

PROGRAM = Path(__file__).parents[5] / ".node" / "node_modules" / ".bin" / "single-file"


def test_a_file_of_singlefile_is_saved(client: TestClient, library: Store, shore: Shore, tmp_path: Path) -> None:
    if not PROGRAM.exists():
        pytest.skip("SingleFile is not installed: scripts/install-node-tools gets it.")
    try:
        binary = chromium.find_chromium().path
    except RenderError as error:
        pytest.skip(f"{error.message} scripts/install-chromium gets one.")
    shore.bodies["ship.png"] = draw(1)
    shore.bodies["a"] = article(400, "The keeper", f'<p><img src="{shore.url("ship.png")}" alt="A ship"></p>')
    saved = tmp_path / "page.html"
    arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command = [PROGRAM, shore.url("a"), saved, f"--browser-executable-path={binary}"]
    done = subprocess.run(
        [*command, f"--browser-args={json.dumps(arguments)}"], capture_output=True, text=True, timeout=120, check=False
    )
    assert saved.exists(), done.stdout + done.stderr
    asked = shore.site.asked("/page/a")
    page = saved.read_bytes()
    assert b"SingleFile" in page
    assert b"data:image/png;base64," in page
    answer = client.post(
        "/linkding/api/bookmarks/singlefile/",
        data={"url": shore.url("a")},
        files={"file": ("page.html", page, "text/html")},
    )
    assert answer.status_code == 201, answer.text
    item = library.items.by_url(shore.url("a"))
    assert item is not None
    assert (item.title, shore.site.asked("/page/a")) == ("The keeper", asked), "nothing is fetched"
    assert "counts the ships" in item.content
    (picture,) = [link for link in list_pictures(library, item.id) if link.state == "kept"]
    assert library.blobs.get(str(picture.hash)) == draw(1)

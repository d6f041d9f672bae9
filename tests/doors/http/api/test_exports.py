"""Exports over the API."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from contextlib import closing

from fastapi.testclient import TestClient

from pagekeep.doors.http.api.transfers import FILES
from pagekeep.identity import accounts
from pagekeep.store import Store, open_store
from tests.doors.http.conftest import PASSWORD, service_of
from tests.store.making import make_item


def fill(library: Store, count: int = 3) -> None:
    for number in range(count):
        library.items.save(
            make_item(number, user_id=library.user_id, title=f"Page {number}", tags=["sea"] if number else []), None
        )


def _unpack(packed: bytes) -> str:
    return gzip.decompress(packed).decode()


def test_every_format_is_streamed_as_a_file(client: TestClient, library: Store) -> None:
    fill(library)
    for format, (name, kind) in FILES.items():
        answer = client.get("/api/v1/export", params={"format": format})
        assert (answer.status_code, answer.headers["content-type"]) == (200, kind), answer.text
        assert name in answer.headers["content-disposition"]
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["cache-control"] == "no-store"
        if kind in ("application/zip", "application/epub+zip"):
            with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
                assert archive.testzip() is None
                texts = [archive.read(one).decode() for one in archive.namelist()]
        elif kind == "application/wacz":
            with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
                texts = [archive.read("pages/pages.jsonl").decode(), _unpack(archive.read("archive/data.warc.gz"))]
        elif kind == "application/warc":
            texts = [_unpack(answer.content)]
        else:
            texts = [answer.text]
        assert all(any(f"Page {number}" in text for text in texts) for number in range(3))


def test_what_a_search_finds_is_exported_and_comes_back_by_an_import(client: TestClient, library: Store) -> None:
    fill(library)
    lines = client.get("/api/v1/export", params={"query": "tag:sea"}).text.splitlines()
    assert sorted(json.loads(line)["title"] for line in lines) == ["Page 1", "Page 2"]


def test_faults_come_as_errors_and_not_as_files(client: TestClient) -> None:
    for asked, status, kind in (
        ({"query": "before:never"}, 422, "InvalidQuery"),
        ({"format": "epub"}, 404, "NotFound"),
        ({"format": "pdf"}, 422, "InvalidRequest"),
    ):
        answer = client.get("/api/v1/export", params=asked)
        assert (answer.status_code, answer.json()["error"]["type"]) == (status, kind)
    assert client.get("/api/v1/export").content == b""


def test_users_export_their_own_pages_one_file_at_a_time(shared: TestClient) -> None:
    service, headers = service_of(shared), {}
    for name in ("ada", "bea"):
        user = accounts.add_user(service.accounts, name, PASSWORD)
        secret = accounts.add_token(service.accounts, user.id, "t", ("read",)).secret
        headers[name] = {"authorization": f"Bearer {secret}"}
        item = make_item(1, user_id=user.id, title=f"Of {name}")
        with closing(open_store(service.settings.library, user.id)) as library:
            library.items.save(item, None)
    for name in ("ada", "bea"):
        (line,) = shared.get("/api/v1/export", headers=headers[name]).text.splitlines()
        assert json.loads(line)["title"] == f"Of {name}"
    assert shared.get("/api/v1/export").status_code == 401
    service.exports._users.add("someone")
    service.exports._max_exports = 1
    assert shared.get("/api/v1/export", headers=headers["ada"]).status_code == 429


def test_the_process_of_an_export_ends_with_it(client: TestClient, library: Store) -> None:
    fill(library, 40)
    service = service_of(client)
    with client.stream("GET", "/api/v1/export") as answer:
        assert next(answer.iter_bytes())
    assert service.exports._users == set()
    assert client.get("/api/v1/export").status_code == 200

"""Imports over the API."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.identity import accounts
from pagekeep.library.imports import run as import_jobs
from pagekeep.model import ItemQuery
from pagekeep.store import Store
from tests import foreign
from tests.doors.http.conftest import service_of
from tests.library.imports import samples


def send(client: TestClient, data: str | bytes, **asked: Any) -> Any:
    body = data.encode() if isinstance(data, str) else data
    headers = {"content-type": "application/octet-stream", **asked.pop("headers", {})}
    return client.post("/api/v1/imports", params=asked, content=body, headers=headers)


def finish(client: TestClient, job_id: str, **how: Any) -> Any:
    """The job, when it is done or dead."""
    end = time.monotonic() + 40
    while (job := client.get(f"/api/v1/jobs/{job_id}", **how).json()["job"])["state"] not in ("done", "dead"):
        assert time.monotonic() < end, "it never ended"
        time.sleep(0.05)
    return job


ROWS = "".join(f"https://example.com/{number}\n" for number in range(30)) + "ftp://example.com/file\n"


def test_a_file_is_imported_by_a_job_whose_report_lists_the_rows_that_failed(
    client: TestClient, library: Store
) -> None:
    answer = send(client, ROWS, filename="list.txt", fetch="never")
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/api/v1/jobs/{answer.json()['job']['id']}"
    job = finish(client, answer.json()["job"]["id"])
    report = job["report"]
    assert (job["state"], job["task"], report["added"], report["failed"], report["queued"]) == (
        "done",
        "import",
        30,
        1,
        0,
    )
    assert report["failures"][0]["excerpt"] == "ftp://example.com/file"
    assert report["failures"][0]["reason"]
    assert len(library.search.find(ItemQuery(limit=100)).items) == 30
    assert library.uploads.get_part(job["options"]["upload"], 0) is None
    again = finish(client, send(client, ROWS, fetch="never").json()["job"]["id"])["report"]
    assert (again["added"], again["unchanged"]) == (0, 30)


@pytest.mark.parametrize("name", ["omnivore.zip", "wallabag.json"])
def test_content_in_the_export_comes_in(client: TestClient, name: str) -> None:
    data = samples.ALL[name][1]
    report = finish(client, send(client, data, filename=name, fetch="never").json()["job"]["id"])["report"]
    assert report["added"] == samples.COUNT + samples.MORE.get(name, 0)


@pytest.mark.parametrize("name", ["omnivore.zip", "pocket.csv"])
def test_the_server_itself_parses_nothing(client: TestClient, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, count = samples.ALL[name][1], samples.COUNT + samples.MORE.get(name, 0)
    with monkeypatch.context() as patch:
        foreign.forbid(patch)
        report = finish(client, send(client, data, fetch="never").json()["job"]["id"])["report"]
        page = client.post("/import", data={"fetch": "never"}, files={"file": (name, data)})
    assert (report["added"], report["failed"]) == (count, 0)
    assert f"{count} unchanged" in page.text or f"{count} updated" in page.text


def test_a_long_import_goes_on_in_slices_with_one_report(
    client: TestClient, library: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_jobs, "SLICE_SECONDS", -60.0)
    monkeypatch.setattr("pagekeep.library.imports.run.BATCH_ROWS", 7)
    monkeypatch.setattr(import_jobs, "PART_BYTES", 100)
    job = finish(client, send(client, ROWS, fetch="never").json()["job"]["id"])
    assert (job["report"]["rows"], job["report"]["added"], job["report"]["failed"]) == (31, 30, 1)
    assert len(library.search.find(ItemQuery(limit=100)).items) == 30


@pytest.mark.parametrize("kind", ["application/octet-stream", "application/x-www-form-urlencoded"])
def test_a_file_of_many_rows_is_accepted_whatever_its_type(client: TestClient, kind: str) -> None:
    rows = [{"url": f"https://example.com/{n % 3}", "is_archived": 0, "tags": ["&"] * 20} for n in range(3_000)]
    answer = send(client, json.dumps(rows), fetch="never", headers={"content-type": kind})
    assert answer.status_code == 202
    assert finish(client, answer.json()["job"]["id"])["report"]["rows"] == 3_000


def test_what_is_not_an_export_is_an_error_of_the_job_and_its_file_is_deleted(
    client: TestClient, library: Store
) -> None:
    job = finish(client, send(client, b"\x00\x01\x02" * 1000).json()["job"]["id"])
    assert (job["state"], job["error"]["type"]) == ("dead", "UnsupportedContent")
    assert library.uploads.get_part(job["options"]["upload"], 0) is None


def test_an_empty_file_an_unknown_format_and_a_large_file_are_refused(
    serve: Callable[..., TestClient], settings: Settings
) -> None:
    client = serve(replace(settings, import_bytes=50_000))
    assert send(client, b"").json()["error"]["type"] == "InvalidQuery"
    assert send(client, ROWS, format="none").status_code == 422
    assert send(client, b"x" * 60_000).status_code == 413


def test_too_many_imports_at_a_time_are_refused(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_jobs, "MAX_WAITING", 0)
    assert send(client, ROWS).status_code == 409


def test_users_import_into_their_own_libraries_and_see_their_own_jobs(shared: TestClient) -> None:
    service = service_of(shared)
    headers = {}
    for name in ("ada", "bea"):
        user = accounts.add_user(service.accounts, name, "nine stoves and a kettle")
        new = accounts.add_token(service.accounts, user.id, "t", ("read", "write"))
        headers[name] = {"authorization": f"Bearer {new.secret}"}
    job = send(shared, ROWS, fetch="never", headers=headers["ada"]).json()["job"]
    assert finish(shared, job["id"], headers=headers["ada"])["report"]["added"] == 30
    assert shared.get(f"/api/v1/jobs/{job['id']}", headers=headers["bea"]).status_code == 404
    counts = {
        name: shared.get("/api/v1/stats", headers=headers[name]).json()["stats"]["items"] for name in ("ada", "bea")
    }
    assert counts == {"ada": 30, "bea": 0}
    assert send(shared, ROWS).status_code == 401


def test_the_progress_of_an_import_is_streamed(client: TestClient) -> None:
    job = send(client, ROWS, fetch="never").json()["job"]
    finish(client, job["id"])
    events = client.get(f"/api/v1/jobs/{job['id']}/events").text
    data = json.loads(events.partition("data: ")[2].partition("\r\n")[0])
    assert data["job"]["report"]["added"] == 30

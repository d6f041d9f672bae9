"""What the log shows, and what it does not."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.doors.logs import JsonLines
from pagekeep.errors import StoreError
from tests.doors.http.conftest import service_of
from tests.site.fixtures import Shore, article


class Kept(logging.Handler):
    """Lines as they would be written."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.setFormatter(JsonLines())

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    @property
    def requests(self) -> list[dict[str, Any]]:
        return self.events("request")

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in map(json.loads, self.lines) if line["event"] == name]


@pytest.fixture
def log() -> Iterator[Kept]:
    kept, logger = Kept(), logging.getLogger("pagekeep")
    level = logger.level
    logger.addHandler(kept)
    logger.setLevel(logging.INFO)
    yield kept
    logger.removeHandler(kept)
    logger.setLevel(level)


def test_a_request_is_one_line_with_its_route_and_not_its_address(client: TestClient, log: Kept) -> None:
    answer = client.get("/api/v1/items/0123abcd-secret?format=json")
    (line,) = log.requests
    assert line["route"] == "/api/v1/items/{item_id}"
    assert (line["method"], line["status"], line["user"]) == ("GET", 404, "local")
    assert line["request_id"] == answer.headers["x-request-id"]
    assert line["ms"] >= 0
    assert "0123abcd-secret" not in "".join(log.lines)


@pytest.mark.parametrize(("given", "kept"), [("abc-1.2", True), ("a b", False), ("x" * 65, False), ('"}', False)])
def test_an_id_that_comes_with_a_request_is_kept_if_it_is_harmless(client: TestClient, given: str, kept: bool) -> None:
    answer = client.get("/healthz", headers={"x-request-id": given})
    assert (answer.headers["x-request-id"] == given) == kept


def test_of_a_page_only_its_host_is_reported(client: TestClient, log: Kept, shore: Shore) -> None:
    shore.bodies["a"] = article(300)
    client.post("/api/v1/saves", json={"url": shore.url("a") + "?private=letter"})
    (line,) = log.requests
    assert line["host"] == "127.0.0.1"
    assert "letter" not in "".join(log.lines)
    assert "/page/" not in "".join(log.lines)


def test_every_capture_is_one_line(client: TestClient, log: Kept, shore: Shore) -> None:
    shore.bodies["a"] = article(300)
    for name in ("a", "a", "gone"):
        client.post("/api/v1/saves", json={"url": shore.url(name)})
    client.post("/api/v1/extract", json={"html": shore.bodies["a"], "url": "https://example.com/a"})
    added, again, failed, extracted = log.events("capture")
    assert (added["outcome"], added["strategy"], added["kind"]) == ("added", "readability", "article")
    assert added["score"] > 0
    assert added["words"] > 200
    assert list(added["ms"]) == ["fetch", "extract", "store"]
    assert added["request_id"]
    assert isinstance(added["rules"], list)
    assert again["outcome"] == "unchanged"
    assert (failed["outcome"], failed["error"], list(failed["ms"])) == ("failed", "FetchHttpError", ["fetch"])
    assert (extracted["outcome"], extracted["host"]) == ("extracted", "example.com")
    assert "/page/" not in "".join(log.lines)


def test_every_failed_job_is_one_line(client: TestClient, log: Kept, shore: Shore) -> None:
    shore.statuses["a"] = 500
    for name in ("gone", "a"):
        client.post("/api/v1/saves?wait=false", json={"url": shore.url(name)})
    end = time.monotonic() + 20
    while len(log.events("job failed")) < 2:
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)
    lines = sorted(log.events("job failed"), key=lambda line: str(line["state"]))
    assert [(line["state"], line["error"], line["host"]) for line in lines] == [
        ("dead", "FetchHttpError", "127.0.0.1"),
        ("queued", "FetchHttpError", "127.0.0.1"),
    ]
    assert ("retry_at" in lines[0], "retry_at" in lines[1]) == (False, True)
    assert len(log.events("capture")) == 2
    assert "/page/" not in "".join(log.lines)


def test_no_secret_is_logged_however_it_comes(client: TestClient, log: Kept) -> None:
    headers = {"authorization": "Bearer pk_hidden", "cookie": "pagekeep_session=hidden", "x-csrf-token": "hidden"}
    client.get("/api/v1/items?token=hidden", headers=headers)
    client.post("/api/v1/saves", json={"url": "https://user:hidden@example.com/", "password": "hidden"})
    client.post("/hidden", content=b"hidden")
    assert len(log.requests) == 3
    assert "hidden" not in "".join(log.lines)


def test_questions_of_machines_are_not_reported(client: TestClient, log: Kept) -> None:
    assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200
    assert log.requests == []


def fail_to_read(*_args: object, **_options: object) -> None:
    raise StoreError("The disk is full.")


@pytest.mark.parametrize("path", ["/readyz", "/api/v1/items", "/"])
def test_the_log_says_why_a_request_got_503(
    client: TestClient, log: Kept, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(service_of(client).background, "probe", fail_to_read)
    monkeypatch.setattr(service_of(client).libraries, "_open_library", fail_to_read)
    assert client.get(path, headers={"accept": "text/html"}).status_code == 503
    (line,) = log.requests
    assert (line["level"], line["status"], line["reason"]) == ("warning", 503, "The disk is full.")


def test_the_reason_of_a_bad_request_is_not_logged(client: TestClient, log: Kept) -> None:
    assert client.get("/api/v1/search?q=%22hidden").status_code in (200, 422)
    assert "hidden" not in "".join(log.lines)

"""What the log tells, and what it does not."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.doors.http.observability.logs import JsonLines
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
        return [line for line in map(json.loads, self.lines) if line["event"] == "request"]


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


def test_of_a_page_only_its_host_is_told(client: TestClient, log: Kept, shore: Shore) -> None:
    shore.bodies["a"] = article(300)
    client.post("/api/v1/saves", json={"url": shore.url("a") + "?private=letter"})
    (line,) = log.requests
    assert line["host"] == "127.0.0.1"
    assert "letter" not in "".join(log.lines)
    assert "/page/" not in "".join(log.lines)


def test_no_secret_is_logged_however_it_comes(client: TestClient, log: Kept) -> None:
    headers = {"authorization": "Bearer pk_hidden", "cookie": "pagekeep_session=hidden", "x-csrf-token": "hidden"}
    client.get("/api/v1/items?token=hidden", headers=headers)
    client.post("/api/v1/saves", json={"url": "https://user:hidden@example.com/", "password": "hidden"})
    client.post("/hidden", content=b"hidden")
    assert len(log.requests) == 3
    assert "hidden" not in "".join(log.lines)


def test_questions_of_machines_are_not_told(client: TestClient, log: Kept) -> None:
    assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200
    assert log.requests == []

"""What happens before every route."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import TypeAdapter

from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app, server_secret
from pagekeep.present.json_shapes import Hits, Items
from pagekeep.store import Store
from tests.store.making import make_item, make_raw

LOCAL = "http://127.0.0.1:8470"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(library=str(tmp_path / "library.db"))


@pytest.fixture
def client(settings: Settings) -> Iterator[TestClient]:
    with TestClient(create_app(settings, processes=1), base_url=LOCAL) as client:
        yield client


def test_the_local_user_needs_no_sign_in(client: TestClient) -> None:
    answer = client.get("/api/v1/items")
    assert answer.status_code == 200
    assert answer.json() == {"items": [], "next": None}


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", ""])
def test_other_names_are_refused(client: TestClient, host: str) -> None:
    assert client.get("/api/v1/items", headers={"host": host}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
    ],
)
def test_requests_from_other_sites_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.get("/api/v1/items", headers=headers)
    assert answer.status_code == 403
    assert answer.json()["error"]["type"] == "NotAllowed"


def test_every_answer_carries_the_safe_headers(client: TestClient) -> None:
    for path, host in (("/api/v1/items", "127.0.0.1"), ("/nowhere", "127.0.0.1"), ("/", "evil.example")):
        headers = client.get(path, headers={"host": host}).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_a_body_that_is_too_large_is_refused_whatever_it_says_of_its_length(client: TestClient) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(40):
            yield b"x" * 1_000_000

    assert client.post("/api/v1/items", headers={"content-length": "99999999999"}).status_code == 413
    assert client.post("/api/v1/items", headers={"content-length": "lots"}).status_code == 413
    assert client.post("/api/v1/items", content=endless()).status_code in (405, 413)


def test_on_a_shared_server_no_unknown_client_is_let_in(settings: Settings) -> None:
    with TestClient(create_app(replace(settings, shared=True), processes=1), base_url=LOCAL) as client:
        answer = client.get("/api/v1/items")
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert client.get("/api/v1/items", headers={"authorization": "Bearer nonsense"}).status_code == 401


def test_the_secret_is_made_once_and_is_its_owners_alone(settings: Settings, tmp_path: Path) -> None:
    assert server_secret(settings) == server_secret(settings)
    assert (tmp_path / "server.secret").stat().st_mode & 0o077 == 0


def test_the_openapi_document_describes_every_json_response(client: TestClient) -> None:
    described = client.get("/api/v1/openapi.json").json()["paths"]
    schemas = {
        f"{method} {path} {status}": content["application/json"]["schema"]
        for path, operations in described.items()
        for method, operation in operations.items()
        for status, response in operation["responses"].items()
        if "application/json" in (content := response.get("content", {}))
    }
    assert len(schemas) > 30
    assert [name for name, schema in schemas.items() if not schema or schema.get("type") == "string"] == []


@pytest.mark.parametrize(("path", "model"), [("/api/v1/items", Items), ("/api/v1/search?q=keeper", Hits)])
def test_lists_are_as_described_though_they_are_not_checked_at_every_request(
    client: TestClient, library: Store, path: str, model: Any
) -> None:
    full = make_item(url="https://example.com/full", title="The keeper", content="The keeper counts.", tags=("a", "b"))
    library.items.save(full, make_raw(b"<p>The keeper counts.</p>"))
    library.items.save(make_item(url="https://example.com/bare", title="keeper", content=""), None)
    found = client.get(path).json()
    assert len(found["items"]) == 2
    checker = TypeAdapter(model)
    assert checker.dump_python(checker.validate_python(found, strict=True), mode="json") == found
    described = client.get("/api/v1/openapi.json").json()["paths"][path.partition("?")[0]]["get"]["responses"]["200"]
    assert described["content"]["application/json"]["schema"]["$ref"].endswith(f"/{model.__name__}")

"""Errors for people and for programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.doors.http.web import inbox

BROWSER = {"accept": "text/html,application/xhtml+xml"}


def test_people_get_a_page(client: TestClient) -> None:
    for path, status in (("/nowhere", 404), ("/items/ffffffff", 404), (f"/?q={'x' * 2_000}", 422)):
        answer = client.get(path, headers=BROWSER)
        assert answer.status_code == status
        assert answer.headers["content-type"].startswith("text/html")
        assert "Back to library" in answer.text


def test_a_body_that_is_too_large_is_a_page_for_people_and_json_for_programs(
    settings: Settings, serve: Callable[..., TestClient]
) -> None:
    client = serve(replace(settings, import_bytes=1_000))
    files = {"file": ("list.txt", b"x" * 2_000, "text/plain")}
    page = client.post("/import", files=files, headers=BROWSER)
    assert page.status_code == 413
    assert "The request is too large" in page.text
    assert "Back to library" in page.text
    nonce = page.text.split('nonce="')[1].split('"')[0]
    assert f"'nonce-{nonce}'" in page.headers["content-security-policy"]
    assert client.post("/import", files=files).json()["error"]["type"] == "TooLarge"


def test_programs_and_our_script_get_json(client: TestClient) -> None:
    for path, headers in (
        ("/nowhere", {}),
        ("/api/v1/items/ffffffff", BROWSER),
        ("/items/ffffffff", {**BROWSER, "x-part": "1"}),
    ):
        answer = client.get(path, headers=headers)
        assert answer.status_code == 404
        assert answer.json()["error"]["message"]


def test_who_is_not_known_is_sent_to_sign_in_and_back(shared: TestClient) -> None:
    answer = shared.get("/items/abcd?x=1", headers=BROWSER, follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?back=%2Fitems%2Fabcd%3Fx%3D1"
    assert shared.get("/sign-in", headers=BROWSER).status_code == 200


def test_a_fault_of_ours_is_a_page_for_people_that_shows_nothing_of_it(
    settings: Settings, serve: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_arguments: object, **_named: object) -> None:
        raise RuntimeError("swordfish")

    client = serve(settings, raise_server_exceptions=False)
    monkeypatch.setattr(inbox, "list_rows", fails)
    answer = client.get("/", headers=BROWSER)
    assert answer.status_code == 500
    assert "Internal server error." in answer.text
    assert "Back to library" in answer.text
    assert "swordfish" not in answer.text
    assert client.get("/").json()["error"]["type"] == "Unexpected"

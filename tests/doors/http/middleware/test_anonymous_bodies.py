"""Bodies of clients that are not signed in are refused before they are read (H6)."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.doors.http.middleware.body_limits import MAX_SIGN_IN_BYTES
from pagekeep.identity import accounts
from tests.doors.http.conftest import PASSWORD, service_of

PATHS = (
    "/api/v1/extract",
    "/api/v1/saves",
    "/api/v1/rules/try",
    "/add",
    "/import",
    "/r",
    "/v2/scrape",
    "/mcp/",
    "/nowhere",
)
CHUNK = 10_000
CREDENTIALS = ({}, {"authorization": "Bearer nonsense"}, {"cookie": "pagekeep_session=nonsense"})
PAGE = {"html": "<p>The keeper counts the ships.</p>" * 5_000}


def post(client: TestClient, path: str, headers: dict[str, str]) -> tuple[int, int]:
    """The status for an endless body, and how many bytes of it were read."""
    statuses: list[int] = []
    read = 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += CHUNK
        assert read < 10 * MAX_SIGN_IN_BYTES, "the body was read"
        return {"type": "http.request", "body": b"x" * CHUNK, "more_body": True}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    everything = {"host": "127.0.0.1:8470", "content-type": "application/json", **headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in everything.items()],
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 8470),
        "state": {},
    }
    assert client.portal is not None
    client.portal.call(client.app, scope, receive, send)
    return statuses[0], read


@pytest.mark.parametrize("credentials", CREDENTIALS)
@pytest.mark.parametrize("path", PATHS)
def test_no_body_without_credentials_is_read(shared: TestClient, path: str, credentials: dict[str, str]) -> None:
    for length in ("1", "64000", "4000000"):
        assert post(shared, path, {"content-length": length, **credentials}) == (401, 0)
    assert post(shared, path, {"transfer-encoding": "chunked", **credentials}) == (401, 0)


def test_zeros_in_front_of_the_length_do_not_hide_it(shared: TestClient) -> None:
    for length in (1, 10**30):
        status, read = post(shared, "/api/v1/extract", {"content-length": "0" * 5_000 + str(length)})
        assert status in (401, 413)
        assert read == 0


def test_the_sign_in_form_is_small(shared: TestClient) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert post(shared, "/sign-in", {**form, "content-length": str(MAX_SIGN_IN_BYTES + 1)}) == (413, 0)
    status, read = post(shared, "/sign-in", {**form, "transfer-encoding": "chunked"})
    assert status == 413
    assert read <= MAX_SIGN_IN_BYTES + CHUNK


def test_the_longest_sign_in_form_is_read(shared: TestClient) -> None:
    known = service_of(shared).accounts
    accounts.add_user(known, "ada", "\U0001f511" * 1_000)
    form = {"name": "ada" + " " * 197, "password": "\U0001f511" * 1_000, "back": "/?q=" + "%20" * 600}
    assert shared.post("/sign-in", data=form, follow_redirects=False).status_code == 303


def test_signed_in_callers_send_large_bodies(shared: TestClient) -> None:
    known = service_of(shared).accounts
    user = accounts.add_user(known, "ada", PASSWORD)
    token = accounts.add_token(known, user.id, "reader", ("read",)).secret
    answer = shared.post("/api/v1/extract", json=PAGE, headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    answer = shared.post("/sign-in", data={"name": "ada", "password": PASSWORD}, follow_redirects=False)
    assert answer.status_code == 303
    assert shared.post("/api/v1/extract", json=PAGE).status_code == 200


def test_the_local_user_sends_large_bodies_without_credentials(client: TestClient) -> None:
    assert client.post("/api/v1/extract", json=PAGE).status_code == 200

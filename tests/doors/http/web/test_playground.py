"""Rules tried on a page, and kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.store import Store
from tests.store.making import make_item, make_raw

RULE = "- id: no-box\n  phase: pre\n  trigger:\n    host:\n      ends_with: e.example\n  remove: [.box]\n"
PAGE = f"<title>T</title><article><h1>T</h1>{'<p>Some words about the harbour, and many of them too. </p>' * 12}<p class=box>Boxed words</p></article>"


@pytest.fixture
def key(client: TestClient, library: Store) -> str:
    raw = replace(make_raw(PAGE.encode()), final_url="https://e.example/a")
    return library.items.save(make_item(url="https://e.example/a"), raw).id


def test_what_changes_is_shown(client: TestClient, key: str) -> None:
    page = client.post("/playground", data={"source": key, "yaml": RULE}).text
    assert '<span class="minus">-Boxed words</span>' in page
    assert "no-box" in page


def test_rules_that_are_not_for_the_page_say_so(client: TestClient, key: str) -> None:
    page = client.post("/playground", data={"source": key, "yaml": RULE.replace("e.example", "f.example")}).text
    assert "does not apply to this page" in page
    assert "the result is the same as before" in page


def test_faults_are_reported_where_they_are(client: TestClient, key: str) -> None:
    page = client.post("/playground", data={"source": key, "yaml": RULE.replace("remove", "remvoe")}).text
    assert "your rules:6" in page


def test_a_kept_rule_is_in_force_at_once(client: TestClient, key: str, settings: Settings) -> None:
    page = client.post("/playground", data={"yaml": RULE, "action": "save"}).text
    assert "no-box.yaml" in page
    assert (Path(str(settings.rules)) / "no-box.yaml").read_text() == RULE
    assert "no-box" in client.get(f"/items/{key}/explain").text


def test_keeping_a_rule_shows_what_it_changes_and_how_saved_pages_get_it(
    client: TestClient, library: Store, key: str
) -> None:
    for _ in range(2):  # again changes nothing, and shows the same
        page = client.post("/playground", data={"source": key, "yaml": RULE, "action": "save"}).text
        assert '<span class="minus">-Boxed words</span>' in page
        assert "Pages you saved earlier do not change" in page
        assert "is already active" not in page
    assert client.post("/waiting", follow_redirects=False).headers["location"] == "/waiting"
    assert [job.options["task"] for job in library.jobs.list()] == ["reparse"]


def test_a_rule_in_force_is_compared_with_the_page_without_it(client: TestClient, key: str) -> None:
    client.post("/playground", data={"yaml": RULE, "action": "save"})
    page = client.post("/playground", data={"source": key, "yaml": RULE}).text
    assert '<span class="minus">-Boxed words</span>' in page
    assert "<code>no-box</code> is already active" in page


def test_a_changed_rule_is_compared_with_what_it_was(client: TestClient, key: str) -> None:
    client.post("/playground", data={"yaml": RULE, "action": "save"})
    changed = RULE.replace(".box", ".other")
    page = client.post("/playground", data={"source": key, "yaml": changed, "action": "save"}).text
    assert '<span class="plus">+Boxed words</span>' in page


def test_a_rule_with_faults_is_not_kept(client: TestClient, settings: Settings) -> None:
    answer = client.post("/playground", data={"yaml": "- id: x\n  nonsense: 1\n", "action": "save"})
    assert answer.status_code == 422
    assert "nonsense" in answer.text
    assert not Path(str(settings.rules)).exists()


def test_on_a_shared_server_no_user_keeps_rules_for_all(settings: Settings, serve: Callable[..., TestClient]) -> None:
    from pagekeep.identity import accounts
    from tests.doors.http.conftest import PASSWORD, service_of

    client = serve(replace(settings, shared=True))
    accounts.add_user(service_of(client).accounts, "ada", PASSWORD)
    client.post("/sign-in", data={"name": "ada", "password": PASSWORD})
    page = client.get("/playground").text
    assert "Keep as my rule" not in page
    token = page.split('data-csrf="')[1].split('"')[0]
    answer = client.post("/playground", data={"yaml": RULE, "action": "save", "csrf_token": token})
    assert answer.status_code == 403
    assert not Path(str(settings.rules)).exists()
    assert client.post("/playground", data={"yaml": RULE}).status_code == 403

"""The requests of KOReader's plugin, of the iOS app and of the Android app, one after the other, as their sources send them."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.identity import accounts
from pagekeep.store import Store, open_store
from tests.doors.http.conftest import PASSWORD, service_of
from tests.store.making import make_item, moment

W = "/wallabag"
BODY = {"grant_type": "password", "client_id": "1_a", "client_secret": "b", "username": "ada", "password": PASSWORD}
PER_SYNC = 4


@pytest.fixture
def library(shared: TestClient) -> Store:
    """Ada's library with six pages."""
    service = service_of(shared)
    user = accounts.add_user(service.accounts, "ada", PASSWORD)
    store = open_store(service.settings.library, user.id)
    for n in range(6):
        store.items.save(make_item(n, user_id=user.id, title=f"Page {n}", content="Text.", saved_at=moment(n)), None)
    return store


def sign_in(client: TestClient) -> tuple[dict[str, str], Any]:
    tokens = client.post(f"{W}/oauth/v2/token", json=BODY).json()
    return {"authorization": f"Bearer {tokens['access_token']}"}, tokens


def test_koreader_synchronises_twice(shared: TestClient, library: Store) -> None:
    """`getBearerToken`, `getArticleList` until 404, `download`, `addTags`, `removeArticle`, `addArticle`."""
    headers, tokens = sign_in(shared)
    assert tokens["expires_in"] > 300

    def article_list() -> dict[int, str]:
        articles: dict[int, str] = {}
        for page in range(1, 9):
            answer = shared.get(f"{W}/api/entries.json?archive=0&page={page}&perPage={PER_SYNC}", headers=headers)
            if answer.status_code == 404:
                return articles
            assert answer.status_code == 200
            assert answer.text.startswith("{")
            items = answer.json()["_embedded"]["items"]
            assert all(isinstance(item["tags"], list) and isinstance(item["id"], int) for item in items)
            articles |= {item["id"]: item["title"] for item in items}
        raise AssertionError("The list has no end.")

    first = article_list()
    assert len(first) == 6
    assert article_list() == first
    for number in first:
        book = shared.get(f"{W}/api/entries/{number}/export.epub", headers=headers)
        assert (book.status_code, book.content[:2]) == (200, b"PK")
    one, two = list(first)[:2]
    json = {**headers, "content-type": "application/json", "accept": "application/json, */*"}
    answers = [
        shared.post(f"{W}/api/entries/{one}/tags.json", headers=json, content='{"tags":"read,again"}'),
        shared.patch(f"{W}/api/entries/{one}.json", headers=json, content='{"archive":1}'),
        shared.delete(f"{W}/api/entries/{two}.json", headers=headers),
        shared.post(f"{W}/api/entries.json", headers=json, content='{"url":"http://127.0.0.1:9/x","tags":""}'),
    ]
    for answer in answers:
        assert (answer.status_code, answer.text[:1]) == (200, "{")
    assert set(first) - set(article_list()) == {one, two}


def test_ios_reads_pages_of_fifty_and_renews(shared: TestClient, library: Store) -> None:
    headers, tokens = sign_in(shared)
    assert shared.get(f"{W}/api/config", headers=headers).json()["id"] == 1
    page = shared.get(f"{W}/api/entries.json?page=1&perPage=50&order=desc", headers=headers).json()
    assert len(page["_embedded"]["items"]) == 6
    assert shared.get(f"{W}/api/entries.json?page=2&perPage=50&order=desc", headers=headers).status_code == 404
    body = {**BODY, "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    assert shared.post(f"{W}/oauth/v2/token", json=body).json()["refresh_token"]


def test_android_finds_what_was_deleted(shared: TestClient, library: Store) -> None:
    """It compares `total` with its own number, asks which addresses exist, then for the tags of those that do not."""
    headers, _ = sign_in(shared)
    known = shared.get(f"{W}/api/entries.json?detail=full&perPage=30", headers=headers).json()
    gone = known["_embedded"]["items"][2]
    shared.delete(f"{W}/api/entries/{gone['id']}.json", headers=headers)
    total = shared.get(f"{W}/api/entries.json?perPage=1&detail=metadata", headers=headers).json()["total"]
    assert total == known["total"] - 1
    urls = [entry["given_url"] for entry in known["_embedded"]["items"]]
    exists = shared.get(f"{W}/api/entries/exists.json", params={"urls[]": urls}, headers=headers).json()
    assert [url for url, there in exists.items() if not there] == [gone["given_url"]]
    assert shared.get(f"{W}/api/entries/{gone['id']}/tags.json", headers=headers).status_code == 404
    since = shared.get(f"{W}/api/entries.json?since=1742380201&perPage=30", headers=headers).json()
    assert since["total"] == 0, "nothing that is left has changed"

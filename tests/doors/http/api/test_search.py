"""Search and counts over HTTP."""

from __future__ import annotations

from fastapi.testclient import TestClient

from tests.site.fixtures import article


def test_a_search_gives_items_with_the_text_around_the_words(client: TestClient) -> None:
    for name in ("Lighthouse", "Breakwater", "Lighthouse again"):
        page = {"url": f"https://example.com/{name}", "html": article(300, name)}
        assert client.post("/api/v1/saves", json=page).status_code == 201
    first = client.get("/api/v1/search", params={"q": "lighthouse", "limit": 1}).json()
    second = client.get("/api/v1/search", params={"q": "lighthouse", "limit": 1, "after": first["next"]}).json()
    assert {item["title"] for item in first["items"] + second["items"]} == {"Lighthouse", "Lighthouse again"}
    assert "[[" in first["items"][0]["snippet"]
    assert second["next"] is None


def test_a_search_that_makes_no_sense_is_the_callers_fault(client: TestClient) -> None:
    for params in ({}, {"q": "before:soon"}, {"q": "is:large"}, {"q": "x", "after": "nonsense"}):
        assert client.get("/api/v1/search", params=params).status_code == 422


def test_the_library_is_counted(client: TestClient) -> None:
    client.post("/api/v1/saves", json={"url": "https://example.com/a", "html": article(300)})
    assert client.get("/api/v1/stats").json()["stats"]["items"] == 1

"""Pages of tags, sites and authors; statistics; suggestions while typing."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient

from pagekeep.store import Store
from tests.store.making import make_item

EVIL = '<script>alert(1)</script>" onload="x'


@pytest.fixture(autouse=True)
def filled(library: Store) -> None:
    for number, tags in enumerate((["Minecraft", "sea"], ["Minecraft"], [EVIL, "sea shells"])):
        library.items.save(
            make_item(900 + number, tags=tags, author=f"Ada {EVIL}", domain="minecraft.example", language="en"), None
        )


def _parse_tags(html: str) -> list[tuple[str, str]]:
    return re.findall(r'<span class="name" dir="auto">([^<]*)</span> <span class="amount">([\d,]+)', html)


def test_tags_are_listed_by_count_or_name_and_filtered(client: TestClient) -> None:
    assert _parse_tags(client.get("/tags?q=minecr").text) == [("Minecraft", "2")]
    names = [name for name, _ in _parse_tags(client.get("/tags?sort=name").text)]
    assert names.index("Minecraft") < names.index("sea") < names.index("sea shells")
    assert "No results" in client.get("/tags?q=nothing-like-it").text


def test_a_tag_a_site_and_an_author_lead_to_their_pages(client: TestClient) -> None:
    for path in ("/tags?q=minecr", "/sites?q=minecr", "/authors?q=ada"):
        [address] = re.findall(r'<a class="facet" href="([^"]*)"', client.get(path).text)[:1]
        listed = client.get(address.replace("&amp;", "&"))
        assert listed.text.count('<li class="row"') >= 2


def test_foreign_names_are_escaped_everywhere(client: TestClient) -> None:
    for path in ("/tags", "/authors", "/statistics", "/sites"):
        assert "<script>alert" not in client.get(path).text


def test_suggestions_are_few_and_by_count(client: TestClient) -> None:
    found = client.get("/suggestions", params={"kind": "tag", "q": "mi"}).json()
    assert found == {"suggestions": [{"name": "Minecraft", "count": 2}]}
    assert client.get("/suggestions", params={"kind": "site", "q": "craft"}).json()["suggestions"]
    assert client.get("/suggestions", params={"kind": "secret", "q": "x"}).status_code == 422


def test_statistics_are_drawn_and_in_tables(client: TestClient) -> None:
    page = client.get("/statistics").text
    assert page.count('<svg class="chart"') >= 3
    assert 'role="img" aria-label="Pages saved and read by month"' in page
    assert '<th scope="row">Mar 2025</th>' in page or "as a table" in page
    assert "style=" not in page[page.index("<main") :]


def test_a_typo_in_a_search_offers_the_nearest_word(client: TestClient, library: Store) -> None:
    library.items.save(make_item(950, title="Lighthouses"), None)
    page = client.get("/", params={"q": "lighthuoses"}).text
    assert re.search(r'Did you mean <a href="/\?q=lighthouses" dir="auto">lighthouses</a>', page)


def test_an_unknown_operator_is_a_message_in_the_list(client: TestClient) -> None:
    assert "There is no search operator `foo:`" in client.get("/", params={"q": "foo:bar"}).text


def test_the_api_lists_them_too(client: TestClient) -> None:
    assert {"name": "Minecraft", "count": 2} in client.get("/api/v1/tags").json()["counts"]
    assert client.get("/api/v1/sites", params={"q": "minecraft"}).json()["total"] == 1
    assert client.get("/api/v1/languages").json()["counts"][0]["name"] == "en"
    assert client.get("/api/v1/authors", params={"limit": 1}).json()["total"] >= 1
    assert client.get("/api/v1/statistics").json()["saved"] >= 3


def test_a_tag_is_renamed_on_its_page_and_that_is_undone(client: TestClient) -> None:
    page = client.post("/tags", data={"action": "rename", "tag": "minecraft", "new": "Blocks"})
    assert "Renamed the tag minecraft to Blocks (2 pages)." in page.text
    assert ("Blocks", "2") in _parse_tags(page.text)
    [action] = re.findall(r'name="action" value="([0-9a-f-]{36})"', page.text)
    assert ("Minecraft", "2") in _parse_tags(client.post("/tags/undo", data={"action": action}).text)


def test_a_name_that_cannot_be_a_tag_is_a_message_on_the_page(client: TestClient) -> None:
    page = client.post("/tags", data={"action": "rename", "tag": "minecraft", "new": " , "})
    assert (page.status_code, "This cannot be the name of a tag." in page.text) == (422, True)


def test_the_api_renames_deletes_and_undoes(client: TestClient) -> None:
    done = client.post("/api/v1/tags/rename", json={"tag": "minecraft", "new": "sea"}).json()
    assert done["changed"] == 2
    assert client.post("/api/v1/tags/undo", json={"action": done["action"]}).json()["undone"] == 2
    assert client.post("/api/v1/tags/delete", json={"tag": "minecraft"}).json()["changed"] == 2
    assert client.post("/api/v1/tags/delete", json={"tag": "minecraft"}).status_code == 404

"""A page to read."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient

from pagekeep import dom
from pagekeep.doors.http.web.item import file_name
from pagekeep.store import Store
from tests.store.making import make_item, make_raw

CONTENT = """---
title: Boats
---

[![Quay](https://e.example/q.png)](https://e.example/q.png)

# Boats

Some words, <b>not bold</b>.
"""


@pytest.fixture
def key(library: Store, client: TestClient) -> str:
    made = make_item(
        title="Boats", content=CONTENT, language="he", quality="bookmark", reason="A wall.", retry_count=2, score=10
    )
    return library.items.save(made, make_raw(b"<script>alert(1)</script><p>Raw words.</p>")).id


def test_the_page_is_shown_with_its_title_once(client: TestClient, key: str) -> None:
    page = client.get(f"/items/{key}").text
    tree = dom.parse(page)
    assert [dom.text_of(node) for node in dom.select(tree, "h1")] == ["Boats"]
    assert "&lt;b&gt;not bold&lt;/b&gt;" in page
    assert "title: Boats" not in page


def test_pictures_come_through_our_own_server_with_a_signature(client: TestClient, key: str) -> None:
    tree = dom.parse(client.get(f"/items/{key}").text)
    [src] = [dom.attributes(node)["src"] for node in dom.select(tree, ".content img")]
    assert src.startswith("/api/proxy-image?url=https%3A%2F%2Fe.example%2Fq.png&sig=")


def test_the_text_runs_in_its_languages_direction(client: TestClient, key: str) -> None:
    article = dom.select(dom.parse(client.get(f"/items/{key}").text), "article")[0]
    assert (dom.attributes(article)["dir"], dom.attributes(article)["lang"]) == ("rtl", "he")


def test_a_bookmark_says_why_and_how_often_it_can_be_retried(client: TestClient, key: str) -> None:
    page = client.get(f"/items/{key}").text
    assert "Only a bookmark was saved." in page
    assert "A wall." in page
    assert "1 retry left" in page


def test_an_item_is_found_by_the_beginning_of_its_id(client: TestClient, key: str) -> None:
    assert client.get(f"/items/{key[:8]}").status_code == 200
    assert client.get("/items/00000000").status_code == 404


def test_the_document_is_downloaded_under_its_title(client: TestClient, key: str) -> None:
    answer = client.get(f"/items/{key}/markdown")
    assert answer.text == CONTENT.replace("\n---\n", "\nreason: A wall.\n---\n", 1)
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''Boats.md"


@pytest.mark.parametrize(
    ("title", "expected"), [("a/b: c?", "a b c"), ("..\\x", "x"), ("", "page"), ("\n\0", "page"), ("é" * 200, "é" * 75)]
)
def test_titles_become_names_of_files_that_any_system_takes(title: str, expected: str) -> None:
    assert file_name(title) == expected


def test_the_page_as_fetched_is_in_a_sandbox(client: TestClient, key: str) -> None:
    answer = client.get(f"/items/{key}/raw")
    assert "Raw words" in answer.text
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "allow-" not in answer.headers["content-security-policy"]


def test_what_was_not_html_is_shown_as_text(client: TestClient, library: Store) -> None:
    from dataclasses import replace

    raw = replace(make_raw(b"<script>"), content_type="image/svg+xml", encoding="x\r\ny: z")
    key = library.items.save(make_item(7), raw).id
    answer = client.get(f"/items/{key}/raw")
    assert answer.headers["content-type"] == "text/plain"
    assert "y" not in answer.headers


def test_a_page_without_its_raw_form_says_so(client: TestClient, library: Store) -> None:
    key = library.items.save(make_item(8), None).id
    for path in ("raw", "explain"):
        answer = client.get(f"/items/{key}/{path}", headers={"accept": "text/html"})
        assert answer.status_code == 404
        assert re.search("was not (stored|kept)", answer.text)


def test_the_explanation_shows_how_it_was_read(client: TestClient, key: str) -> None:
    page = client.get(f"/items/{key}/explain").text
    assert "<h2>Verdict</h2>" in page
    assert "<h2>Strategies, in the order they are tried</h2>" in page


def test_tags_are_put_on_and_taken_off(client: TestClient, library: Store, key: str) -> None:
    client.post(f"/items/{key}/tags", data={"add": "sea, #boats ,"})
    assert list(library.items.get(key).metadata.tags) == ["sea", "boats"]
    part = client.post(f"/items/{key}/tags", data={"remove": "sea"}, headers={"x-part": "1"}).text
    assert list(library.items.get(key).metadata.tags) == ["boats"]
    assert "boats" in part
    assert "<html" not in part


def test_a_suggested_tag_becomes_a_tag_with_one_click(client: TestClient, library: Store) -> None:
    key = library.items.save(make_item(9, tags=["sea"], suggested_tags=("boats", "Sea", "to & fro")), None).id
    page = client.get(f"/items/{key}").text
    assert 'value="boats"' in page
    assert 'value="to &amp; fro"' in page
    assert 'value="Sea"' not in page  # it is a tag already
    part = client.post(f"/items/{key}/tags", data={"add": "boats"}, headers={"x-part": "1"}).text
    assert library.items.get(key).metadata.tags == ("sea", "boats")
    assert 'name="remove" value="boats"' in part
    assert 'name="add" value="boats"' not in part
    assert "boats" not in client.get("/?tag=boats&state=all").text.split("<aside")[0]


def test_retrying_past_the_limit_is_reported_on_the_page(client: TestClient, library: Store, key: str) -> None:
    library.items.set_metadata(key, "2025-01-01T00:00:00.000000Z", retry_count=3)
    answer = client.post(f"/items/{key}/retry")
    assert answer.status_code == 409
    assert "already retried 3 times" in answer.text
    assert "No retries left" in answer.text


def test_headings_of_a_document_have_anchors_and_links_to_their_pages(client: TestClient, library: Store) -> None:
    content = "# Boats\n\n## The pier\n\nWords.\n\n## The lights\n\n### Lamps\n\n## Nets\n"
    made = make_item(title="Boats", content=content, url="https://e.example/b.pdf", heading_pages=(1, 2, 7, 7, 9))
    tree = dom.parse(client.get(f"/items/{library.items.save(made, None).id}").text)
    anchors = dom.select(tree, ".content a[id]")
    assert [node.attr("id") for node in anchors] == ["page=2", "page=7", "page=9"]
    after = dom.next_element(anchors[1])
    assert after is not None
    assert dom.text_of(after) == "The lights"
    links = [node.attr("href") or "" for node in dom.select(tree, ".toc.wide a.page")]
    assert [link.rpartition("#")[2] for link in links] == ["page=2", "page=7", "page=7", "page=9"]
    assert links[0].startswith("https://e.example/b.pdf#")


def test_an_edited_document_has_no_pages_beside_its_headings(client: TestClient, library: Store) -> None:
    made = make_item(title="Boats", content="# Boats\n\n## One\n\n## Two\n\n## Three\n", heading_pages=(1, 2))
    assert 'id="page=' not in client.get(f"/items/{library.items.save(made, None).id}").text

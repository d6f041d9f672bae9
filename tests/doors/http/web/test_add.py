"""Pages added by forms."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient

from pagekeep.doors.http.web import add
from pagekeep.model import ItemQuery, item_filters
from pagekeep.store import Store
from tests.capture.documents.tiny_pdf import TinyPage, make_pdf
from tests.site.fixtures import Shore

PAGE = (
    '<!doctype html><html lang="en"><head><title>The oven</title><link rel="canonical" href="https://oven.example/nine">'
    f"</head><body><article><h1>The oven</h1>{'<p>Clay and sand, and a weekend for each of nine courses of brick. </p>' * 12}"
    "</article></body></html>"
)


NO_SCHEME = "The URL does not start with http:// or https://. Use a full URL, such as https://example.com/article."
_REFUSED = re.compile(r'<li class="failed">.*?dir="auto">(.*?)</span><span class="stage">(.*?)</span></li>')


def refusals(page: str) -> list[tuple[str, str]]:
    """What was not saved, and why."""
    alert = page.partition('role="alert"')[2].partition("</div>")[0]
    return _REFUSED.findall(alert)


def saved(library: Store) -> list[tuple[str, str]]:
    return [
        (item.title, item.url) for item in library.search.find(ItemQuery(filters=item_filters(archived=False))).items
    ]


def test_a_file_is_saved_under_the_address_it_names(client: TestClient, library: Store) -> None:
    answer = client.post(
        "/add",
        data={"tags": "bread, ,clay"},
        files={"pages": ("oven.html", PAGE.encode(), "text/html")},
        follow_redirects=False,
    )
    assert answer.status_code == 303
    assert saved(library) == [("The oven", "https://oven.example/nine")]
    item = library.search.find(ItemQuery(filters=item_filters(archived=False))).items[0]
    assert answer.headers["location"] == f"/items/{item.id}"
    assert list(item.metadata.tags)[:2] == ["bread", "clay"]


def test_a_pdf_is_saved_and_can_be_downloaded_again(client: TestClient, library: Store) -> None:
    data = make_pdf(
        [TinyPage().write("The old oven", 60, 80, 20).paragraph(["Clay and sand for nine courses of brick."], 60, 110)]
    )
    client.post("/add", files={"pages": ("oven.bin", data, "application/octet-stream")}, follow_redirects=False)
    item = library.search.find(ItemQuery(filters=item_filters(archived=False))).items[0]
    assert item.title == "The old oven"
    raw = client.get(f"/items/{item.id}/raw")
    assert (raw.content, raw.headers["content-type"]) == (data, "application/pdf")
    assert raw.headers["content-disposition"].startswith("attachment")


def test_our_script_gets_what_became_of_a_file(client: TestClient) -> None:
    files = {"pages": ("oven.html", PAGE.encode(), "text/html")}
    answer = client.post("/add", files=files, headers={"x-part": "1"})
    assert answer.json()["items"][0]["title"] == "The oven"


def test_an_address_that_is_none_is_reported_and_stays_in_the_form(client: TestClient, library: Store) -> None:
    answer = client.post("/add", data={"urls": "nonsense<b>"})
    assert answer.status_code == 422
    assert "nonsense&lt;b&gt;</textarea>" in answer.text
    assert refusals(answer.text) == [("nonsense&lt;b&gt;", NO_SCHEME)]
    assert saved(library) == []


def test_a_page_that_cannot_be_fetched_is_shown_as_a_bookmark_with_the_reason_and_a_retry(
    client: TestClient, library: Store, shore: Shore
) -> None:
    shore.statuses["a"] = 500
    page = client.post("/add", data={"urls": shore.url("a")})
    (item,) = library.search.find(ItemQuery(filters=item_filters(fetch_again=True))).items
    assert str(page.url).endswith(f"/items/{item.id}")
    assert "This page could not be saved." in page.text
    assert "The site itself has a fault at the moment. Try again later." in page.text
    assert "3 retries left" in page.text
    assert item.title in client.get("/?quality=fetch-again").text
    assert item.title not in client.get("/?quality=article").text
    client.post(f"/items/{item.id}/retry", data={})
    assert library.items.get(item.id).metadata.retry_count == 1


def test_of_several_addresses_the_bad_ones_are_reported_and_stay(client: TestClient, library: Store) -> None:
    answer = client.post("/add", data={"urls": "foo\nhttps://one.invalid/a\nmailto:a@b.example", "tags": "sea"})
    assert answer.status_code == 422
    assert [name for name, _ in refusals(answer.text)] == ["foo", "mailto:a@b.example"]
    assert ">foo\nmailto:a@b.example</textarea>" in answer.text
    assert 'value="sea"' in answer.text
    assert 'dir="auto">https://one.invalid/a</span>' in answer.text
    assert [job.url_full for job in library.jobs.list()] == ["https://one.invalid/a"]


def test_our_script_gets_what_became_of_each_address(client: TestClient, library: Store) -> None:
    urls = {"urls": "foo\none.invalid/a\nhttps://two.invalid/b"}
    reported = client.post("/add", data=urls, headers={"x-part": "1"}).json()
    assert [(one["line"], one["url"]) for one in reported["queued"]] == [
        ("one.invalid/a", "https://one.invalid/a"),
        ("https://two.invalid/b", "https://two.invalid/b"),
    ]
    assert {one["job"]["id"] for one in reported["queued"]} == {job.id for job in library.jobs.list()}
    assert reported["rejected"] == [{"line": "foo", "error": NO_SCHEME}]
    assert reported["remaining"] == ["foo"]


def test_more_addresses_than_are_taken_stay_in_the_form(
    client: TestClient, library: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(add, "MAX_URLS", 1)
    answer = client.post("/add", data={"urls": "https://one.invalid/a\nhttps://two.invalid/b"})
    assert answer.status_code == 422
    assert ">https://two.invalid/b</textarea>" in answer.text
    assert [name for name, _ in refusals(answer.text)] == ["1 more"]
    assert [job.url_full for job in library.jobs.list()] == ["https://one.invalid/a"]


def test_an_empty_form_says_what_is_missing(client: TestClient) -> None:
    answer = client.post("/add", data={"urls": " ", "tags": "sea"})
    assert answer.status_code == 422
    assert "There is nothing to save." in answer.text
    assert 'value="sea"' in answer.text


def test_a_file_that_is_not_a_page_is_named(client: TestClient) -> None:
    answer = client.post("/add", files={"pages": ("scan.png", b"\x89PNG\r\n\x00", "image/png")})
    assert answer.status_code == 415
    assert [name for name, _ in refusals(answer.text)] == ["scan.png"]


def test_several_addresses_wait_in_the_queue(client: TestClient, library: Store) -> None:
    urls = "https://one.invalid/a\nhttps://two.invalid/b"
    assert client.post("/add", data={"urls": urls}, follow_redirects=False).headers["location"] == "/"
    assert {job.url_full for job in library.jobs.list()} == {"https://one.invalid/a", "https://two.invalid/b"}


def test_nothing_is_saved_by_following_a_link(client: TestClient, library: Store) -> None:
    page = client.get("/add?title=T&text=see%20https://e.example/a%20there")
    assert "https://e.example/a</textarea>" in page.text
    assert library.jobs.list() == ()
    assert saved(library) == []

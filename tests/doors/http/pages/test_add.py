"""Pages added by forms."""

from __future__ import annotations

from fastapi.testclient import TestClient

from pagekeep.model import ItemFilter
from pagekeep.store import Store

PAGE = (
    '<!doctype html><html lang="en"><head><title>The oven</title><link rel="canonical" href="https://oven.example/nine">'
    f"</head><body><article><h1>The oven</h1>{'<p>Clay and sand, and a weekend for each of nine courses of brick. </p>' * 12}"
    "</article></body></html>"
)


def saved(library: Store) -> list[tuple[str, str]]:
    return [(item.title, item.url) for item in library.list_items(ItemFilter()).items]


def test_a_file_is_saved_under_the_address_it_names(client: TestClient, library: Store) -> None:
    answer = client.post(
        "/add",
        data={"tags": "bread, ,clay"},
        files={"pages": ("oven.html", PAGE.encode(), "text/html")},
        follow_redirects=False,
    )
    assert answer.status_code == 303
    assert saved(library) == [("The oven", "https://oven.example/nine")]
    item = library.list_items(ItemFilter()).items[0]
    assert answer.headers["location"] == f"/items/{item.id}"
    assert item.metadata["tags"][:2] == ["bread", "clay"]


def test_our_script_gets_what_became_of_a_file(client: TestClient) -> None:
    files = {"pages": ("oven.html", PAGE.encode(), "text/html")}
    answer = client.post("/add", files=files, headers={"x-part": "1"})
    assert answer.json()["items"][0]["title"] == "The oven"


def test_an_address_that_is_none_is_told_and_stays_in_the_form(client: TestClient, library: Store) -> None:
    answer = client.post("/add", data={"urls": "nonsense<b>"})
    assert answer.status_code == 422
    assert "nonsense&lt;b&gt;</textarea>" in answer.text
    assert 'role="alert"' in answer.text
    assert saved(library) == []


def test_several_addresses_wait_in_the_queue(client: TestClient, library: Store) -> None:
    urls = "https://one.invalid/a\nhttps://two.invalid/b"
    assert client.post("/add", data={"urls": urls}, follow_redirects=False).headers["location"] == "/"
    assert {job.url_full for job in library.jobs()} == {"https://one.invalid/a", "https://two.invalid/b"}


def test_nothing_is_saved_by_following_a_link(client: TestClient, library: Store) -> None:
    page = client.get("/add?title=T&text=see%20https://e.example/a%20there")
    assert "https://e.example/a</textarea>" in page.text
    assert library.jobs() == ()
    assert saved(library) == []

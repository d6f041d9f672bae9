"""The list, its search and filters, and what is done to items in it."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient

from pagekeep import dom
from pagekeep.doors.http.web.inbox import View, _query
from pagekeep.errors import NotFound
from pagekeep.store import Store
from tests.store.making import NOW, make_item, moment


def titles(client: TestClient, address: str) -> list[str]:
    page = client.get(address)
    assert page.status_code == 200
    return [dom.text_of(node).strip() for node in dom.select(dom.parse(page.text), ".row h2")]


@pytest.fixture
def shelf(client: TestClient, library: Store) -> TestClient:
    """Four items, each in its own state."""
    for number, (title, known) in enumerate(
        {
            "Boats": {"quality": "article", "tags": ["sea"]},
            "Boots": {"quality": "simplified", "pinned": True},
            "Old": {"quality": "bookmark", "archived": True, "reason": "A wall stood there."},
            "Gone": {"quality": "article"},
        }.items()
    ):
        tags = known.pop("tags", ())
        item = library.items.save(
            make_item(number, title=title, content=f"The {title} harbour", tags=tags, saved_at=moment(number), **known),
            None,
        )
        if title == "Gone":
            library.items.delete(item.id, moment(9))
    return client


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("/", ["Boots", "Boats"]),
        ("/?state=pinned", ["Boots"]),
        ("/?state=archive", ["Old"]),
        ("/?state=trash", ["Gone"]),
        ("/?state=all&order=title", ["Boats", "Boots", "Old"]),
        ("/?quality=simplified", ["Boots"]),
        ("/?tag=sea&domain=example.com", ["Boats"]),
        ("/?q=harb&state=all", ["Boats", "Boots", "Old"]),
        ("/?q=harbour&state=trash", ["Gone"]),
        ("/?q=harbour&quality=bookmark", ["Old"]),
        ("/?q=harbour&tag=sea", ["Boats"]),
        ("/?state=nonsense&quality=nonsense&order=nonsense", ["Boots", "Boats"]),
    ],
)
def test_what_a_view_shows(shelf: TestClient, address: str, expected: list[str]) -> None:
    found = titles(shelf, address)
    assert (sorted(found) if "q=" in address else found) == expected


def test_our_script_gets_the_rows_alone(shelf: TestClient) -> None:
    part = shelf.get("/", headers={"x-part": "1"}).text
    assert "<html" not in part
    assert part.count('class="row"') == 2


def test_a_query_that_cannot_be_read_is_reported(shelf: TestClient) -> None:
    page = shelf.get("/?q=is:nothing")
    assert page.status_code == 200
    assert "is:pinned" in page.text


def test_a_key_of_no_list_is_reported(shelf: TestClient) -> None:
    assert "Start from the first page" in shelf.get("/?after=nonsense").text


def test_pages_follow_each_other(client: TestClient, library: Store) -> None:
    for number in range(35):
        library.items.save(make_item(number, title=f"Page {number:02}", saved_at=moment(number)), None)
    first = client.get("/")
    following = dom.attributes(dom.select(dom.parse(first.text), "a[rel=next]")[0])["href"]
    assert titles(client, following) == [f"Page {number:02}" for number in range(4, -1, -1)]


def test_the_last_word_of_a_search_may_be_unfinished() -> None:
    assert _query(View(q="old boa")) == "old boa*"
    assert _query(View(q='"old boat"')) == '"old boat"'
    assert _query(View(q="tag:sea")) == "tag:sea"
    assert _query(View(q="渡轮")) == "渡轮"
    assert _query(View(q="x", tag='a" is:deleted')) == 'x* tag:"a  is:deleted"'


def test_the_address_of_a_view_says_only_what_differs() -> None:
    view = View(q="a b", state="archive", order="title", after="key")
    assert view.address() == "/?q=a+b&state=archive&order=title"
    assert view.address(q="", state="inbox", order="saved") == "/"


def ids_of(library: Store) -> list[str]:
    from pagekeep.model import ItemQuery, item_filters

    return [item.id for item in library.search.find(ItemQuery(filters=item_filters(archived=False))).items]


def test_an_action_is_done_reported_and_can_be_undone(shelf: TestClient, library: Store) -> None:
    ids = ids_of(library)
    answer = shelf.post("/items", data={"action": "archive", "ids": ids, "back": "/?tag=sea"}, follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/?tag=sea&acted=")
    assert ids_of(library) == []
    reported = shelf.get(answer.headers["location"]).text
    assert "Archived (2 pages)." in reported
    undo = re.search(r'action="(/actions/[^"]+/undo)"', reported)
    assert undo
    assert shelf.post(undo[1], data={"back": "/"}, follow_redirects=False).status_code == 303
    assert sorted(ids_of(library)) == sorted(ids)


def test_an_action_leads_nowhere_else(shelf: TestClient, library: Store) -> None:
    for back in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"):
        answer = shelf.post(
            "/items", data={"action": "pin", "ids": ids_of(library)[:1], "back": back}, follow_redirects=False
        )
        assert answer.headers["location"].startswith("/?acted=")


def test_an_action_for_nothing_that_is_there_is_an_error(shelf: TestClient) -> None:
    assert shelf.post("/items", data={"action": "pin", "ids": ["nonsense"]}).status_code == 404
    assert shelf.post("/items", data={"action": "explode", "ids": ["x"]}).status_code == 422


def test_looking_changes_nothing(shelf: TestClient, library: Store) -> None:
    key = ids_of(library)[0]
    shelf.get(f"/items/{key}")
    assert library.items.get(key).last_opened_at is None
    shelf.post("/items", data={"action": "opened", "ids": [key]})
    assert library.items.get(key).last_opened_at is not None


def test_a_new_user_is_shown_how_to_begin(client: TestClient, library: Store) -> None:
    assert "Welcome to your library" in client.get("/").text
    item = library.items.save(make_item(), None)
    library.items.set_metadata(item.id, NOW, archived=True)
    page = client.get("/").text
    assert "Welcome to your library" not in page
    assert "Inbox empty" in page


def test_the_trash_is_emptied_for_good(client: TestClient, library: Store) -> None:
    gone, kept = (library.items.save(make_item(number, title=f"Page {number}"), None).id for number in (1, 2))
    library.items.delete(gone, NOW)
    assert "Empty the trash" in client.get("/?state=trash").text
    answer = client.post("/trash", follow_redirects=False)
    assert answer.headers["location"] == "/?state=trash"
    assert "Empty the trash" not in client.get("/?state=trash").text
    assert library.items.get(kept).title == "Page 2"
    with pytest.raises(NotFound):
        library.items.get(gone)

"""The page of all highlights and notes, and its files."""

from __future__ import annotations

import csv
import io
from urllib.parse import unquote

from fastapi.testclient import TestClient

from pagekeep import dom
from pagekeep.library.items.annotations import annotate
from pagekeep.store import Store
from tests.doors.http.api.test_jobs import events
from tests.store.making import make_item

WINTER = "The ferry ran every hour of the long winter, whatever the wind did to its timetable."
LAMP = "The lamp above the pier was lit at nine every evening by the keeper's younger daughter."
REST = "Nobody in the village could say when the custom had begun, and nobody asked for it to end. " * 8


def page(*paragraphs: str) -> str:
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return f"<html lang=en><head><title>The ferry in winter</title></head><body><article><h1>The ferry in winter</h1>{body}</article></body></html>"


def save(client: TestClient, html: str) -> str:
    answer = client.post("/api/v1/saves", json={"url": "https://example.com/ferry", "html": html})
    assert answer.status_code in (200, 201)
    return str(answer.json()["item"]["id"])


def texts(client: TestClient, address: str, selector: str) -> list[str]:
    answer = client.get(address)
    assert answer.status_code == 200
    return [" ".join(dom.text_of(node).split()) for node in dom.select(dom.parse(answer.text), selector)]


def test_highlights_survive_a_new_snapshot_and_a_reparse_and_those_that_are_gone_say_so(client: TestClient) -> None:
    key = save(client, page(WINTER, LAMP, REST))
    for quote in ("lit at nine every evening", "of the long winter"):
        client.post(f"/api/v1/items/{key}/annotations", json={"quote": quote})
    client.post(f"/api/v1/items/{key}/annotations", json={"note": "On the whole page."})
    assert texts(client, "/highlights", ".not-found") == []

    assert save(client, page(REST, "A new beginning.", WINTER)) == key  # moved, and the lamp has gone
    job = client.post("/api/v1/reparse", json={"ids": [key]}).json()["job"]
    assert events(client, job["id"])[-1][0] == "done"
    assert texts(client, "/highlights", "blockquote") == ["lit at nine every evening", "of the long winter"]
    gone = dom.select(dom.parse(client.get("/highlights").text), ".annotation:has(.not-found) blockquote")
    assert [" ".join(dom.text_of(node).split()) for node in gone] == ["lit at nine every evening"]

    save(client, page(WINTER, LAMP, REST))  # and it is back
    assert texts(client, "/highlights", ".not-found") == []


def test_highlights_are_grouped_searched_and_paged(client: TestClient, library: Store) -> None:
    items = [library.items.save(make_item(n, title=f"Page {n}", content=REST), None) for n in range(23)]
    for number, item in enumerate(items):
        annotate(library, item.id, f"custom number {number}", note="tides" if number % 2 else "")
    assert texts(client, "/highlights", ".highlight-group h2")[:2] == ["Page 22", "Page 21"]
    rest = next(
        dom.attributes(node)["href"]
        for node in dom.select(dom.parse(client.get("/highlights").text), ".more a[rel=next]")
    )
    assert texts(client, rest, ".highlight-group h2") == ["Page 2", "Page 1", "Page 0"]
    assert len(texts(client, "/highlights?by=day", ".highlight-group h2")) == 1
    assert len(texts(client, "/highlights?by=day", ".annotation")) == 23
    assert texts(client, "/highlights?q=number+7", "blockquote") == ["custom number 7"]
    assert len(texts(client, "/highlights?q=TIDES&by=day", ".annotation")) == 11
    assert texts(client, "/highlights?q=nothing", ".empty .big") == ["No results"]
    assert texts(client, "/highlights?after=forged", ".empty .big") == ["No more highlights"]


def test_an_empty_library_says_how_to_begin(client: TestClient) -> None:
    assert texts(client, "/highlights", ".empty .big") == ["No highlights yet"]


def test_a_highlight_leads_to_its_place_with_and_without_our_script(client: TestClient, library: Store) -> None:
    item = library.items.save(make_item(content=REST), None)
    made = annotate(library, item.id, "Nobody in the village could say when the custom - had, begun, and nobody asked")
    [link] = dom.select(dom.parse(client.get("/highlights").text), "blockquote a")
    address = dom.attributes(link)["href"]
    assert address.startswith(f"/items/{item.id}#annotation-{made.id}:~:text=")
    start, end = address.partition("text=")[2].split(",")
    assert (unquote(start), unquote(end)) == ("Nobody in the village could", "had, begun, and nobody asked")
    assert f'id="annotation-{made.id}"' in client.get(f"/items/{item.id}").text


def test_foreign_text_is_shown_as_text(client: TestClient, library: Store) -> None:
    item = library.items.save(make_item(title="<b>Bold</b>", content=REST), None)
    annotate(library, item.id, '<img src=x onerror="alert(1)">', note="</p><script>alert(2)</script>")
    body = client.get("/highlights").text
    assert "<img src=x" not in body
    assert "<script>alert" not in body
    assert "&lt;b&gt;Bold" in body


def test_files_hold_everything(client: TestClient, library: Store) -> None:
    item = library.items.save(make_item(title="=A [page]", author="Ada", content=REST), None)
    annotate(library, item.id, 'first "line"\nsecond line', note="my note")
    annotate(library, item.id, "", note="a note on the page")
    markdown = client.get("/highlights/export?format=markdown")
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert '> first "line"\n> second line\n\nmy note' in markdown.text
    assert r"## [=A \[page\]](<" in markdown.text
    rows = list(csv.DictReader(io.StringIO(client.get("/highlights/export?format=csv").text)))
    assert [(row["title"], row["quote"], row["note"]) for row in rows] == [
        ("'=A [page]", 'first "line"\nsecond line', "my note"),
        ("'=A [page]", "", "a note on the page"),
    ]
    readwise = list(csv.DictReader(io.StringIO(client.get("/highlights/export?format=readwise").text)))
    assert list(readwise[0]) == ["Highlight", "Title", "Author", "URL", "Note", "Location", "Date"]
    assert [(row["Highlight"], row["Note"], row["Title"], row["Author"]) for row in readwise] == [
        ('first "line"\nsecond line', "my note", "=A [page]", "Ada"),
        ("a note on the page", "", "=A [page]", "Ada"),
    ]
    only = client.get("/highlights/export?format=csv&q=second").text
    assert "my note" in only
    assert "a note on the page" not in only

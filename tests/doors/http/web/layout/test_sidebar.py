"""The sidebar: on every page of the library, with the open page marked."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient

from pagekeep.doors.http.web.layout import LINES


def _current(html: str) -> list[str]:
    side = html[html.index('<aside class="side"') : html.index('<main id="main"')]
    return re.findall(r'aria-current="page">.*?<span class="name">([^<]*)', side, re.S)


def test_every_line_leads_to_a_page_that_has_the_sidebar_and_is_marked(client: TestClient) -> None:
    shown = {line.label: _current(client.get(line.address).text) for line in LINES}
    assert shown == {line.label: [line.label] for line in LINES}


def test_pages_without_a_line_have_the_sidebar_too(client: TestClient) -> None:
    assert [_current(client.get(path).text) for path in ("/settings", "/add", "/waiting")] == [[], [], []]


def test_while_searching_only_search_is_marked(client: TestClient) -> None:
    assert _current(client.get("/", params={"q": "tide", "state": "archive"}).text) == ["Search"]
    assert _current(client.get("/", params={"q": " ", "state": "archive", "tag": "x"}).text) == ["Archive"]
    assert _current(client.get("/", params={"state": "<nothing>"}).text) == ["Inbox"]


def test_a_page_below_that_of_a_line_belongs_to_the_line(client: TestClient) -> None:
    assert _current(client.get("/feeds").text) == ["Feeds"]

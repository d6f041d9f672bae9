"""Crawls over the API: started, worked on in the background of the server, read and removed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fastapi.testclient import TestClient

from pagekeep.config import Settings
from tests.site.maze import Maze, MazeServers

Serve = Callable[..., TestClient]


def open_to_hosts(settings: Settings) -> Settings:
    return replace(settings, allow_hosts=("127.0.0.0/8",), crawl_delay=0.0, render="never")


def wait_until_done(client: Any, crawl_id: str) -> dict[str, Any]:
    for _ in range(600):
        crawl: dict[str, Any] = client.get(f"/api/v1/crawls/{crawl_id}").json()["crawl"]
        if crawl["state"] != "running":
            return crawl
        time.sleep(0.1)
    raise AssertionError("the crawl did not end")


def test_a_crawl_is_started_read_and_removed(settings: Settings, serve: Serve) -> None:
    client = serve(open_to_hosts(settings))
    with MazeServers(Maze(12)) as maze:
        body = {"urls": [f"{maze.urls[0]}/s0/"], "pages": 5}
        started = client.post("/api/v1/crawls", json=body)
        assert started.status_code == 202
        crawl_id = started.json()["crawl"]["id"]
        crawl = wait_until_done(client, crawl_id)
        assert (crawl["state"], crawl["reason"], crawl["pages"]) == ("done", "pages", 5)
        first = client.get(f"/api/v1/crawls/{crawl_id}/pages?limit=3").json()
        rest = client.get(f"/api/v1/crawls/{crawl_id}/pages?limit=3&after={first['next']}").json()
        assert [len(first["pages"]), len(rest["pages"]), rest["next"]] == [3, 2, None]
        assert "harbour" in first["pages"][1]["page"]["markdown"]
        assert client.get(f"/api/v1/crawls/{crawl_id}/errors").json() == {"errors": [], "next": None}
        with client.stream("GET", f"/api/v1/crawls/{crawl_id}/events") as events:
            text = "".join(events.iter_text())
        assert "event: done" in text
        assert json.loads(text.partition("data: ")[2].splitlines()[0])["crawl"]["id"] == crawl_id
        shown = client.get(f"/crawls/{crawl_id}").text
        assert "the limit of pages was reached" in shown
        assert client.delete(f"/api/v1/crawls/{crawl_id}").status_code == 204
        assert client.get(f"/api/v1/crawls/{crawl_id}").status_code == 404


def test_a_map_lists_addresses_and_stores_nothing(settings: Settings, serve: Serve) -> None:
    client = serve(open_to_hosts(settings))
    with MazeServers(Maze(12)) as maze:
        found = client.post("/api/v1/map", json={"url": f"{maze.urls[0]}/"}).json()
        urls = [link["url"] for link in found["links"]]
        assert urls[0] == f"{maze.urls[0]}/"
        assert f"{maze.urls[0]}/s0/" in urls
        assert {link["lastmod"] for link in found["links"] if link["via"] == "sitemap"} == {"2025-02-03"}
        assert found["left_out"]["robots"] == 1
        assert client.get("/api/v1/crawls").json() == {"crawls": []}


def test_what_cannot_be_crawled_is_refused(client: TestClient) -> None:
    assert client.post("/api/v1/crawls", json={"urls": ["nowhere"]}).json()["error"]["type"] == "InvalidUrl"
    assert client.post("/api/v1/crawls", json={"urls": []}).status_code >= 400
    shown = client.post("/crawls", data={"url": "ftp://example.org/"})
    assert shown.status_code == 400
    assert 'role="alert"' in shown.text

"""Crawls in the reader: started, watched while they run, and looked through, at every size and in every direction."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import expect

from pagekeep.config import Settings
from pagekeep.library.crawl.crawls import remove_crawl
from pagekeep.store import open_store
from tests.browser.conftest import Window
from tests.browser.serving import Server
from tests.browser.test_accessibility import violations
from tests.site.maze import Maze, MazeServers

LOOKS = [(390, "dark", "ltr"), (390, "light", "rtl"), (1280, "light", "ltr"), (1280, "dark", "rtl")]
"""Width, theme and direction."""


@pytest.fixture(scope="module")
def maze() -> Iterator[Maze]:
    with MazeServers(Maze(12, failures=0.2)) as running:
        yield running


def shoot(page: Any, name: str) -> None:
    """Keep a picture of the page, for people who want to look at it."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def test_a_site_is_crawled_and_its_progress_watched(
    fresh: Server, settings: Settings, window: Window, maze: Maze
) -> None:
    page = window("/crawls", bypass_csp=True)
    shoot(page, "empty")
    page.get_by_label("Address").fill("ftp://nowhere")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Address").fill(f"{maze.urls[0]}/s0/")
    page.get_by_label("Pages at most").fill("6")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("main [role=status]")).to_contain_text("Running")
    page.evaluate("window.sameDocument = true")
    expect(page.locator("[data-pages]")).not_to_have_text("0")
    expect(page.locator("main [role=status]")).to_contain_text("Running")
    assert page.evaluate("window.sameDocument") is True
    assert violations(page) == []
    shoot(page, "running")
    expect(page.locator("main [role=status]")).to_contain_text("the limit of pages was reached", timeout=60_000)
    expect(page.locator(".crawled li")).to_have_count(6)
    address = page.url
    page.goto("/crawls")
    expect(page.get_by_role("link", name=f"{maze.urls[0]}/s0/")).to_be_visible()
    for width, theme, direction in LOOKS:
        page.set_viewport_size({"width": width, "height": 844})
        look = f"{theme}.3.medium.serif"
        page.context.add_cookies([{"name": "pagekeep_look", "value": look, "url": fresh.url}])
        for name, path in (("crawls", "/crawls"), ("crawl", address)):
            page.goto(path)
            page.evaluate("direction => { document.documentElement.dir = direction }", direction)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert violations(page) == []
            shoot(page, f"{name}-{width}-{theme}-{direction}")
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("[data-crawl], .crawls li")).to_have_count(0)
    with closing(open_store(settings.library)) as store:
        assert not [remove_crawl(store, one.id) for one in store.crawls.list()]

"""axe on every page, in every theme, at both sizes; and what axe cannot see."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import expect

from pagekeep import clock
from pagekeep.config import Settings
from pagekeep.errors import FetchHttpError
from pagekeep.library.saving.failed_saves import keep_address
from pagekeep.store import open_store
from tests.browser.conftest import Window
from tests.browser.serving import Server

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")

Save = Callable[[str], str]
LATER = clock.add_seconds(clock.now(), 3600)
PATHS = [
    "/",
    "/?q=kettle",
    "/?state=trash",
    "/add",
    "/settings",
    "/settings/storage",
    "/import",
    "/waiting",
    "/feeds",
    "/feeds/inbox",
    "/playground",
    "/sinks",
    "/offline",
    "/items/{}",
    "/items/{}/explain",
    "/nowhere",
]


def violations(page: Any) -> list[str]:
    found = axe.Axe().run(page).response["violations"]
    return [
        f"{fault['impact']} {fault['id']}: {node['target']} {node['html'][:120]}"
        for fault in found
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("theme", "size"), [("light", "desktop"), ("dark", "phone"), ("sepia", "desktop")])
def test_axe_finds_nothing(save: Save, window: Window, server: Server, path: str, theme: str, size: str) -> None:
    item = save("clock")
    page = window("/offline", size, bypass_csp=True)  # axe is put into the page as a script
    look = f"{theme}.3.medium.serif"
    page.context.add_cookies([{"name": "pagekeep_look", "value": look, "url": server.url}])
    page.goto(path.format(item))
    assert violations(page) == []


@pytest.mark.parametrize("opened", [".badge summary", ".menu:nth-of-type(1) summary", ".menu:nth-of-type(2) summary"])
def test_axe_finds_nothing_in_open_menus(save: Save, window: Window, opened: str) -> None:
    page = window(f"/items/{save('clock')}", bypass_csp=True)
    page.locator(opened).click()
    expect(page.locator("details:is(.menu, .badge)[open]")).to_have_count(1)
    assert violations(page) == []


def test_axe_finds_nothing_in_what_a_rule_did(save: Save, window: Window) -> None:
    page = window(f"/playground?item={save('clock')}", bypass_csp=True)
    page.get_by_role("button", name="Try").click()
    expect(page.locator(".panel").first).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("scripts", [True, False])
def test_axe_finds_nothing_in_addresses_that_are_refused(fresh: Server, window: Window, scripts: bool) -> None:
    page = window("/add", "phone", bypass_csp=True)
    page.get_by_label("URLs").fill(f"foo\nharbour.localhost/{'a' * 90}\n{'b' * 90}")
    if scripts:
        page.get_by_role("button", name="Save", exact=True).click()
    else:
        page.evaluate("document.querySelector('form.add').submit()")  # asks no script
    expect(page.locator(".saving .failed", has_text="foo")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("theme", "size"), [("light", "desktop"), ("dark", "phone")])
def test_axe_finds_nothing_where_a_user_begins(fresh: Server, window: Window, theme: str, size: str) -> None:
    page = window("/offline", size, bypass_csp=True)
    page.context.add_cookies([{"name": "pagekeep_look", "value": f"{theme}.3.medium.serif", "url": fresh.url}])
    page.goto("/")
    expect(page.locator(".first-steps")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_axe_finds_nothing_in_what_failed_and_in_the_trash(save: Save, window: Window, settings: Settings) -> None:
    item = save("clock")
    with closing(open_store(settings.library)) as store:
        store.items.delete(item, LATER)
        keep_address(store, "https://e.example/gone", FetchHttpError("The server answered 404.", status=404))
    page = window("/?state=trash", bypass_csp=True)
    page.get_by_text("Empty the trash…").click()
    expect(page.locator(".empty-trash[open]")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="1 page could not be saved").click()
    expect(page.get_by_text("There is no page at this address.")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Everything was saved")).to_be_visible()


def test_axe_would_find_something(window: Window, fresh: Server) -> None:
    page = window("/add", bypass_csp=True)
    page.evaluate("document.querySelector('label').replaceWith(document.createElement('select'))")
    assert any("select-name" in fault for fault in violations(page))


def test_the_first_key_skips_to_the_content(save: Save, window: Window) -> None:
    save("clock")
    page = window("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_what_is_done_and_found_is_announced(save: Save, window: Window) -> None:
    save("clock")
    page = window("/")
    page.get_by_role("searchbox").fill("nonesuch")
    expect(page.get_by_role("status")).to_have_text("No results")
    page.get_by_role("searchbox").fill("")
    expect(page.get_by_role("status")).to_have_text("1 pages")


def test_a_menu_closes_by_escape_and_gives_the_focus_back(save: Save, window: Window) -> None:
    page = window(f"/items/{save('clock')}")
    summary = page.locator("summary", has_text="More")
    summary.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Open original")).to_be_focused()
    page.keyboard.press("Escape")
    expect(summary).to_be_focused()
    expect(page.get_by_role("link", name="Open original")).to_be_hidden()

"""Browse the library in a real browser: sidebar, tags, suggestions, statistics, search; on desktop and phone, and without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Window
from tests.browser.serving import Server

Save = Callable[..., str]


def _shelve(save: Save, pages: Sequence[tuple[str, Sequence[str]]] = ()) -> None:
    for name, tags in pages or (("clock", ["Minecraft", "sea"]), ("keeper", ["Minecraft"]), ("hebrew", ["קריאה"])):
        save(name, tags)


def _violations(page: Any) -> list[str]:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    found = axe.Axe().run(page).response["violations"]
    return [f"{fault['impact']} {fault['id']}: {node['target']}" for fault in found for node in fault["nodes"]]


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_without_scripts_tags_are_browsed_renamed_and_that_is_undone(save: Save, window: Window, size: str) -> None:
    _shelve(save)
    page = window("/", size, java_script_enabled=False)
    if size == "phone":
        page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("link", name="Tags", exact=True).click()
    expect(page.locator(".side [aria-current=page]")).to_contain_text("Tags")
    row = page.locator(".facets li", has_text="Minecraft")
    expect(row.locator(".amount")).to_contain_text("2")
    row.locator("summary").click()
    row.get_by_label("New name").fill("Blocks")
    row.get_by_role("button", name="Rename").click()
    expect(page.locator(".toast")).to_contain_text("Renamed the tag minecraft to Blocks (2 pages).")
    page.get_by_role("link", name=re.compile("Blocks")).click()
    expect(page.locator(".row")).to_have_count(2)
    page.go_back()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".facets li", has_text="Minecraft")).to_be_visible()


def test_a_box_for_tags_suggests_while_typing_by_keyboard(save: Save, window: Window) -> None:
    _shelve(save)
    page = window("/")
    expect(page.locator(".row")).to_have_count(3)
    box = page.locator("input[name=tag]")
    box.focus()
    page.keyboard.type("mi")
    option = page.get_by_role("option", name=re.compile("Minecraft"))
    expect(option).to_be_visible()
    expect(box).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    expect(option).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute("aria-activedescendant", "suggestion-0")
    page.keyboard.press("Enter")
    expect(box).to_have_value("Minecraft")
    expect(page.locator(".row")).to_have_count(2)
    expect(page.get_by_role("listbox")).to_have_count(0)
    page.goto("/add")
    tags = page.locator("input[name=tags]")
    tags.focus()
    page.keyboard.type("sea, mine")
    page.get_by_role("option", name=re.compile("Minecraft")).click()
    expect(tags).to_have_value("sea, Minecraft")


def test_search_is_marked_and_a_typo_is_corrected(save: Save, window: Window) -> None:
    _shelve(save)
    page = window("/")
    page.get_by_role("searchbox").fill("kepeer")
    expect(page.locator(".side [aria-current=page] .name")).to_have_text("Search")
    page.get_by_role("link", name="keeper", exact=True).click()
    expect(page.locator(".row").first).to_be_visible()
    page.get_by_role("searchbox").fill("")
    expect(page.locator(".side [aria-current=page] .name")).to_have_text("Inbox")


@pytest.mark.parametrize(("theme", "size"), [("light", "desktop"), ("dark", "phone")])
def test_pages_to_browse_have_no_faults_and_fit_the_screen(
    save: Save, window: Window, server: Server, theme: str, size: str
) -> None:
    _shelve(save)
    page = window("/offline", size, bypass_csp=True)
    page.context.add_cookies([{"name": "pagekeep_look", "value": f"{theme}.3.medium.serif", "url": server.url}])
    for path in ("/tags", "/sites", "/authors", "/statistics", "/?state=unread"):
        page.goto(path)
        assert _violations(page) == [], path
        for direction in ("ltr", "rtl"):
            page.evaluate("way => { document.documentElement.dir = way; }", direction)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, direction)

"""Stories of editing pages, lists, save rules, suggested tags and changes of many pages, on a desktop and on a phone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from pagekeep.config import Settings
from pagekeep.store import Store, open_store
from tests.browser.conftest import Window
from tests.browser.serving import Server
from tests.store.making import make_item, moment

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
BOTH = pytest.mark.parametrize("size", ["desktop", "phone"])
TITLES = ("Mending a wooden boat", "The harbour at night", "مرفأ قديم", "Soup of the sea")
Fill = Callable[[], list[str]]
PICTURES = os.environ.get("LISTS_PICTURES")


@pytest.fixture
def store(fresh: Server, settings: Settings) -> Iterator[Store]:
    with closing(open_store(settings.library)) as library:
        for one in library.lists.list():
            library.lists.remove(one.id)
        for rule in library.save_rules.list():
            library.save_rules.remove(rule.id)
        yield library


@pytest.fixture
def ids(store: Store) -> list[str]:
    """Four pages, one of them in Arabic, two of one site with a tag."""
    made = []
    for number, title in enumerate(TITLES):
        body = f"---\ntitle: {title}\n---\n\n# {title}\n\nWords about number {number}, " + "and more words. " * 60
        item = make_item(
            number,
            title=title,
            content=body,
            saved_at=moment(number),
            domain="ports.example" if number < 3 else "kitchen.example",
            tags=["ports"] if number in (0, 1) else [],
            quality="article",
            language="ar" if number == 2 else "en",
            site_name="Ports",
            suggested_tags=["sea"] if number == 3 else [],
        )
        made.append(store.items.save(item, None).id)
    return made


def violations(page: Any) -> list[str]:
    found = [one for one in axe.Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
    return [f"{fault['id']}: {node['target']} {node['html'][:120]}" for fault in found for node in fault["nodes"]]


def check(page: Any, name: str = "") -> None:
    """Nothing is wider than the window, and axe finds nothing."""
    if PICTURES and name:
        width = page.viewport_size["width"]
        page.screenshot(path=str(Path(PICTURES) / f"{name}-{width}.png"), full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), name
    assert violations(page) == []


@BOTH
def test_a_page_is_edited_in_place_and_taken_back(ids: list[str], window: Window, size: str) -> None:
    page = window(f"/items/{ids[0]}", size, bypass_csp=True)
    page.get_by_text("Edit", exact=True).click()
    check(page, "edit")
    form = page.locator(".edit-form")
    form.get_by_label("Title").fill("My boat")
    form.get_by_label("Date").fill("2020-02-02")
    form.get_by_label("Tags").fill("ports, wood")
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("My boat")
    expect(page.locator("#messages")).to_contain_text("Edited the title and the date and the tags")
    expect(page.locator(".edit-details .flag")).to_have_text("Edited: title, date")
    expect(page.locator(".content")).not_to_contain_text(TITLES[0])
    page.goto("/?q=my+boat&state=all")
    expect(page.locator(".row h2")).to_have_text("My boat")
    page.goto(f"/items/{ids[0]}")
    page.locator(".edit-details > summary").click()
    page.get_by_role("button", name="Use the page’s own title").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(TITLES[0])
    page.locator("#messages").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("My boat")


def test_a_wrong_date_is_refused_with_what_to_write(ids: list[str], window: Window) -> None:
    page = window(f"/items/{ids[0]}/edit", java_script_enabled=False)
    page.get_by_label("Date").fill("yesterday")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("2025-03-19")


@BOTH
def test_pages_are_selected_tagged_listed_and_it_is_undone(
    ids: list[str], store: Store, window: Window, size: str
) -> None:
    page = window("/", size, bypass_csp=True)
    select = page.locator("label:has(#selecting), label[for=selecting]").first
    if size == "phone":  # checkboxes are shown in selection mode only
        select.click()
    for row in page.locator(".row").all()[:2]:
        row.locator(".pick input").check(force=True)
    page.locator(".bulk-more > summary").click()
    check(page, "bulk")
    page.locator(".bulk-panel").get_by_label("New list").fill("To read")
    page.get_by_role("button", name="Add to list").click()
    expect(page.locator("#messages")).to_contain_text("Added to the list To read (2 pages).")
    (made,) = store.lists.list()
    assert [item.title for item in store.lists.page(made.id).items] == [TITLES[3], TITLES[2]]
    if size == "phone":
        select.click()
    page.locator(".row .pick input").first.check(force=True)
    page.locator(".bulk-more > summary").click()
    page.get_by_label("all that match here").check()
    page.locator(".bulk-panel").get_by_label("Tags").fill("quay")
    page.get_by_role("button", name="Add tags").click()
    expect(page.locator("#messages")).to_contain_text("Added the tag quay (4 pages).")
    assert all("quay" in store.items.get(one).metadata.tags for one in ids)
    page.locator("#messages").get_by_role("button", name="Undo").click()
    expect(page.locator(".row")).to_have_count(4)
    assert not any("quay" in store.items.get(one).metadata.tags for one in ids)
    page.goto("/actions")
    expect(page.locator(".actions-list li").nth(0)).to_contain_text("Undone")
    check(page, "actions")
    page.get_by_role("button", name="Undo: Added to the list To read").click()
    expect(page.locator(".actions-list li").nth(1)).to_contain_text("Undone")
    assert store.lists.page(made.id).items == ()


def test_all_that_a_search_finds_is_changed_while_typing(ids: list[str], store: Store, window: Window) -> None:
    page = window("/")
    page.get_by_label("Search your library").fill("tag:ports")
    expect(page.locator(".row")).to_have_count(2)
    page.locator(".row .pick input").first.check()
    page.locator(".bulk-more > summary").click()
    page.get_by_label(re.compile("all that match")).check()
    page.locator(".bulk-panel").get_by_role("button", name="Archive").click()
    expect(page.locator("#messages")).to_contain_text("Archived (2 pages).")
    assert [bool(store.items.get(one).metadata.archived) for one in ids] == [True, True, False, False]


@BOTH
def test_a_list_is_filled_and_ordered_by_buttons_and_by_dragging(
    ids: list[str], store: Store, window: Window, size: str
) -> None:
    page = window("/lists", size, bypass_csp=True)
    check(page, "lists-empty")
    page.get_by_label("Name").first.fill("Tonight")
    page.get_by_role("button", name="Add list").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Tonight")
    (made,) = store.lists.list()
    for one in ids[:3]:
        page.goto(f"/items/{one}")
        page.locator(".edit-details > summary").click()
        page.locator("select[name=add]").select_option("Tonight")
        page.get_by_role("button", name="Add to list").click()
        expect(page.locator("#messages")).to_contain_text("Added to the list Tonight.")
    page.goto(f"/lists/{made.id}")
    titles = page.locator(".ordered-list h2")
    expect(titles).to_have_text(list(TITLES[:3]))
    page.get_by_role("button", name=f"Move {TITLES[0]} down").click()
    expect(page.locator("#messages")).to_contain_text("Moved.")
    expect(page.get_by_role("button", name=f"Move {TITLES[0]} down")).to_be_focused()
    page.keyboard.press("Enter")
    expect(titles).to_have_text([TITLES[1], TITLES[2], TITLES[0]])
    if size == "desktop":
        page.locator(".ordered-list > li").nth(2).drag_to(
            page.locator(".ordered-list > li").nth(0), target_position={"x": 60, "y": 4}
        )
        expect(titles).to_have_text(list(TITLES[:3]))
    check(page, "list")
    shown = titles.all_inner_texts()
    page.reload()
    expect(titles).to_have_text(shown)
    page.get_by_role("button", name=f"Remove {TITLES[0]} from the list").click()
    expect(titles).to_have_count(2)
    expect(page.locator(".more-tools, .more-pages").first).to_contain_text("Tonight")


def test_lists_work_without_javascript(ids: list[str], store: Store, window: Window) -> None:
    page = window("/lists", java_script_enabled=False)
    page.locator("form").filter(has=page.get_by_label("Search", exact=True)).get_by_label("Name").fill("Ports")
    page.get_by_label("Search", exact=True).fill("tag:ports")
    page.get_by_role("button", name="Save search").click()
    expect(page.locator(".ordered-list h2")).to_have_text([TITLES[1], TITLES[0]])
    page.goto("/?q=list%3Aports&state=all")
    expect(page.locator(".row")).to_have_count(2)


@BOTH
def test_a_save_rule_is_tried_added_applied_and_switched_on(
    ids: list[str], store: Store, window: Window, size: str
) -> None:
    page = window("/save-rules", size, bypass_csp=True)
    page.get_by_label("Pages that this search finds").fill("domain:ports.example")
    page.get_by_label("Add tags").fill("quay")
    page.get_by_label("Archive").check()
    page.get_by_role("button", name="Try on the library").click()
    expect(page.locator(".trial h2")).to_contain_text("3 pages of your library match")
    expect(page.locator(".trial li").first).to_contain_text("add the tag quay, archive")
    page.get_by_role("button", name="Add this rule").click()
    expect(page.locator(".save-rules .flag")).to_have_text("Off")
    check(page, "save-rules")
    page.get_by_role("button", name="Apply to these pages too").click()
    expect(page.locator("#messages")).to_contain_text("(3 pages).")
    assert [bool(store.items.get(one).metadata.archived) for one in ids] == [True, True, True, False]
    page.locator("#messages").get_by_role("button", name="Undo").click()
    expect(page.locator(".save-rules li")).to_have_count(1)
    assert not any(store.items.get(one).metadata.archived for one in ids)
    page.get_by_role("button", name="Switch on").click()
    expect(page.locator(".save-rules .flag")).to_have_text("On")
    new = store.items.save(make_item(9, title="New", domain="ports.example"), None)
    assert (new.metadata.tags, new.metadata.archived) == (("quay",), True)


@BOTH
def test_suggested_tags_are_accepted_and_refused(ids: list[str], store: Store, window: Window, size: str) -> None:
    page = window("/suggested-tags", size, bypass_csp=True)
    rows = page.locator(".suggested-tags li")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("sea")
    check(page, "suggested-tags")
    rows.nth(1).get_by_label("ports").check()
    page.get_by_role("button", name="Accept selected").click()
    expect(rows).to_have_count(1)
    assert store.items.get(ids[2]).metadata.tags == ("ports",)
    page.goto(f"/items/{ids[3]}")
    page.get_by_role("button", name="Refuse the suggested tag sea").click()
    expect(page.locator(".tags .suggested")).to_have_count(0)
    page.goto("/suggested-tags")
    expect(page.locator(".empty")).to_be_visible()

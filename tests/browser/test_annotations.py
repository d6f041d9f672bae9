"""Passages that are marked: with a pointer and by keys, found again in the text, changed, and taken off."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import expect

from pagekeep.config import Settings
from pagekeep.library.items.annotations import annotate
from pagekeep.store import open_store
from tests.browser.conftest import Window
from tests.browser.extended import until
from tests.browser.test_accessibility import violations

Save = Callable[[str], str]
BOTH = pytest.mark.parametrize("size", ["desktop", "phone"])
SELECT = """([selector, number, from, to]) => {
  const text = document.querySelectorAll(selector)[number].firstChild;
  getSelection().setBaseAndExtent(text, from, text, to ?? text.data.length);
}"""


def select(page: Any, selector: str, number: int = 0, start: int = 0, end: int | None = None) -> None:
    page.evaluate(SELECT, [selector, number, start, end])


def marked(page: Any) -> Any:
    return expect(page.locator("mark.highlight"))


def listed(page: Any) -> Any:
    return expect(page.locator(".annotation blockquote"))


@BOTH
def test_what_is_selected_is_highlighted_and_stays_so(save: Save, window: Window, size: str) -> None:
    page = window(f"/items/{save('clock')}", size)
    select(page, ".content p", 0, 0, 26)
    page.get_by_role("toolbar").get_by_role("button", name="Highlight").click()
    expect(page.locator("mark.highlight")).to_have_text("The keeper counts the ship")
    expect(page.get_by_role("toolbar")).to_be_hidden()
    page.reload()
    expect(page.locator("mark.highlight")).to_have_text("The keeper counts the ship")
    listed(page).to_have_text(["The keeper counts the ship"])


@BOTH
def test_a_note_is_written_changed_and_deleted_where_the_highlight_is(save: Save, window: Window, size: str) -> None:
    page = window(f"/items/{save('clock')}", size)
    select(page, ".content li")
    page.get_by_role("toolbar").get_by_role("button", name="Note").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Note").fill("Size nine.\nBoth of them.")
    dialog.get_by_label("Blue").check(force=True)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("mark.highlight.blue.with-note")).to_have_text("boots")
    expect(page.locator(".annotation .note")).to_have_text("Size nine.\nBoth of them.")
    page.locator("mark.highlight").click()
    expect(dialog.get_by_label("Note")).to_have_value("Size nine.\nBoth of them.")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.locator("mark.highlight")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("mark.highlight.blue.with-note")).to_have_text("boots")


def test_a_highlight_is_distinguished_from_its_equals(save: Save, window: Window) -> None:
    page = window(f"/items/{save('keeper')}")
    paragraph = page.locator(".content p").nth(3)
    select(page, ".content p", 3, 0, 10)
    page.keyboard.press("h")
    expect(paragraph.locator("mark")).to_have_text("The keeper")
    page.reload()
    expect(paragraph.locator("mark")).to_have_text("The keeper")
    marked(page).to_have_text(["The keeper"])


def test_a_highlight_over_several_paragraphs_is_one(save: Save, window: Window) -> None:
    page = window(f"/items/{save('clock')}")
    page.evaluate(
        """() => {
          const [boots, boats] = [...document.querySelectorAll(".content li")].map((item) => item.firstChild);
          getSelection().setBaseAndExtent(boots, 2, boats, 3);
        }"""
    )
    page.keyboard.press("h")
    marked(page).to_have_text(["ots", "boa"])
    listed(page).to_have_text(["ots boa"])


def test_paragraphs_are_walked_and_marked_by_keys_alone(save: Save, window: Window) -> None:
    page = window(f"/items/{save('clock')}")
    page.keyboard.press("h")
    expect(page.get_by_role("status")).to_contain_text("Select some text")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("n")
    page.keyboard.type("her way")
    page.keyboard.press("Tab")
    page.keyboard.press("h")  # nothing is marked while something is asked
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".annotation .note")).to_have_text("her way")
    expect(page.locator("mark.highlight").first).to_have_text(re.compile("^The keeper counts the ships"))
    listed(page).to_have_count(1)


def test_highlights_follow_each_other_as_in_the_text_and_lead_there(
    save: Save, window: Window, settings: Settings
) -> None:
    item = save("clock")
    with closing(open_store(settings.library)) as store:
        annotate(store, item, "boots")
        annotate(store, item, "“The mean — interval…”", note="Other signs, and other spaces.")
        annotate(store, item, "was here in an older reading")
        annotate(store, item, "", note="On the whole page.")
    page = window(f"/items/{item}")
    marked(page).to_have_text(["The mean interval", "boots"])
    wanted = ["", "“The mean — interval…”", "boots", "was here in an older reading"]
    quotes = "all => all.map((each) => each.dataset.quote)"
    until(lambda: page.locator(".annotation").evaluate_all(quotes) == wanted)
    expect(page.locator(".not-found:visible")).to_have_count(1)
    page.locator(".annotation", has_text="boots").get_by_role("button").click()
    expect(page.locator("mark", has_text="boots")).to_be_focused()


def test_a_highlight_is_found_in_a_new_reading_that_changed_it_a_little(
    save: Save, window: Window, settings: Settings
) -> None:
    item = save("keeper")
    with closing(open_store(settings.library)) as store:
        annotate(store, item, "The keeper counts the ships before tea, writes the number down, and only then puts")
        found = store.items.get(item)
        store.items.save(
            replace(found, content=found.content.replace("The keeper counts", "**The keeper** counts", 1)), None
        )
    page = window(f"/items/{item}")
    marked(page).to_have_text(
        ["The keeper", "counts the ships before breakfast, writes the number down, and only then puts"]
    )


def test_what_lies_over_each_other_is_marked_once_each(save: Save, window: Window, settings: Settings) -> None:
    item = save("clock")
    with closing(open_store(settings.library)) as store:
        annotate(store, item, "The mean interval is")
        annotate(store, item, "interval", colour="green")
    page = window(f"/items/{item}")
    marked(page).to_have_text(["The mean", "interval", "is"])
    expect(page.locator("mark.green")).to_have_text("interval")


@BOTH
def test_right_to_left_text_is_marked(save: Save, window: Window, size: str) -> None:
    page = window(f"/items/{save('hebrew')}", size)
    select(page, ".content p", 2, 0, 4)
    page.keyboard.press("h")
    expect(page.locator(".content p").nth(2).locator("mark")).to_have_text("השעו")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_note_on_the_page_is_written_below_it(save: Save, window: Window) -> None:
    page = window(f"/items/{save('clock')}")
    page.get_by_text("Add a note to this page").click()
    page.locator(".change.new textarea").fill("Before the summer.")
    page.locator(".change.new").get_by_role("button", name="Save").click()
    expect(page.locator(".annotation .note")).to_have_text("Before the summer.")


def test_without_scripts_highlights_are_read_and_changed(save: Save, window: Window, settings: Settings) -> None:
    item = save("clock")
    with closing(open_store(settings.library)) as store:
        annotate(store, item, "boots", note="Size nine.")
    page = window(f"/items/{item}", java_script_enabled=False)
    listed(page).to_have_text(["boots"])
    page.locator(".annotation summary").click()
    page.locator(".annotation textarea").fill("Size ten.")
    page.locator(".annotation").get_by_role("button", name="Save").click()
    expect(page.locator(".annotation .note")).to_have_text("Size ten.")


@pytest.mark.parametrize(("theme", "size"), [("light", "desktop"), ("dark", "phone"), ("sepia", "desktop")])
def test_axe_finds_nothing_in_highlights(save: Save, window: Window, settings: Settings, theme: str, size: str) -> None:
    item = save("clock")
    with closing(open_store(settings.library)) as store:
        for colour, quote in (("yellow", "The keeper"), ("green", "interval"), ("blue", "boots"), ("pink", "boats")):
            annotate(store, item, quote, note="Indeed.", colour=colour)
        annotate(store, item, "long gone")
    page = window("/offline", size, bypass_csp=True)
    page.context.add_cookies(
        [{"name": "pagekeep_look", "value": f"{theme}.3.medium.serif", "url": page.url.removesuffix("/offline")}]
    )
    page.goto(f"/items/{item}")
    page.locator(".annotation summary").first.click()
    assert violations(page) == []
    page.locator("mark.highlight").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []

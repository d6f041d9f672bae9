"""What people do in the reader, from the first page to the last, on a desktop and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from pagekeep.config import Settings
from pagekeep.store import open_store
from tests.browser import pages
from tests.browser.conftest import Window
from tests.browser.extended import until
from tests.browser.serving import Server
from tests.site.server import Site
from tests.store.making import make_item

Save = Callable[..., str]
OFFLINE = "No connection. Try again when you are online."
BOTH = pytest.mark.parametrize("size", ["desktop", "phone"])


def titles(page: Any) -> list[str]:
    return [text.strip() for text in page.locator(".row h2").all_inner_texts()]


@BOTH
def test_a_page_is_added_watched_and_read(fresh: Server, site: Site, window: Window, size: str) -> None:
    page = window("/add", size)
    page.get_by_label("URLs").fill(site.url("/pages/clock"))
    page.get_by_label("Tags").fill("harbour")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#saving .done")).to_contain_text("What a tide clock counts")
    page.locator("#saving a").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What a tide clock counts")
    expect(page.locator("figcaption")).to_have_text("The quay at low water.")
    expect(page.locator("math").first).to_be_visible()
    expect(page.locator("pre .k").first).to_have_text("def")
    expect(page.locator(".tags")).to_contain_text("harbour")
    until(lambda: page.evaluate("document.querySelector('.content img').naturalWidth") > 0)
    page.locator(".footnote-ref a").click()
    page.locator(".footnotes .back").click()
    expect(page).to_have_url(re.compile("#fnref1$"))


def test_the_first_page_is_saved_from_the_empty_library(fresh: Server, site: Site, window: Window) -> None:
    page = window("/")
    page.get_by_label("Page URL").fill(site.url("/pages/keeper"))
    page.get_by_role("main").get_by_role("button", name="Save").click()
    expect(page.locator(".row")).to_contain_text("The keeper")
    expect(page.locator(".first-steps")).to_have_count(0)


def test_a_page_is_archived_at_its_end(save: Save, window: Window) -> None:
    page = window(f"/items/{save('clock')}")
    page.locator(".article-end").get_by_role("button", name="Archive").click()
    expect(page.locator("#messages")).to_contain_text("Archived")
    expect(page.locator(".empty")).to_contain_text("Inbox empty")


def test_an_address_that_cannot_be_saved_says_why(fresh: Server, site: Site, window: Window) -> None:
    page = window("/add")
    page.get_by_label("URLs").fill(site.url("/pages/nowhere"))
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#saving .failed")).to_contain_text("404")


@BOTH
def test_bad_addresses_among_good_ones_are_reported_and_stay(
    fresh: Server, site: Site, window: Window, size: str
) -> None:
    page = window("/add", size)
    box = page.get_by_label("URLs")
    box.fill(f"{site.url('/pages/keeper')}\nfoo\nharbour.localhost/a")
    page.get_by_label("Tags").fill("boats")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#saving .done")).to_contain_text("The keeper")
    expect(page.locator("#saving .failed", has_text="foo")).to_contain_text("does not start with http:// or https://")
    completed = page.locator("#saving li", has_text="https://harbour.localhost/a")
    expect(completed).to_contain_text("harbour.localhost/a was read as https://harbour.localhost/a.")
    expect(box).to_have_value("foo")
    expect(page.get_by_label("Tags")).to_have_value("boats")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#saving .failed")).to_have_count(1)
    expect(page.locator("#saving .failed .name")).to_have_text("foo")
    expect(box).to_have_value("foo")


def test_an_empty_form_says_what_is_missing(fresh: Server, window: Window) -> None:
    page = window("/add")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("There is nothing to save.")


def test_without_a_connection_every_action_says_so(save: Save, window: Window) -> None:
    item = save("clock")
    page = window("/add")
    page.context.set_offline(True)
    page.get_by_label("URLs").fill("https://e.example/a")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#saving .failed")).to_contain_text(OFFLINE)
    expect(page.get_by_label("URLs")).to_have_value("https://e.example/a")
    page.context.set_offline(False)
    page.goto("/")
    page.context.set_offline(True)
    page.keyboard.press("j")
    page.keyboard.press("p")
    expect(page.locator("#messages")).to_have_text(OFFLINE)
    page.context.set_offline(False)
    page.goto(f"/items/{item}")
    page.wait_for_load_state()
    page.context.set_offline(True)
    page.keyboard.press("m")
    expect(page.locator("#messages")).to_have_text(OFFLINE)


def test_files_and_links_can_be_dropped_anywhere(fresh: Server, site: Site, window: Window) -> None:
    page = window("/")
    dropped = """([kind, value]) => {
      const carried = new DataTransfer();
      if (kind === "file") carried.items.add(new File([value], "page.html", { type: "text/html" }));
      else carried.setData("text/uri-list", value);
      for (const name of ["dragover", "drop"]) {
        document.body.dispatchEvent(new DragEvent(name, { bubbles: true, cancelable: true, dataTransfer: carried }));
      }
    }"""
    html = (Path(__file__).parents[1] / "corpus" / "article-ghost-oven.html").read_text("utf-8")
    page.evaluate(dropped, ["file", html])
    page.evaluate(dropped, ["link", site.url("/pages/keeper")])
    expect(page.locator("#saving .done")).to_have_count(2)
    expect(page.locator(".row")).to_have_count(2)
    until(lambda: sorted(titles(page)) == ["A wood oven in nine weekends", "The keeper"])


@BOTH
def test_search_finds_while_one_types(save: Save, window: Window, size: str) -> None:
    for name in ("clock", "keeper", "hebrew"):
        save(name)
    page = window("/", size)
    expect(page.locator(".row")).to_have_count(3)
    page.get_by_role("searchbox").press_sequentially("bound", delay=20)
    expect(page.locator(".empty")).to_contain_text("No results")
    page.get_by_role("searchbox").fill("corre")
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".row mark").first).to_be_visible()
    expect(page).to_have_url(re.compile("q=corre"))
    page.get_by_role("searchbox").fill("is:nothing")
    expect(page.get_by_role("alert")).to_contain_text("is:pinned")
    page.get_by_role("searchbox").fill("")
    expect(page.locator(".row")).to_have_count(3)


def test_filters_narrow_the_list(save: Save, window: Window) -> None:
    save("clock", tags=["clocks"])
    page = window("/")
    page.locator("select[name=quality]").select_option("bookmark")
    expect(page.locator(".empty")).to_be_visible()
    page.locator("select[name=quality]").select_option("article")
    expect(page.locator(".row")).to_have_count(1)
    page.locator(".row .tag", has_text="clocks").click()
    expect(page.locator(".active-filters")).to_contain_text("#clocks")
    expect(page.locator(".row")).to_have_count(1)


@BOTH
def test_pin_archive_delete_and_undo(save: Save, window: Window, size: str) -> None:
    save("clock")
    save("keeper")
    page = window("/", size)

    def action(title: str, name: str) -> None:
        row = page.locator(".row", has_text=title)
        row.hover()
        row.get_by_role("button", name=name).click()

    action("The keeper", "Pin")
    expect(page.locator(".row", has_text="The keeper").locator(".flag")).to_have_text("Pinned")
    action("What a tide clock counts", "Archive")
    expect(page.locator(".row")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".row")).to_have_count(2)
    action("The keeper", "Delete")
    expect(page.locator(".row")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".row")).to_have_count(2)
    action("The keeper", "Delete")
    expect(page.locator(".row")).to_have_count(1)
    page.locator(".states").get_by_role("link", name="Trash").click()
    expect(page.locator(".row")).to_have_count(1)
    action("The keeper", "Restore")
    expect(page.locator(".empty")).to_contain_text("Trash empty")
    page.locator(".states").get_by_role("link", name="Pinned").click()
    expect(page.locator(".row h2")).to_have_text(["The keeper"])


def test_several_pages_at_once(save: Save, window: Window) -> None:
    for name in ("clock", "keeper", "hebrew"):
        save(name)
    page = window("/")
    bulk = page.locator("#bulk")
    expect(bulk).to_be_hidden()
    for box in page.locator(".pick input").all()[:2]:
        box.check()
    expect(bulk).to_contain_text("2 selected")
    bulk.get_by_role("button", name="Archive").click()
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator("#messages")).to_contain_text("2 pages")


def test_the_list_grows_while_one_scrolls(fresh: Server, settings: Settings, window: Window) -> None:
    with closing(open_store(settings.library)) as store:
        for number in range(70):
            store.items.save(make_item(number, title=f"Page {number}"), None)
    page = window("/")
    expect(page.locator(".row")).to_have_count(30)
    for expected in (60, 70):
        page.locator(".row").last.scroll_into_view_if_needed()
        page.mouse.wheel(0, 20_000)
        expect(page.locator(".row")).to_have_count(expected)
    until(lambda: len(set(titles(page))) == 70)


def test_retrying_ends_at_the_limit(save: Save, window: Window, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    item = save("keeper")
    monkeypatch.delitem(pages.SITE, "keeper")
    page = window(f"/items/{item}")
    for left in ("2 retries left", "1 retry left", "No retries left"):
        page.locator(".badge summary").click()
        page.locator(".reasons").get_by_role("button", name="Retry", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("404")
        expect(page.locator(".reasons small")).to_have_text(left)
    page.locator(".badge summary").click()
    expect(page.locator(".reasons").get_by_role("button", name="Retry", exact=True)).to_be_disabled()
    expect(page.locator(".content")).to_contain_text("puts the kettle on")


@BOTH
def test_the_look_is_chosen_and_kept(save: Save, window: Window, size: str) -> None:
    page = window(f"/items/{save('clock')}", size)
    page.locator("summary", has_text="Appearance").click()
    page.get_by_label("Sepia").check(force=True)
    page.get_by_label("Size 5 of 5").check(force=True)
    page.get_by_label("Sans-serif", exact=True).check(force=True)
    expect(page.locator("body")).to_have_css("background-color", "rgb(245, 236, 217)")
    page.reload()
    expect(page.locator("body")).to_have_css("background-color", "rgb(245, 236, 217)")
    expect(page.locator("html")).to_have_attribute("data-size", "5")
    page.keyboard.press("-")
    expect(page.locator("html")).to_have_attribute("data-size", "4")


def test_the_system_decides_between_light_and_dark(save: Save, window: Window) -> None:
    path = f"/items/{save('clock')}"
    shades = [
        window(path, color_scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    ]
    assert shades == ["rgb(251, 250, 247)", "rgb(23, 24, 26)"]


@BOTH
def test_text_that_runs_from_right_to_left_does_so(save: Save, window: Window, size: str) -> None:
    page = window(f"/items/{save('hebrew')}", size)
    assert page.evaluate("getComputedStyle(document.querySelector('.content p')).direction") == "rtl"
    start = page.locator(".content p").first.bounding_box()
    title = page.evaluate(
        "(() => { const r = document.createRange(); r.selectNodeContents(document.querySelector('h1')); return r.getBoundingClientRect().right; })()"
    )
    assert abs(start["x"] + start["width"] - title) < 3


@BOTH
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/add",
        "/settings",
        "/import",
        "/waiting",
        "/playground",
        "/offline",
        "/items/{}",
        "/items/{}/explain",
        "/nowhere",
    ],
)
def test_no_page_is_wider_than_the_window(save: Save, window: Window, size: str, path: str) -> None:
    page = window(path.format(save("clock")), size)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_rule_is_tried_and_kept(save: Save, window: Window, shelf: Path, site: Site) -> None:
    item = save("clock")
    page = window(f"/items/{item}")
    page.locator("summary", has_text="More").click()
    page.get_by_role("link", name="Try a rule on this page").click()
    page.get_by_role("textbox", name="Rules").fill(
        "- id: no-list\n  phase: pre\n  trigger:\n    dom:\n      any: [.newsletter-box]\n  remove: [ul]\n"
    )
    page.get_by_role("button", name="Try").click()
    expect(page.locator(".diff .minus", has_text="- boots")).to_be_visible()
    expect(page.locator(".panel", has_text="Result")).to_contain_text("no-list")
    page.get_by_role("textbox", name="Rules").fill("- id: no-list\n  phse: pre\n")
    page.get_by_role("button", name="Try").click()
    expect(page.get_by_role("alert")).to_contain_text("phse")
    page.get_by_role("textbox", name="Rules").fill(
        "- id: no-list\n  phase: pre\n  trigger:\n    dom:\n      any: [.newsletter-box]\n  remove: [ul]\n"
    )
    page.get_by_role("button", name="Save as my rule").click()
    expect(page.locator(".notice.good")).to_contain_text("no-list.yaml")
    kept = shelf / "rules" / "no-list.yaml"
    try:
        assert "remove: [ul]" in kept.read_text()
        expect(page.locator(".diff .minus", has_text="- boots")).to_be_visible()
        page.get_by_role("button", name="Reparse my pages").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Queue")
        until(lambda: "The queue is empty" in page.reload().text())
        page.goto(f"/items/{item}")
        expect(page.locator(".content")).not_to_contain_text("boats")
    finally:
        kept.unlink()


def test_keys_work_through_the_list_and_a_page(save: Save, window: Window) -> None:
    save("keeper")
    save("clock")
    page = window("/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".row.current")).to_contain_text("The keeper")
    page.keyboard.press("k")
    page.keyboard.press("p")
    expect(page.locator(".row", has_text="tide clock").locator(".flag")).to_have_text("Pinned")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("o")
    expect(page.locator("article.reading")).to_be_visible()
    page.wait_for_load_state()  # the text is there before the script that listens for keys
    page.keyboard.press("w")
    expect(page.locator("html")).to_have_attribute("data-width", "wide")
    page.keyboard.press("#")
    expect(page.locator("#messages")).to_contain_text("Moved to the trash")
    expect(page.locator(".row")).to_have_count(1)
    page.keyboard.press("z")
    expect(page.locator(".row")).to_have_count(2)
    page.keyboard.press("/")
    page.keyboard.type("j")
    expect(page.get_by_role("searchbox")).to_have_value("j")


def test_tags_are_put_on_and_taken_off(save: Save, window: Window) -> None:
    page = window(f"/items/{save('clock')}")
    page.get_by_label("Add a tag").fill("to cite, boats")
    page.keyboard.press("Enter")
    expect(page.locator("#tags")).to_contain_text("to cite")
    page.get_by_role("button", name="Remove the tag boats").click()
    expect(page.locator("#tags")).not_to_contain_text("boats")
    page.reload()
    expect(page.locator("#tags")).to_contain_text("to cite")


def test_reading_marks_the_page_as_opened(save: Save, window: Window) -> None:
    keeper = save("keeper")
    save("clock")
    page = window(f"/items/{keeper}")
    page.wait_for_load_state("networkidle")
    page.goto("/?order=opened")
    expect(page.locator(".row").first).to_contain_text("The keeper")


def test_a_token_is_made_shown_once_and_revoked(fresh: Server, window: Window) -> None:
    page = window("/settings/tokens")
    page.get_by_label("Token name").fill("Extension")
    page.get_by_role("button", name="Create token").click()
    expect(page.locator(".secret")).to_have_text(re.compile(r"^pk_\S{30,}$"))
    expect(page.get_by_role("img", name="QR code of the token")).to_be_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator(".secret").inner_text()
    page.goto("/settings/tokens")
    expect(page.locator(".secret")).to_have_count(0)
    page.get_by_role("button", name="Revoke Extension").click()
    expect(page.locator("table")).to_have_count(0)


def test_what_is_shared_is_filled_in_and_saved_only_when_one_says_so(fresh: Server, site: Site, window: Window) -> None:
    page = window(f"/add?title=Look&text=Read%20this%20{site.url('/pages/keeper')}")
    expect(page.get_by_label("URLs")).to_have_value(site.url("/pages/keeper"))
    page.goto("/")
    expect(page.locator(".empty")).to_be_visible()


def test_pages_that_were_opened_are_read_without_a_network(save: Save, window: Window) -> None:
    item, other = save("clock"), save("keeper")
    page = window("/", service_workers="allow")
    page.evaluate(
        "navigator.serviceWorker.ready.then(() => new Promise((on) => navigator.serviceWorker.controller ? on() : navigator.serviceWorker.addEventListener('controllerchange', on)))"
    )
    page.goto(f"/items/{item}")
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("What a tide clock counts")
    until(lambda: page.evaluate("document.querySelector('.content img').naturalWidth") > 0)
    page.goto(f"/items/{other}")
    expect(page.get_by_role("heading", level=1)).to_have_text("You are offline")
    expect(page.locator("#offline-pages")).to_contain_text("What a tide clock counts")


def test_a_list_from_elsewhere_is_imported(fresh: Server, site: Site, window: Window) -> None:
    page = window("/")
    page.locator(".first-steps").get_by_role("link", name="Import").click()
    listed = f"{site.url('/pages/keeper')}\n{site.url('/pages/clock')}\nnonsense\n"
    page.locator("input[type=file]").set_input_files(
        {"name": "list.txt", "mimeType": "text/plain", "buffer": listed.encode()}
    )
    page.get_by_role("main").get_by_role("button", name="Import").click()
    expect(page.get_by_role("main").get_by_role("status")).to_contain_text("2 added")
    expect(page.get_by_role("table")).to_contain_text("nonsense")
    until(lambda: page.goto("/").text().count('class="dot green"') == 2)
    until(lambda: sorted(titles(page)) == ["The keeper", "What a tide clock counts"])


def test_a_file_that_is_too_large_is_not_sent(fresh: Server, window: Window, tmp_path: Path) -> None:
    large = tmp_path / "large.html"
    with large.open("wb") as file:
        file.truncate(71_000_000)
    page = window("/add")
    page.get_by_label("upload files").set_input_files(large)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#saving .failed")).to_contain_text("The file is too large (71 MB). The limit is 70 MB.")
    page.goto("/import")
    chosen = page.locator("input[type=file]")
    chosen.evaluate("(input) => { input.dataset.maxBytes = '1000000'; }")
    chosen.set_input_files(large)
    page.get_by_role("main").get_by_role("button", name="Import").click()
    until(lambda: "limit is 1 MB" in chosen.evaluate("(input) => input.validationMessage"))
    chosen.set_input_files({"name": "list.txt", "mimeType": "text/plain", "buffer": b"nonsense"})
    page.get_by_role("main").get_by_role("button", name="Import").click()
    expect(page.get_by_role("alert")).to_contain_text("The format of list.txt is not known.")


class TestWithoutScripts:
    """Everything one needs for reading, and all that changes the library, by plain forms."""

    def test_reading_searching_and_changing(self, save: Save, window: Window) -> None:
        item = save("clock")
        save("keeper")
        page = window("/", java_script_enabled=False)
        page.get_by_role("searchbox").fill("interval")
        page.keyboard.press("Enter")
        expect(page.locator(".row")).to_have_count(1)
        page.locator(".row h2 a").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("What a tide clock counts")
        page.locator(".bar").get_by_role("button", name="Pin").click()
        expect(page.locator(".bar").get_by_role("button", name="Unpin")).to_be_visible()
        page.goto("/")
        row = page.locator(".row", has_text="The keeper")
        row.hover()
        row.get_by_role("button", name="Delete").click()
        expect(page.locator(".row")).to_have_count(1)
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".row")).to_have_count(2)
        page.goto(f"/items/{item}")
        page.locator("summary", has_text="Appearance").click()
        page.get_by_label("Dark").check(force=True)
        page.get_by_role("button", name="Apply").click()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")

    def test_adding(self, fresh: Server, site: Site, window: Window) -> None:
        page = window("/add", java_script_enabled=False)
        page.get_by_label("URLs").fill(site.url("/pages/keeper"))
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("The keeper")
        page.goto("/add")
        page.get_by_label("URLs").fill(site.url("/pages/nowhere"))
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("main")).to_contain_text("404")  # kept as a bookmark, with the reason
        page.goto("/add")
        page.get_by_label("URLs").fill("foo\nharbour.localhost/a")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("alert").get_by_role("listitem")).to_have_count(1)
        expect(page.get_by_role("alert")).to_contain_text("foo")
        expect(page.locator("#saving")).to_contain_text("harbour.localhost/a was read as https://harbour.localhost/a.")
        expect(page.get_by_label("URLs")).to_have_value("foo")

"""Set-up without a terminal: failures, settings, export and help, on a desktop and on a phone."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from pagekeep.config import Settings
from pagekeep.errors import BlockedAddress, FetchHttpError, FetchTimeout, PagekeepError
from pagekeep.library.saving.failed_saves import keep_address
from pagekeep.store import open_store
from tests.browser.conftest import Window
from tests.browser.serving import Server

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")

PATHS = [
    "/settings",
    "/settings/account",
    "/settings/tokens",
    "/settings/extension",
    "/settings/export",
    "/settings/storage",
    "/settings/about",
    f"/pair?challenge={'x' * 43}&client=Chromium",
    "/pair/done",
    "/help",
    "/help?q=token",
    "/help/extension",
    "/failed",
]


def violations(page: Any) -> list[str]:
    found = axe.Axe().run(page).response["violations"]
    return [f"{fault['id']}: {node['target']} {node['html'][:120]}" for fault in found for node in fault["nodes"]]


def fail(settings: Settings, url: str, error: PagekeepError) -> None:
    """Leave a page in the library that could not be saved."""
    with closing(open_store(settings.library)) as store:
        keep_address(store, url, error)


@pytest.mark.parametrize(("theme", "size"), [("light", "desktop"), ("dark", "phone")])
def test_every_page_is_accessible_and_fits(
    fresh: Server, settings: Settings, window: Window, theme: str, size: str
) -> None:
    fail(settings, f"https://e.example/{'long' * 40}", FetchHttpError("`x` answered 403.", status=403))
    page = window("/offline", size, bypass_csp=True)  # axe is put into the page as a script
    page.context.add_cookies([{"name": "pagekeep_look", "value": f"{theme}.3.medium.serif", "url": fresh.url}])
    for path in PATHS:
        page.goto(path)
        assert (path, violations(page)) == (path, [])
        for direction in ("ltr", "rtl"):
            page.evaluate("(direction) => { document.documentElement.dir = direction; }", direction)
            assert (path, page.evaluate("document.documentElement.scrollWidth <= innerWidth")) == (path, True)


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_what_could_not_be_saved_is_explained_and_dealt_with(
    fresh: Server, settings: Settings, window: Window, size: str
) -> None:
    fail(settings, "https://e.example/private", BlockedAddress("Set `allow_hosts`."))
    fail(settings, "https://e.example/gone", FetchHttpError("`x` answered 404.", status=404))
    fail(settings, "https://e.example/slow", FetchTimeout("`x` is slow."))
    page = window("/", size)
    page.get_by_role("link", name="3 pages could not be saved").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Could not be saved")
    text = page.locator("main").inner_text()
    assert "`" not in text
    assert "allow_hosts" not in text
    expect(page.get_by_role("button", name="Try again")).to_have_count(3)
    gone = page.locator("li", has_text="e.example/gone")
    expect(gone).to_contain_text("There is no page at this address.")
    expect(gone.get_by_role("link", name="Open in the browser")).to_have_attribute("rel", "noopener noreferrer")
    gone.get_by_role("button", name="Delete").click()
    expect(page.locator(".toast")).to_contain_text("Moved to the trash")
    expect(page.locator(".failures li")).to_have_count(2)
    page.locator("li", has_text="e.example/private").get_by_role("button", name="Keep as a bookmark").click()
    expect(page.locator(".failures li")).to_have_count(1)
    page.goto("/")
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".row")).to_contain_text("which this server does not open")


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_an_export_shows_its_progress_and_is_downloaded(
    save: Callable[..., str], window: Window, tmp_path: Path, size: str
) -> None:
    save("clock")
    page = window("/settings", size)
    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Export and backup").click()
    page.get_by_role("button", name="Export", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").first.click()  # the script shows it when the file is complete
    download.value.save_as(tmp_path / "export.zip")
    with zipfile.ZipFile(tmp_path / "export.zip") as archive:
        assert len(archive.namelist()) == 1
    page.get_by_role("button", name="Remove").first.click()
    expect(page.get_by_role("link", name="Download")).to_have_count(0)


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_help_and_settings_are_read_without_scripts(fresh: Server, window: Window, size: str) -> None:
    page = window("/help", size, java_script_enabled=False)
    page.get_by_label("Search the help").fill("connect extension server")
    page.locator(".help-search button").click()
    page.locator(".help-hits a").first.click()
    expect(page.locator("h1")).to_have_count(1)
    page.goto("/help/guides/first-page")
    for picture in page.locator("article img").all():
        assert page.request.get(str(picture.get_attribute("src"))).ok
    page.get_by_role("link", name="The browser extension").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The browser extension")
    for path in ("/settings", "/settings/tokens", "/settings/extension", "/settings/export", "/settings/about"):
        page.goto(path)
        expect(page.get_by_role("navigation", name="Settings").locator("[aria-current]")).to_have_count(1)
    page.goto("/settings/tokens")
    page.get_by_label("Token name").fill("Script")
    page.get_by_role("button", name="Create token").click()
    expect(page.locator("#secret")).to_be_visible()
    page.get_by_role("button", name="Revoke Script").click()
    expect(page.locator("table")).to_have_count(0)


BOOKMARKS = b"""<!DOCTYPE NETSCAPE-Bookmark-file-1><TITLE>Bookmarks</TITLE><DL><p>
<DT><A HREF="https://one.invalid/a" ADD_DATE="1700000000">The boat</A>
<DT><A HREF="nonsense">&lt;b&gt;Nothing</A></DL>"""


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_an_import_shows_its_progress_and_what_failed(fresh: Server, window: Window, size: str) -> None:
    page = window("/import", size, bypass_csp=True)
    page.get_by_label("If a page has no text").select_option("never")
    file = {"name": "bookmarks.html", "mimeType": "text/html", "buffer": BOOKMARKS}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("main").get_by_role("button", name="Import").click()
    state = page.locator("#import-state")
    expect(state).to_contain_text("2 rows imported. 1 added, 1 failed.")
    expect(state.locator("table")).to_contain_text("nonsense")
    assert violations(page) == []
    page.locator("input[type=file]").set_input_files({**file, "buffer": b"\0\1\2 nothing"})
    page.get_by_role("main").get_by_role("button", name="Import").click()
    expect(state.locator(".problem")).to_be_visible()

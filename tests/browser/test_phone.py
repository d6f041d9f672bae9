"""The reader on a phone: five pages on a screen, swiping, selecting, sharing, installing, and reading without a network."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import expect

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.store import open_store
from pagekeep_demo.fill import fill_library
from tests.browser.serving import Server
from tests.browser.test_accessibility import violations

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 1}
CONTROLLED = (
    "navigator.serviceWorker.ready.then(() => new Promise((on) => navigator.serviceWorker.controller ? on() : "
    "navigator.serviceWorker.addEventListener('controllerchange', on)))"
)
KEPT = "caches.open('shelf').then((cache) => cache.match('/offline/pages')).then((found) => found ? found.json() : {pages: []})"
Phone = Callable[..., Any]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("phone")
    settings = Settings(library=str(folder / "demo.db"), rules=str(folder / "rules"), render="never")

    async def fill() -> None:
        async with Retrieval(settings) as retrieval:
            with closing(open_store(settings.library)) as store:
                await fill_library(store, retrieval)

    asyncio.run(fill())
    with Server(settings) as running:
        yield running


@pytest.fixture
def phone(demo: Server, chrome: Any) -> Iterator[Phone]:
    contexts = []

    def open_phone(path: str = "/", **how: Any) -> Any:
        context = chrome.new_context(base_url=demo.url, **{**PHONE, "service_workers": "block", **how})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.goto(path)
        return page

    yield open_phone
    for context in contexts:
        context.close()


def swipe(page: Any, row: Any, across: int, down: int = 0) -> None:
    """Draw a finger over a row, by real touch events of the browser."""
    box = row.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    client = page.context.new_cdp_session(page)
    touch = lambda kind, points: client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})  # noqa: E731
    touch("touchStart", [{"x": x, "y": y}])
    for step in range(1, 9):
        touch("touchMove", [{"x": x + across * step / 8, "y": y + down * step / 8}])
    page.wait_for_timeout(150)  # the finger rests before it is lifted: after a flick, a browser ignores the next tap
    touch("touchMove", [{"x": x + across, "y": y + down}])
    touch("touchEnd", [])
    client.detach()


def test_five_pages_are_on_the_first_screen(phone: Phone) -> None:
    page = phone()
    whole = page.evaluate(
        "[...document.querySelectorAll('.row')].filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length"
    )
    assert whole >= 5
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_swipe_archives_or_pins_and_is_undone(phone: Phone) -> None:
    page = phone()
    first, second = page.locator(".row h2").all_inner_texts()[:2]
    swipe(page, page.locator(".row").first, -200)
    expect(page.locator(".row h2").first).to_have_text(second)
    page.get_by_role("button", name="Undo").tap()
    expect(page.locator(".row h2").first).to_have_text(first)
    row = page.locator(".row", has_text=second)
    swipe(page, row, 200)
    expect(page.locator("#messages")).to_contain_text("Pinned")
    expect(row.locator(".flag")).to_have_text("Pinned")
    page.get_by_role("button", name="Undo").tap()
    expect(row.locator(".flag")).to_have_count(0)


def test_a_short_or_steep_movement_does_nothing(phone: Phone) -> None:
    page = phone()
    first = page.locator(".row h2").first.inner_text()
    swipe(page, page.locator(".row").first, -60)
    swipe(page, page.locator(".row").nth(2), -110, 160)
    expect(page.locator(".row h2").first).to_have_text(first)
    expect(page.locator("#messages")).to_be_empty()
    expect(page.locator(".swipe")).to_have_count(0)


def test_checkboxes_appear_in_selection_mode_only(phone: Phone) -> None:
    page = phone()
    expect(page.locator(".pick").first).to_be_hidden()
    page.locator(".select-mode span").tap()
    expect(page.locator(".pick").first).to_be_visible()
    for row in page.locator(".row").all()[:2]:
        row.locator("h2").tap()  # selects, and does not open
    expect(page.locator("#bulk")).to_contain_text("2 selected")
    page.locator(".select-mode span").tap()
    expect(page.locator(".pick").first).to_be_hidden()
    expect(page.locator("#bulk")).to_be_hidden()


def test_a_long_press_selects(phone: Phone) -> None:
    page = phone()
    box = page.locator(".row").nth(1).bounding_box()
    client = page.context.new_cdp_session(page)
    point = {"x": box["x"] + 60, "y": box["y"] + 40}
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
    expect(page.locator("#bulk")).to_contain_text("1 selected")
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(page.locator(".row h2")).not_to_have_count(0)  # it was not opened


def test_selecting_needs_no_script(phone: Phone) -> None:
    page = phone(java_script_enabled=False)
    page.locator(".select-mode span").tap()
    page.locator(".row .pick").first.tap()
    expect(page.locator("#bulk")).to_be_visible()


@pytest.mark.parametrize("path", ["/", "/add", "/settings", "/items/{}"])
def test_targets_are_large_enough_for_fingers(phone: Phone, demo: Server, path: str) -> None:
    page = phone(path.format(item_id(demo)))
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, summary, select, input:not([type=hidden]), .tools a, .states a, .back-link")]
          .filter((one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !one.closest(".visually-hidden"))
          .map((one) => [one.outerHTML.slice(0, 90), (one.matches("[type=checkbox], [type=radio]") ? one.closest("label") ?? one : one).getBoundingClientRect().height])
          .filter(([, height]) => height > 2 && height < 43.5)"""
    )
    assert [one for one in small if "badge" not in one[0] and "Article" not in one[0]] == []


def item_id(demo: Server) -> str:
    with urllib.request.urlopen(f"{demo.url}/api/v1/items?q=almahatta&limit=50") as answer:
        items = json.load(answer)["items"]
    return next(str(item["id"]) for item in items if "almahatta" in item["url"])


def test_ways_in_are_those_of_a_phone(phone: Phone) -> None:
    page = phone("/add")
    page.get_by_text("Save from other apps with Share").tap()
    expect(page.get_by_text("In any app, tap")).to_be_visible()
    expect(page.get_by_text("You can also drag links")).to_be_hidden()


def test_it_can_be_installed(demo: Server) -> None:
    with urllib.request.urlopen(f"{demo.url}/manifest.webmanifest") as answer:
        manifest = json.load(answer)
    assert {icon.get("purpose", "any") for icon in manifest["icons"]} == {"any", "maskable"}
    assert {shot["form_factor"] for shot in manifest["screenshots"]} == {"narrow", "wide"}
    assert manifest["share_target"]["action"] == "/add"
    for file in (*manifest["icons"], *manifest["screenshots"]):
        with urllib.request.urlopen(f"{demo.url}{file['src']}") as answer:
            assert answer.headers["Content-Type"] == file["type"]


def test_the_last_pages_are_read_without_a_network_though_never_opened(phone: Phone) -> None:
    page = phone(service_workers="allow")
    page.evaluate(CONTROLLED)
    page.goto("/")
    wait(page, f"{KEPT}.then((shelf) => shelf.pages.length >= 25)")
    page.context.set_offline(True)
    page.goto("/offline")
    expect(page.locator("#offline-pages li")).to_have_count(25)
    page.get_by_role("link", name="What a tide clock counts").tap()
    expect(page.get_by_role("heading", level=1)).to_have_text("What a tide clock counts")
    wait(page, "document.querySelector('.content img').naturalWidth > 0")
    page.goto("/items/unknown")
    expect(page.get_by_role("heading", level=1)).to_have_text("You are offline")
    page.context.set_offline(False)
    # Another user of the same browser begins with nothing.
    page.goto("/offline")
    page.evaluate("navigator.serviceWorker.controller.postMessage({ user: 'another', fill: false })")
    wait(page, f"{KEPT}.then((shelf) => shelf.user === 'another' && shelf.pages.length === 0)")
    assert page.evaluate("caches.open('pages').then((cache) => cache.keys()).then((keys) => keys.length)") == 0
    page.goto("/")
    wait(page, f"{KEPT}.then((shelf) => shelf.user !== 'another' && shelf.pages.length >= 1)")
    page.evaluate("navigator.serviceWorker.controller.postMessage('forget')")
    wait(page, "caches.has('shelf').then((has) => !has)")


def wait(page: Any, condition: str) -> None:
    """Wait until an expression holds; `wait_for_function` is forbidden by our content security policy."""
    for _ in range(1_200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(condition)


@pytest.mark.parametrize("path", ["/", "/add", "/items/{}"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_a_phone(phone: Phone, demo: Server, path: str, theme: str) -> None:
    page = phone("/offline", bypass_csp=True)
    page.context.add_cookies([{"name": "pagekeep_look", "value": f"{theme}.3.medium.serif", "url": demo.url}])
    page.goto(path.format(item_id(demo)))  # from right to left
    assert violations(page) == []
    if path == "/":
        page.locator(".select-mode span").tap()
        page.locator(".row h2").first.tap()
        assert violations(page) == []

"""The extension in a real Chromium, against a real server: what the browser shows is what is kept."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.extended import Browser, Server, full_chromium, until
from tests.capture.documents.samples import PDF
from tests.capture.documents.samples import TEXT as TEXT_OF_PDF
from tests.site.gallery import draw
from tests.site.server import Reply, Request, Site

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
expect = playwright_api.expect
pytest.importorskip("fastapi", reason="the server's packages are not installed")
if full_chromium() is None:
    pytest.skip("no full Chromium here; scripts/install-chromium full gets one", allow_module_level=True)

SENTENCE = "The keeper counts the ships before breakfast, writes the number down, and only then puts the kettle on. "
PICTURE = draw(3)
TEXT = f"<p>{SENTENCE * 3}</p>" * 5


def page(title: str, body: str) -> str:
    return f"<!doctype html><html lang=en><title>{title}</title><body>{body}</body></html>"


APP = page(
    "The app",
    f"""<div id=root></div><script>
    fetch("/data").then((answer) => answer.text()).then((word) => {{
      root.innerHTML = `<article><h1>The app</h1>{TEXT}<p>The lamp is ${{word}}.</p></article>`;
    }});
    </script>""",
)
SHADOWS = page(
    "The shadows",
    f"""<article><h1>The shadows</h1>{TEXT}<open-box><p>Slotted is the rope.</p></open-box><closed-box></closed-box>
    <iframe src="/frame/inner" width=600 height=300></iframe></article><script>
    for (const [name, mode, html] of [
      ["open-box", "open", "<section><p>Open is the hatch.</p><slot></slot></section>"],
      ["closed-box", "closed", "<section><p>Closed is the bunker.</p></section>"],
    ])
      customElements.define(name, class extends HTMLElement {{
        constructor() {{ super(); this.attachShadow({{ mode }}).innerHTML = html; }}
      }});
    </script>""",
)
FRAME = page("Inside", f'<p>Framed is the chart. {SENTENCE}</p><p><a href="deeper">The <b>chart</b> in full</a></p>')
LARGE = page(
    "The log",
    f"""<article><h1>The log</h1>{TEXT}<div id=rest></div></article><script>
    rest.innerHTML = Array.from({{ length: 48000 }}, (_, day) =>
      `<p>Day ${{day}}: wind from the north, one ship went by, and the kettle was put on twice before noon.</p>`).join("");
    </script>""",
)
LAZY = page(
    "The cliff",
    f"""<article><h1>The cliff</h1>{TEXT}<div style="height: 4000px"></div><p id=end>…</p></article><script>
    new IntersectionObserver(([seen]) => {{ if (seen.isIntersecting) end.textContent = "At the foot lies a boat."; }}).observe(end);
    </script>""",
)
HEAVY = page(
    "The trunk",
    f"""<article><h1>The trunk</h1>{TEXT}<p id=late></p></article><script>
    late.textContent = "At its bottom lies a letter.";
    document.head.append(Object.assign(document.createElement("style"), {{ textContent: "/*" + "x".repeat(12e6) + "*/" }}));
    </script>""",
)
FACED = page(
    "The watcher",
    f"""<article><h1>The watcher</h1>{TEXT}</article><script>
    window.seen = [];
    new MutationObserver((all) => seen.push(...all)).observe(document, {{ subtree: true, childList: true, attributes: true }});
    addEventListener("message", (event) => seen.push(event.data));
    for (const name of ["fetch", "XMLHttpRequest", "postMessage"]) window[name] = () => seen.push(name);
    </script>""",
)


async def _page(request: Request, reply: Reply) -> None:
    bodies = {"app": APP, "shadows": SHADOWS, "log": LARGE, "cliff": LAZY, "trunk": HEAVY, "watcher": FACED}
    name = request.path.rpartition("/")[2]
    await reply.send(
        bodies.get(name)
        or page(f"The {name}", f"<article><h1>The {name}</h1>{TEXT}<p id=last>It is {name}.</p></article>")
    )


async def _frame(_request: Request, reply: Reply) -> None:
    await reply.send(FRAME)


async def _data(_request: Request, reply: Reply) -> None:
    await reply.send("burning bright")


async def _log(_request: Request, reply: Reply) -> None:
    await reply.send("# Log\n\n*wind*   north\n", content_type="text/plain; charset=utf-8")


async def _door(_request: Request, reply: Reply) -> None:
    await reply.send("in", set_cookie="who=keeper; Path=/; HttpOnly; SameSite=Lax")


async def _inside(request: Request, reply: Reply) -> None:
    knows = "who=keeper" in request.headers.get("cookie", "")
    if request.path.endswith(".pdf"):
        await reply.send(PDF if knows else "no", status=200 if knows else 403, content_type="application/pdf")
    elif request.path.endswith(".png"):
        await reply.send(PICTURE if knows else b"", status=200 if knows else 403, content_type="image/png")
    elif knows and request.path.endswith("album"):
        picture = '<figure><img src="/inside/private.png" alt="The safe"></figure>'
        await reply.send(page("The album", f"<article><h1>The album</h1>{TEXT}{picture}{TEXT}</article>"))
    elif knows:
        await reply.send(
            page("The ledger", f"<article><h1>The ledger</h1>{TEXT}<p>The safe is behind the stove.</p></article>")
        )
    else:
        await reply.send(page("Sign in", "<h1>Sign in</h1><form><input name=user><input type=password></form>"))


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    pages = {"page": _page, "frame": _frame, "data": _data, "door": _door, "inside": _inside, "log": _log}
    with Site(pages) as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("server"))
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def playwright() -> Iterator[playwright_api.Playwright]:
    with playwright_api.sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, with what a person would be asked answered: the server may be reached, addresses of tabs may be seen."""
    from scripts.package_extension import make

    folder = tmp_path_factory.mktemp("extension")
    make("chromium", folder)
    path = folder / "chromium" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["host_permissions"] = ["http://127.0.0.1/*"]
    path.write_text(json.dumps(manifest))
    return path.parent


@pytest.fixture(scope="module")
def running(
    playwright: playwright_api.Playwright, extension: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    with Browser(playwright, extension, tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture
def browser(running: Browser, server: Server) -> Iterator[Browser]:
    running.set_up(server)
    yield running
    for opened in running.context.pages[1:]:
        opened.close()


class Fake:
    """What there is to set up of a server that is none."""

    token = "pk_any"

    def __init__(self, address: str) -> None:
        self.address = address


def address(site: Site, path: str) -> str:
    return site.url(path, host="localhost")


def test_one_click_saves_an_app_as_its_script_made_it(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/page/app")
    shown = browser.open(url)
    shown.wait_for_selector("article")
    browser.click_button(shown)
    assert "The lamp is burning bright." in server.content(url)
    assert "burning bright" not in server.fetched(url)
    assert server.find(url)["source"] == "html"


def test_a_page_behind_a_login_is_saved_as_its_user_sees_it(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/inside/ledger")
    browser.open(address(site, "/door"))
    browser.click_button(browser.open(url))
    assert "The safe is behind the stove." in server.content(url)
    assert "safe" not in server.fetched(url)


def test_pictures_behind_a_login_come_with_the_page(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/inside/album")
    browser.open(address(site, "/door"))
    browser.click_button(browser.open(url))
    item = until(lambda: server.find(url))

    def kept() -> bool:
        pictures = server.ask(f"/pictures?item={item['id']}")["pictures"]
        assert [picture["url"] for picture in pictures] == [address(site, "/inside/private.png")]
        return bool(pictures[0]["state"] == "kept" and pictures[0]["hash"] == hashlib.sha256(PICTURE).hexdigest())

    until(kept)


def test_a_pdf_behind_a_login_is_saved_as_the_file_the_tab_shows(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/inside/harbour.pdf")
    browser.open(address(site, "/door"))
    browser.set_up(server, saveOnClick=False)
    tab = browser.click_button(browser.open(url))
    popup = browser.popup(tab)
    expect(popup.locator("#message")).to_contain_text("Not saved yet")
    popup.get_by_role("button", name="Save this PDF").click()
    expect(popup.locator("#facts")).to_contain_text("1 page")
    assert server.content(url).endswith(TEXT_OF_PDF)
    item = server.find(url)
    assert (item["file_type"], item["source"]) == ("PDF", "html")
    assert server.file(item["id"]) == PDF


def test_a_text_file_is_saved_as_it_is(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/log/notes.md")
    browser.click_button(browser.open(url))
    assert "*wind*   north" in server.content(url)
    assert server.find(url)["source"] == "html"


def test_shadow_roots_open_and_closed_and_frames_are_in_it(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/page/shadows")
    browser.click_button(browser.open(url))
    content = server.content(url)
    for reported in ("Open is the hatch.", "Slotted is the rope.", "Closed is the bunker.", "Framed is the chart."):
        assert content.count(reported) == 1
    seen = server.fetched(url)
    assert not any(reported in seen for reported in ("hatch", "bunker", "chart"))
    assert f"]({address(site, '/frame/deeper')})" in content  # counted from the frame, not from the page


def test_a_page_of_five_megabytes_is_saved_to_its_end(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/page/log")
    shown = browser.open(url)
    assert shown.evaluate("document.documentElement.outerHTML.length") > 4_500_000
    browser.click_button(shown)
    content = server.content(url)
    assert "Day 47999: wind from the north" in content
    assert "Day 47999" not in server.fetched(url)


def test_what_is_never_read_does_not_make_a_page_too_large(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/page/trunk")
    browser.click_button(browser.open(url))
    assert "At its bottom lies a letter." in server.content(url)


def test_what_is_selected_is_all_that_is_saved(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/page/rope")
    shown = browser.open(url)
    shown.evaluate("getSelection().selectAllChildren(document.getElementById('last'))")
    browser.click_button(shown)
    content = server.content(url)
    assert "It is rope." in content
    assert "kettle" not in content


def test_the_popup_shows_title_words_level_and_leads_to_the_reader(
    browser: Browser, server: Server, site: Site
) -> None:
    url = address(site, "/page/kettle")
    tab = browser.click_button(browser.open(url))
    item = until(lambda: server.find(url))
    popup = browser.popup(tab)
    popup.wait_for_selector("#already:not([hidden])")
    popup.wait_for_selector("#save:not([hidden])")
    expect(popup.locator("#already")).to_contain_text("Already saved on ")
    expect(popup.locator("#title")).to_have_text("The kettle")
    expect(popup.locator("#facts")).to_contain_text(f"{item['word_count']} words")
    expect(popup.locator("#dot")).to_have_attribute("data-level", "article")
    expect(popup.locator("#reader")).to_have_attribute("href", f"{server.address}/items/{item['id']}")


def test_the_popup_sets_tags(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/page/anchor")
    popup = browser.popup(browser.click_button(browser.open(url)))
    popup.wait_for_selector("#save:not([hidden]), #retag:not([hidden])")
    popup.fill("#tags", "harbour, iron")
    popup.press("#tags", "Enter")
    until(lambda: {"harbour", "iron"} <= set((server.find(url) or {"tags": ()})["tags"]))


def test_another_way_is_a_click_away(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/page/cliff")
    shown = browser.open(url)
    popup = browser.popup(browser.click_button(shown))
    assert "At the foot lies a boat." not in server.content(url)
    popup.wait_for_selector("#methods:not([hidden])")
    shown.bring_to_front()  # as it is under a real popup: browsers do not draw what is behind
    popup.evaluate("document.querySelector('[data-method=whole]').click()")
    until(lambda: "At the foot lies a boat." in server.content(url))
    until(lambda: popup.inner_text("#message").startswith("Article captured"))
    popup.click("[data-method=server]")
    until(lambda: server.find(url)["source"] == "web")
    until(lambda: "fetched by the server" in popup.inner_text("#facts"))


def test_who_wants_to_look_first_is_asked(browser: Browser, server: Server, site: Site) -> None:
    browser.set_up(server, saveOnClick=False)
    url = address(site, "/page/lantern")
    popup = browser.popup(browser.click_button(browser.open(url)))
    popup.wait_for_selector("#save:not([hidden])")
    expect(popup.locator("#message")).to_contain_text("Not saved yet: Article captured (")
    expect(popup.locator("#facts")).to_contain_text(" words")
    assert server.find(url) is None
    popup.click("#save")
    assert "It is lantern." in server.content(url)


def test_the_token_reaches_no_page(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/page/watcher")
    shown = browser.open(url)
    tab = browser.click_button(shown)
    server.content(url)
    assert shown.evaluate("seen") == []
    assert not any(server.token in str(request) for request in site.requests)
    # Even a script of ours inside the page, or a page that took one over, can neither read it nor have the worker act.
    peeked = browser.worker.evaluate(
        """async (tabId) => (await chrome.scripting.executeScript({ target: { tabId }, func: async () => [
             await chrome.storage.local.get().then((all) => JSON.stringify(all), () => "refused"),
             await Promise.race([
               chrome.runtime.sendMessage({ act: "waiting" }).then((said) => said ?? "silence", () => "silence"),
               new Promise((done) => setTimeout(done, 2000, "silence"))]),
           ] }))[0].result""",
        tab,
    )
    assert peeked == ["refused", "silence"]


def test_without_a_click_no_page_can_be_read(browser: Browser, site: Site) -> None:
    browser.open(address(site, "/page/untouched"))
    reported = browser.worker.evaluate(
        """async () => {
             const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
             const read = chrome.scripting.executeScript({ target: { tabId: tab.id }, func: () => document.title });
             return [tab.url ?? null, await read.then(() => "read", () => "refused")];
           }"""
    )
    assert reported == [None, "refused"]


def test_options_keep_only_what_the_server_takes(browser: Browser, server: Server) -> None:
    browser.set_up(server, token="")
    options = browser.own("options/options.html")
    options.click("summary")
    options.fill("#server", server.address.removeprefix("http://"))
    kept = "chrome.storage.local.get('settings').then((all) => all.settings.token)"
    options.fill("#token", "pk_wrong")
    options.click("button[type=submit]")
    options.wait_for_selector("#message[data-level=problem]")
    expect(options.locator("#message")).to_contain_text("token is unknown")
    assert browser.worker.evaluate(kept) == ""
    options.fill("#token", server.token)
    options.click("button[type=submit]")
    options.wait_for_selector("#message[data-level=good]")
    until(lambda: browser.worker.evaluate(kept) == server.token)


def test_links_are_saved_from_the_menu(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/page/linked")
    browser.open(address(site, "/page/linking"))
    browser.worker.evaluate(
        """async (linkUrl) => {
             const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
             chrome.contextMenus.onClicked.dispatch({ menuItemId: "link", linkUrl }, tab);
           }""",
        url,
    )
    assert "It is linked." in server.content(url)


def test_a_page_the_server_cannot_fetch_becomes_a_bookmark_and_the_notification_retries_it(
    browser: Browser, server: Server, site: Site
) -> None:
    url = address(site, "/missing/link")
    browser.open(address(site, "/page/noticing"))
    browser.worker.evaluate(
        """async (linkUrl) => {
             const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
             chrome.contextMenus.onClicked.dispatch({ menuItemId: "link", linkUrl }, tab);
           }""",
        url,
    )
    item = until(lambda: server.find(url))
    assert (item["quality"], browser.waiting()) == ("bookmark", 0)
    shown = until(lambda: browser.worker.evaluate("() => chrome.notifications.getAll()"))
    assert list(shown) == [f"item:{item['id']}"]
    browser.worker.evaluate("(id) => chrome.notifications.onButtonClicked.dispatch(id, 0)", f"item:{item['id']}")
    until(lambda: server.ask(f"/items/{item['id']}")["item"]["retry_count"] == 1)


def test_all_tabs_of_a_window_are_saved_once_that_is_allowed(
    playwright: playwright_api.Playwright, extension: Path, tmp_path: Path, server: Server, site: Site
) -> None:
    allowed = shutil.copytree(extension, tmp_path / "allowed")
    manifest = json.loads((allowed / "manifest.json").read_text())
    manifest["permissions"] += manifest.pop("optional_permissions")  # what a person would be asked
    (allowed / "manifest.json").write_text(json.dumps(manifest))
    urls = [address(site, f"/page/{name}") for name in ("gull", "tern", "puffin")]
    with Browser(playwright, allowed, tmp_path / "profile") as browser:
        browser.set_up(server)
        for url in urls:
            shown = browser.open(url)
        browser.click_button(shown)
        server.content(urls[-1])
        popup = browser.popup()
        popup.click("#window")
        for url, name in zip(urls, ("gull", "tern", "puffin"), strict=True):
            assert f"It is {name}." in server.content(url)
        until(lambda: popup.inner_text("#message") == "3 pages saved")


def test_a_page_the_server_refuses_is_kept_until_its_user_decides(browser: Browser, site: Site) -> None:
    browser.open(address(site, "/page/asking"))
    browser.worker.evaluate(
        """async () => {
             const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
             chrome.contextMenus.onClicked.dispatch({ menuItemId: "link", linkUrl: "http://e.example/" + "a".repeat(9000) }, tab);
           }"""
    )
    until(lambda: browser.waiting() == 1)
    popup = browser.popup()
    popup.wait_for_selector("#waiting button:text('Try again')")
    popup.click("#waiting button:text('Discard')")
    until(lambda: browser.waiting() == 0)


def test_a_server_that_always_fails_is_asked_ever_less_and_given_up_after_a_day(
    playwright: playwright_api.Playwright, extension: Path, tmp_path: Path, server: Server, site: Site
) -> None:
    fault = json.dumps({"error": {"type": "StoreError", "message": "The disk is full.", "suggestions": []}})

    async def failing(request: Request, reply: Reply) -> None:
        looks = request.path.endswith("/lookup")
        await reply.send('{"item": null}' if looks else fault, status=200 if looks else 500)

    asked = 'chrome.alarms.onAlarm.dispatch({ name: "send" })'
    due = "chrome.alarms.get('send').then((alarm) => alarm ? Math.round(alarm.periodInMinutes) : 0)"
    with Site({"api": failing}) as broken, Browser(playwright, extension, tmp_path / "profile") as browser:

        def saves() -> int:
            return sum(request.path.endswith("/saves") for request in broken.requests)

        browser.set_up(Fake(broken.url("").rstrip("/")))
        browser.worker.evaluate(
            "globalThis.late = 0; globalThis.now = Date.now; Date.now = () => now() + late * 60_000"
        )
        browser.click_button(browser.open(address(site, "/page/gale")))
        until(lambda: saves() == 1 and browser.worker.evaluate(due) == 1)
        browser.worker.evaluate(asked)  # too early
        for tries, (minutes, pause) in enumerate([(1.1, 2), (2.1, 4), (4.1, 8), (70, 16), (70, 32), (70, 60)], 2):
            browser.worker.evaluate(f"late += {minutes}; {asked}")
            until(lambda tries=tries: saves() == tries)
            until(lambda pause=pause: browser.worker.evaluate(due) == pause)
        popup = browser.popup()
        popup.wait_for_selector("#waiting :text('The disk is full. Next attempt at')")
        popup.close()
        browser.worker.evaluate(f"late += 24 * 60; {asked}")
        until(lambda: browser.worker.evaluate(due) == 0)
        popup = browser.popup()
        popup.wait_for_selector("#waiting :text('The server failed for a day. Last error: The disk is full.')")
        expect(popup.locator("#queue-title")).to_have_text("1 page could not be saved")
        browser.set_up(server)
        popup.click("#waiting button:text('Try again')")
        assert "It is gale." in server.content(address(site, "/page/gale"))
        until(lambda: browser.waiting() == 0)


def test_nothing_is_lost_while_the_server_is_off(
    playwright: playwright_api.Playwright, extension: Path, tmp_path: Path, server: Server, site: Site
) -> None:
    urls = [address(site, f"/page/{name}") for name in ("storm", "flood")]
    profile = tmp_path / "profile"
    with Browser(playwright, extension, profile) as browser:
        browser.set_up(server)
        server.stop()
        for number, url in enumerate(urls, 1):
            shown = browser.open(url)
            shown.evaluate("document.getElementById('last').textContent = 'Seen in the browser alone.'")
            browser.click_button(shown)
            until(lambda number=number: browser.waiting() == number)
        popup = browser.popup()
        popup.wait_for_selector("#queue:not([hidden])")
        expect(popup.locator("#queue-title")).to_have_text("2 pages waiting")
        assert popup.evaluate("chrome.alarms.getAll().then((all) => all.map(({ name }) => name))") == ["send"]
    server.start()
    with Browser(playwright, extension, profile) as browser:  # it was closed meanwhile
        browser.worker.evaluate("chrome.alarms.onAlarm.dispatch({ name: 'send' })")  # a minute has passed
        for url in urls:
            assert "Seen in the browser alone." in server.content(url)
        until(lambda: browser.waiting() == 0)
        until(lambda: browser.worker.evaluate("chrome.alarms.getAll().then((all) => all.length === 0)"))

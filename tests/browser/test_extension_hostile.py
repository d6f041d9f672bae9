"""The extension against hostile pages, in a real Chromium (E1, E2): the token stays with it, it survives, and what it sends is bounded."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.browser.extended import Browser, Server, full_chromium, until
from tests.site.server import Reply, Request, Site

if full_chromium() is None:
    pytest.skip("no full Chromium here; scripts/install-chromium full gets one", allow_module_level=True)

from tests.browser.test_extension import TEXT, Fake, address, extension, page, playwright, running, server

__all__ = ["extension", "playwright", "running", "server"]

MAX_SENT_BYTES = 21_000_000
"""Of one page as JSON: 10 MB of text, in which any character may be escaped."""

OVERRIDES = """
  let count = 0;
  const mark = document.documentElement.setAttribute.bind(document.documentElement);
  const trap = (name) => function () { mark("data-seen", name + ++count); return "<p>forged</p>"; };
  for (const [where, names] of [
    [Element.prototype, ["outerHTML", "innerHTML", "shadowRoot", "localName", "getAttribute", "attachShadow", "getBoundingClientRect"]],
    [Node.prototype, ["childNodes", "nodeType", "getRootNode", "cloneNode", "textContent", "ownerDocument", "baseURI"]],
    [Document.prototype, ["importNode", "createTreeWalker", "implementation", "documentElement", "doctype", "contentType"]],
    [HTMLIFrameElement.prototype, ["contentDocument"]],
    [XMLSerializer.prototype, ["serializeToString"]],
    [Object.prototype, ["toString", "pagekeep", "then", "act", "token", "html"]],
    [Function.prototype, ["call", "apply"]],
    [String.prototype, ["toString", "trim", "startsWith", "replace"]],
    [Array.prototype, ["push", "pop", Symbol.iterator]],
    [Promise.prototype, ["then"]],
    [window, ["fetch", "XMLHttpRequest", "postMessage", "getSelection", "URL", "JSON", "MutationObserver"]],
  ])
    for (const name of names)
      try { Object.defineProperty(where, name, { configurable: true, get: () => trap(String(name)), set() {} }); } catch {}
"""
MESSAGES = """
  window.told = [];
  addEventListener("message", (event) => { if (!event.data?.mine) told.push(event.data); });
  const acts = ["save", "open", "waiting", "sendAll", "retry", "discard", "saveWindow", "pair"];
  const shout = () => {
    for (const act of acts) {
      postMessage({ act, tabId: 1, number: 1, mine: true }, "*");
      document.dispatchEvent(new CustomEvent("pagekeep", { detail: { act } }));
    }
  };
  setInterval(shout, 20); shout();
  window.reach = async (id) => Object.fromEntries(await Promise.all([
    ["runtime", async () => String(globalThis.chrome?.runtime?.sendMessage
      ? await Promise.race([chrome.runtime.sendMessage(id, { act: "waiting" }), new Promise((done) => setTimeout(done, 1000, "silence"))])
      : "none")],
    ["file", async () => (await fetch(`chrome-extension://${id}/lib/settings.js`)).status],
    ["frame", () => new Promise((done) => {
      const frame = Object.assign(document.createElement("iframe"), { src: `chrome-extension://${id}/popup/popup.html?tab=1` });
      frame.onload = () => { try { done(frame.contentDocument ? "empty" : "foreign"); } catch { done("foreign"); } };
      frame.onerror = () => done("error"); document.body.append(frame); setTimeout(done, 1500, "nothing");
    })],
  ].map(async ([name, attempt]) => [name, await attempt().catch(() => "refused")])));
"""
CLOBBERED = "".join(
    f"<form name={name}></form><img name={name}>"
    for name in "documentElement createTreeWalker implementation title doctype contentType body head location".split()
) + "<form id=inner>" + "".join(
    f"<input name={name}>"
    for name in "childNodes nodeType localName getRootNode shadowRoot attributes parentNode getAttribute ownerDocument".split()
) + "<p>In a form of hostile names.</p></form><div id=host></div><script>host.attachShadow({mode:'open'}).innerHTML='<p>Shaded.</p>'</script>"  # fmt: skip
FLOOD = """
  const wide = document.createElement("div");
  wide.innerHTML = "<p>" + "flood ".repeat(150) + "</p>";
  for (let turn = 0; turn < 15; turn++) wide.append(...[...wide.children].map((one) => one.cloneNode(true)));
  document.body.append(wide);
"""
MANY = """
  const box = document.createElement("section");
  for (let number = 0; number < 10000; number++) {
    const host = document.createElement("div");
    host.attachShadow({ mode: number % 2 ? "open" : "closed" }).innerHTML = "<p>Shadow " + number + "</p><slot></slot>";
    box.append(host);
    if (number % 50 === 0) box.append(Object.assign(document.createElement("iframe"), { srcdoc: "<p>Frame " + number + "</p>", width: 9, height: 9 }));
  }
  let inner = box;
  for (let depth = 0; depth < 300; depth++) {
    const host = document.createElement("div"); inner.append(host);
    inner = host.attachShadow({ mode: "open" });
  }
  inner.append("Deep is the well.");
  document.querySelector("article").append(box);
"""
RESTLESS = """
  window.made = window.copied = 0;
  customElements.define("re-actor", class extends HTMLElement {
    constructor() { super(); made++; }
    connectedCallback() { if (this.ownerDocument !== document) copied++; }
    adoptedCallback() { copied++; }
  });
  document.querySelector("article").attachShadow({ mode: "closed" }).innerHTML = "<slot></slot>";
  const place = document.querySelector("#moving");
  let turn = 0;
  const stir = () => {
    place.replaceChildren(...Array.from({ length: 50 }, () => document.createElement("re-actor")));
    place.title = "turn " + turn++;
    document.title = "Title " + turn + " " + "long ".repeat(100000);
  };
  new MutationObserver(() => { if (turn < 100000 && turn % 3) stir(); }).observe(place, { childList: true, subtree: true });
  setInterval(stir, 1);
"""
SCRIPTS = {
    "overrides": f"<script>{OVERRIDES}</script>",
    "messages": f"<script>{MESSAGES}</script>",
    "clobbered": CLOBBERED,
    "flood": f"<script>{FLOOD}</script>",
    "many": f"<script>{MANY}</script>",
    "restless": f"<div id=moving></div><script>{RESTLESS}</script>",
    "stuck": "<script>setTimeout(() => { for (;;); }, 1500)</script>",
    "markup": "<img src=x onerror='window.ran = 1'><script>window.ran = 2</script><a href='javascript:1'>A link</a>"
    "<iframe srcdoc='<script>parent.ran = 3</script><p>Framed</p>'></iframe><svg onload='window.ran = 4'></svg>",
}


async def _page(request: Request, reply: Reply) -> None:
    name = request.path.rpartition("/")[2]
    body = f"<article><h1>The {name}</h1>{TEXT}<p>It is {name}.</p></article>{SCRIPTS.get(name, '')}"
    await reply.send(page(f"The {name}", body))


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site({"page": _page}) as started:
        yield started


@pytest.fixture
def browser(running: Browser, server: Server) -> Iterator[Browser]:
    running.set_up(server)
    yield running
    for opened in running.context.pages[1:]:
        opened.close()


def check_token(browser: Browser, server: Server, site: Site) -> None:
    """No page has seen the token, and no request to a page had it."""
    assert not any(server.token in str(request) for request in site.requests)
    for shown in browser.context.pages[1:]:
        if shown.url.startswith("http"):
            visible = shown.evaluate(
                "() => { try { return document.documentElement.outerHTML + JSON.stringify(globalThis.told ?? 0); }"
                "catch { return ''; } }"
            )
            assert server.token not in str(visible)


def test_overridden_prototypes_are_never_used(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/page/overrides")
    shown = browser.open(url)
    before = shown.locator("html").get_attribute("data-seen")
    browser.click_button(shown)
    content = server.content(url)
    assert "It is overrides." in content
    assert "forged" not in content
    assert server.find(url)["source"] == "html"
    assert shown.locator("html").get_attribute("data-seen") == before
    assert server.token not in shown.content()


def test_elements_named_like_properties_do_not_hide_the_page(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/page/clobbered")
    browser.click_button(browser.open(url))
    content = server.content(url)
    assert "It is clobbered." in content
    assert server.find(url)["source"] == "html"


def test_pages_that_imitate_messages_get_no_answer(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/page/messages")
    shown = browser.open(url)
    browser.click_button(shown)
    server.content(url)
    reached = shown.evaluate("(id) => reach(id)", browser.id)
    assert reached["runtime"] in ("none", "refused", "silence", "undefined")
    assert reached["file"] == "refused"
    assert reached["frame"] != "empty"
    assert shown.evaluate("told") == []
    assert browser.waiting() == 0
    check_token(browser, server, site)


def test_a_flood_is_refused_before_it_is_sent(browser: Browser, site: Site) -> None:
    sizes: list[int] = []

    async def measure(request: Request, reply: Reply) -> None:
        sizes.append(int(request.headers.get("content-length", "0")))
        await reply.send(json.dumps({"item": None}))

    with Site({"api": measure}) as counting:
        browser.set_up(Fake(counting.url("").rstrip("/")))
        shown = browser.open(address(site, "/page/flood"))
        assert shown.evaluate("document.documentElement.outerHTML.length") > 25_000_000
        popup = browser.popup(browser.click_button(shown))
        until(lambda: "too large" in popup.inner_text("#message"))
        assert max(sizes, default=0) <= MAX_SENT_BYTES
        assert browser.waiting() == 0


def test_thousands_of_frames_and_shadow_roots_are_saved_and_others_after_them(
    browser: Browser, server: Server, site: Site
) -> None:
    url = address(site, "/page/many")
    browser.click_button(browser.open(url))
    content = server.content(url)
    assert "Shadow 9999" in content
    assert "It is many." in content
    other = address(site, "/page/harmless")
    browser.click_button(browser.open(other))
    assert "It is harmless." in server.content(other)


def test_a_page_that_changes_all_the_time_is_saved_once_and_its_elements_stay_inert(
    browser: Browser, server: Server, site: Site
) -> None:
    url = address(site, "/page/restless")
    shown = browser.open(url)
    shown.wait_for_function("made > 100")
    browser.click_button(shown)
    assert "It is restless." in server.content(url)
    assert server.find(url)["source"] == "html"
    assert len(server.find(url)["title"]) < 2_000
    assert shown.evaluate("copied") == 0
    check_token(browser, server, site)


def test_a_page_that_hangs_holds_up_no_other(browser: Browser, server: Server, site: Site) -> None:
    stuck = browser.open(address(site, "/page/stuck"))
    browser.click_button(stuck)
    other = site.url("/page/beside")  # another host: a page of the same one may share the process that hangs
    browser.click_button(browser.open(other))
    assert "It is beside." in server.content(other)


def test_what_the_extension_sends_is_foreign_to_the_server(browser: Browser, server: Server, site: Site) -> None:
    url = address(site, "/page/markup")
    browser.click_button(browser.open(url))
    server.content(url)
    item = server.find(url)
    reader = browser.context.new_page()
    reader.set_extra_http_headers({"Authorization": f"Bearer {server.token}"})
    reader.goto(f"{server.address}/items/{item['id']}")
    assert reader.evaluate("window.ran ?? null") is None
    html = reader.content()
    assert "onerror" not in html
    assert "javascript:1" not in html

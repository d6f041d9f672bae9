"""P12: web pages, another extension and a false server try to use our extension, in a real Chromium.

    python -m tests.hostile.extension_messages           # a part of the attacks
    python -m tests.hostile.extension_messages --full    # all of them

The extension has every permission that its user can grant. Whatever is tried, it saves only the pages on which its button was
clicked, as they are shown; its settings stay; no page gets the token or one of its files; no other server hears from it.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import quote

from tests.browser.extended import ROOT, Browser, Server, until
from tests.site.server import Reply, Request, Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

ACTIONS: Final = re.findall(
    r"^  (\w+):", (ROOT / "extension/background.js").read_text().partition("ACTIONS = {")[2].partition("\n}")[0], re.M
)
"""What the background worker does for the extension's own pages."""
TEXT: Final = "<p>The keeper counts the ships before breakfast, and only then puts the kettle on.</p>" * 15

# What a page can send to. Each gets `id` of the extension and a `message`.
CHANNELS: Final = {
    "postMessage": "postMessage(message, '*')",
    "postMessage with a port": "postMessage(message, '*', [new MessageChannel().port2])",
    "custom event": "for (const at of [window, document]) at.dispatchEvent(new CustomEvent('pagekeep', { detail: message }))",
    "message event": "for (const at of [window, document]) at.dispatchEvent(new MessageEvent('message', { data: message, origin: `chrome-extension://${id}` }))",
    "broadcast channel": "new BroadcastChannel('pagekeep').postMessage(message)",
    "storage": "localStorage.setItem('settings', JSON.stringify(message)); localStorage.setItem('pagekeep', JSON.stringify(message))",
    "runtime.sendMessage": "globalThis.chrome?.runtime?.sendMessage?.(id, message, take)",
    "runtime.connect": "const port = globalThis.chrome?.runtime?.connect?.(id); port?.onMessage.addListener(take); port?.postMessage(message)",
    "shortcut": "for (const key of ['S', 'P']) dispatchEvent(new KeyboardEvent('keydown', { key, code: 'Key' + key, altKey: true, shiftKey: true, bubbles: true }))",
    "attribute": "document.documentElement.dataset.pagekeep = JSON.stringify(message)",
    "window name": "window.name = JSON.stringify(message)",
    "address": "history.replaceState(message, '', '#code=' + message.act)",
    "frame": "document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: `<script>parent.postMessage(${JSON.stringify(message)}, '*'); top.postMessage(${JSON.stringify(message)}, '*')</script>` }))",
}
# Ways of a page to one of the extension's files, at `to`.
WAYS: Final = {
    "frame": "add('iframe', { src: to })",
    "object": "add('object', { data: to })",
    "embed": "add('embed', { src: to })",
    "image": "add('img', { src: to, onload: () => take('image') })",
    "script": "add('script', { src: to, onload: () => take('script') })",
    "module": "import(to).then(() => take('module'), () => 0)",
    "style": "add('link', { rel: 'stylesheet', href: to, onload: () => take('style') })",
    "fetch": "fetch(to).then((got) => got.text()).then(take, () => 0)",
    "fetch without answer": "fetch(to, { mode: 'no-cors' }).then(() => take('opaque'), () => 0)",
    "request": "const x = new XMLHttpRequest(); x.onload = () => take(x.responseText); x.open('GET', to); try { x.send(); } catch {}",
    "worker": "try { new Worker(to).onmessage = take; } catch {}",
    "window": "open(to)",
    "window without opener": "open(to, '', 'noopener')",
    "moved window": "const other = open('about:blank'); if (other) other.location = to",
    "link": "add('a', { href: to, target: '_blank' }).click()",
    "form": "add('form', { action: to, target: '_blank', method: 'post' }).submit()",
    "redirected window": "open('/moved?to=' + encodeURIComponent(to))",
    "redirected frame": "add('iframe', { src: '/moved?to=' + encodeURIComponent(to) })",
    "prerender": "add('script', { type: 'speculationrules', textContent: JSON.stringify({ prerender: [{ source: 'list', urls: [to] }], prefetch: [{ source: 'list', urls: [to] }] }) })",
    "frame of data": "add('iframe', { src: 'data:text/html,<iframe src=' + to + '></iframe>' })",
    "location": "location = to",
}
# Ways of another extension to one of our pages, at `to`; `tab` is the page in front.
OPENINGS: Final = {
    "tab behind": "chrome.tabs.create({ url: to, active: false })",
    "tab in front": "chrome.tabs.create({ url: to })",
    "window": "chrome.windows.create({ url: to })",
    "small window": "chrome.windows.create({ url: to, type: 'popup', focused: false, width: 100, height: 100 })",
    "its own tab": "chrome.tabs.create({ url: 'about:blank', active: false }).then((made) => chrome.tabs.update(made.id, { url: to }))",
}
HOSTILE_PERMISSIONS: Final = ({}, {"permissions": ["tabs", "storage"], "host_permissions": ["http://localhost/*"]})
CLOBBERED: Final = (
    "pagekeep flatten selection scrollThrough dom title contentType location documentElement implementation body doctype "
    "childNodes nodeType localName getRootNode shadowRoot attributes parentElement parentNode getAttribute ownerDocument "
    "namespaceURI outerHTML cloneNode append textContent baseURI"
).split()
"""Names that a script of ours in the page looks up."""
ELEMENTS: Final = {
    "form": "<form id={name} name={name}>{inputs}<ul><li>In a form.</li></ul></form>",
    "image": "<img id={name} name={name}><img id={name} name={name}>",
    "frame": "<iframe name={name} src='about:blank'></iframe>",
    "foreign-frame": "<iframe name={name} src='http://127.0.0.3:1/'></iframe>",
    "object": "<object id={name} name={name}></object>",
}
STATUSES: Final = (301, 302, 303, 307, 308)
LURE: Final = "Your token has ended. Enter it at evil.example."


def article(name: str, more: str = "") -> str:
    """A page to save."""
    body = f"<article><h1>The {name}</h1>{TEXT}<p id=last>It is {name}.</p></article>{more}"
    return f"<!doctype html><html lang=en><title>The {name}</title><body>{body}</body></html>"


async def _page(request: Request, reply: Reply) -> None:
    await reply.send(article(request.path.rpartition("/")[2]))


async def _clobbered(request: Request, reply: Reply) -> None:
    kind, _, names = request.path.rpartition("/")[2].partition(":")
    inputs = "".join(f"<input name={name}>" for name in CLOBBERED)
    more = "".join(ELEMENTS[kind].format(name=name, inputs=inputs) for name in names.split(","))
    await reply.send(article("clobbered", more))


async def _moved(request: Request, reply: Reply) -> None:
    await reply.send("", 302, location=request.query["to"])


@dataclass
class Place:
    """What is attacked, and what came of it."""

    browser: Browser
    server: Server
    site: Site
    canary: Site
    others: Site
    attacks: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    clicked: list[str] = field(default_factory=list)

    def fault(self, text: str) -> None:
        self.faults.append(text)

    def settings(self) -> Any:
        return self.browser.worker.evaluate("chrome.storage.local.get()")

    def saved(self) -> set[str]:
        return {item["url_full"] for item in self.server.ask("/items?limit=100")["items"]}

    def click(self, url: str) -> Page:
        """Open a page and click on the button; return it when it is saved."""
        shown = self.browser.open(url)
        self.clicked.append(url)
        self.browser.click_button(shown)
        until(lambda: self.server.find(url))
        return shown

    def check(self, what: str) -> None:
        """A click still saves, and nothing else was saved or changed: pages are sent one after the other, so this is the last."""
        self.click(self.site.url(f"/page/control-{sum(self.attacks.values())}"))
        if extra := self.saved() - set(self.clicked):
            self.fault(f"{what}: saved {sorted(extra)}")
            self.clicked += extra
        if self.settings() != self.expected:
            self.fault(f"{what}: settings are {self.settings()}")
        if self.browser.waiting():
            self.fault(f"{what}: pages are in the queue")
        if self.canary.connections:
            self.fault(f"{what}: another server was reached: {[request.target for request in self.canary.requests]}")
            self.canary.connections = 0
        for request in self.site.requests + self.others.requests + self.canary.requests:
            if self.server.token in str(request):
                self.fault(f"{what}: the token was sent to {request.target}")
        own = f"chrome-extension://{self.browser.id}/"
        for page in self.browser.context.pages[1:]:
            if page.url.startswith("http"):
                self._check_page(page, what, own)
            page.close()

    def _check_page(self, page: Page, what: str, own: str) -> None:
        if any(frame.url.startswith(own) for frame in page.frames):
            self.fault(f"{what}: a page has a frame of the extension")
        with suppress(Exception):  # a page that has moved on
            seen = page.evaluate("JSON.stringify([globalThis.taken ?? [], document.documentElement.outerHTML])")
            if self.server.token in seen or json.loads(seen)[0]:
                self.fault(f"{what}: a page got {seen[:200]}")

    def begin(self) -> Self:
        self.browser.set_up(self.server)
        self.expected = self.settings()
        return self


PRELUDE: Final = """
  globalThis.taken ??= [];
  const take = (value) => { if (value !== undefined) taken.push(String(value).slice(0, 500)); };
  const add = (tag, values) => document.body.appendChild(Object.assign(document.createElement(tag), values));
"""


def message(act: str, canary: str) -> dict[str, Any]:
    """A message with everything that any action reads, and more."""
    return {
        "act": act, "tabId": 1, "windowId": 1, "number": 1, "id": "../../x", "tags": ["hostile"], "method": "server", "force": True,
        "url": canary, "server": canary, "token": "pk_evil", "settings": {"server": canary, "token": "pk_evil"},
    }  # fmt: skip


def attack_by_messages(place: Place, origins: dict[str, str], channels: list[str]) -> None:
    """Pages send every action by every channel, while they are shown and while they are saved."""
    for (where, url), channel in product(origins.items(), channels):
        page = place.browser.open(url)
        for act in [*ACTIONS, "constructor", "__proto__"]:
            script = f"([id, message]) => {{ {PRELUDE} try {{ {CHANNELS[channel]} }} catch {{}} }}"
            page.evaluate(script, [place.browser.id, message(act, place.canary.url())])
            place.attacks[f"messages from a page ({where})"] += 1
        place.check(f"{channel} from {where}")


def attack_by_addresses(place: Place, origins: dict[str, str], ways: list[str], paths: list[str]) -> None:
    """Pages try to load, frame and open the extension's own files."""
    for (where, url), way in product(origins.items(), ways):
        page = place.browser.open(url)
        for path in paths:
            if way == "location":
                page = place.browser.open(url)  # the one before is on its way elsewhere
            to = f"chrome-extension://{place.browser.id}/{path}"
            with suppress(Exception):
                page.evaluate(f"(to) => {{ {PRELUDE} {WAYS[way]}; }}", to)
            place.attacks[f"files of the extension from a page ({where})"] += 1
        own = [page.url for page in place.browser.context.pages[1:] if page.url.startswith("chrome-extension:")]
        if own:
            place.fault(f"{way} from {where} opened {own}")
        place.check(f"{way} from {where}")


def attack_by_code(place: Place) -> None:
    """Pages at the server's own origin and elsewhere claim that a pairing is done."""
    for number, host in enumerate((place.server.address, place.site.url(""), place.site.url("", host="localhost"))):
        for path in ("/pair/done#code=", "/pair/done/#code=", "/x/pair/done#code=", "/pair/done?x=/pair/done#code="):
            page = place.browser.context.new_page()
            page.route("**/*", lambda route: route.fulfill(body="<p>Done.", content_type="text/html"))
            page.goto(f"{host.rstrip('/')}{path}{'c' * 43}")
            page.evaluate("history.replaceState(0, '', '/pair/done#code=' + 'd'.repeat(43))")
            place.attacks["forged codes of a pairing"] += 2
        place.check(f"codes {number}")


def attack_by_extension(place: Place, openings: list[str], *, number: int) -> None:
    """Another extension sends messages and opens our pages while a page is in front."""
    worker = place.browser.worker_named(f"hostile{number}.js")
    ask = "([id, message]) => new Promise((done) => { try { %s } catch (error) { done('none'); } setTimeout(done, 300, 'none'); })"
    ways = {
        "sendMessage": "chrome.runtime.sendMessage(id, message, (got) => { void chrome.runtime.lastError; done(got === undefined ? 'none' : JSON.stringify(got)); });",
        "connect": "const port = chrome.runtime.connect(id); port.onMessage.addListener((got) => done(JSON.stringify(got))); port.onDisconnect.addListener(() => { void chrome.runtime.lastError; done('none'); }); port.postMessage(message);",
    }
    own = place.browser.context.new_page()
    own.goto(f"chrome-extension://{worker.url.split('/')[2]}/page.html")
    for act, (name, way), sender in product(ACTIONS, ways.items(), (worker, own)):
        got = sender.evaluate(ask % way, [place.browser.id, message(act, place.canary.url())])
        place.attacks["messages from another extension"] += 1
        if got != "none":
            place.fault(f"{name} {act} answered {got}")
    own.close()
    place.check(f"messages of extension {number}")
    front = place.browser.open(place.site.url(f"/page/in-front-{number}"))
    tab = place.browser.worker.evaluate(
        "chrome.tabs.query({}).then((tabs) => tabs.find((tab) => tab.active && tab.url?.includes('in-front')).id)"
    )
    paths = [
        "popup/popup.html",
        f"popup/popup.html?tab={tab}",
        "options/options.html",
        "options/options.html#connected",
    ]
    paths += [f"options/options.html#{word}={quote(LURE)}" for word in ("failed", "nothing")]
    for opening, path in product(openings, paths):
        front.bring_to_front()
        before = set(pages(place))
        to = f"chrome-extension://{place.browser.id}/{path}"
        worker.evaluate(f"([to, tab]) => {OPENINGS[opening]}.then(() => 0)", [to, tab])
        place.attacks["our pages opened by another extension"] += 1
        opened = until(partial(opened_since, place, before))
        until(partial(opened.evaluate, AT_REST))
        if LURE in opened.inner_text("body"):
            place.fault(f"{opening} shows its text in our options")
        opened.close()
    place.check(f"pages opened by extension {number}")


AT_REST: Final = """
  document.readyState === 'complete' && (!document.querySelector('#message') || !document.querySelector('#message').checkVisibility()
    || !['Reading the page…', 'Saving…'].includes(document.querySelector('#message').textContent))
"""


def pages(place: Place) -> list[Page]:
    place.browser.context.cookies()  # lets Playwright handle what has happened
    return place.browser.context.pages


def opened_since(place: Place, before: set[Page]) -> Page | None:
    """The page of ours that was opened, or the error that the browser shows instead."""
    own = (f"chrome-extension://{place.browser.id}/", "chrome-error:")
    return next((page for page in pages(place) if page not in before and page.url.startswith(own)), None)


def attack_by_names(place: Place, cases: list[str]) -> None:
    """Elements named like what our scripts look up: the page is saved as it is shown all the same, and a selection in it."""
    for number, case in enumerate(cases):
        url = place.site.url(f"/clobbered/{case}?{number}", host="localhost")
        page = place.click(url)
        place.attacks["pages with elements of hostile names"] += 1
        item, content = place.server.find(url), place.server.content(url)
        if item["source"] != "html" or "It is clobbered." not in content:
            place.fault(f"{case}: saved as {item['source']}")
        page.close()
        if case.startswith("form"):
            url += "&selected"
            page = place.browser.open(url)
            page.evaluate("getSelection().selectAllChildren(document.querySelector('form li'))")
            place.clicked.append(url)
            place.browser.click_button(page)
            until(lambda url=url: place.server.find(url))
            content = place.server.content(url)
            place.attacks["pages with elements of hostile names"] += 1
            if "In a form." not in content or "It is clobbered." in content:
                place.fault(f"{case}: the selection was saved as {content[-200:]}")
            page.close()
        if number % 20 == 19:
            place.check("names")
    place.check("names")


def attack_by_server(place: Place, statuses: tuple[int, ...]) -> None:
    """The server that its user chose redirects to another, and answers with addresses of others."""
    answers: dict[str, Any] = {}

    async def redirect(request: Request, reply: Reply) -> None:
        await reply.send(
            "", answers["status"], location=place.canary.url(request.target), access_control_allow_origin="*"
        )

    async def lie(request: Request, reply: Reply) -> None:
        canary = place.canary.url("/picture.png")
        item = {
            "id": "../../../x?y#z", "url": canary, "url_full": canary, "title": "<img src=x>", "tags": [], "warnings": [], "quality": "article",
            "pictures_job": "j", "domain": canary, "outcome": "created",
        }  # fmt: skip
        await reply.send(json.dumps({"item": None if "lookup" in request.path else item, "pictures": [{"url": canary, "state": "left"}]}))  # fmt: skip

    for number, (handler, status) in enumerate([*((redirect, status) for status in statuses), (lie, 200)]):
        answers["status"] = status
        with Site({"api": handler}) as false:
            place.browser.worker.evaluate(
                "(settings) => chrome.storage.local.set({ settings })",
                {"server": false.url("").rstrip("/"), "token": "pk_false"},
            )
            page = place.browser.open(place.site.url(f"/page/false-{number}", host="localhost"))
            place.browser.click_button(page)
            until(lambda false=false: sum("saves" in request.path for request in false.requests))
            left = int(handler is redirect)
            until(lambda left=left: place.browser.waiting() == left)
            place.attacks["answers of a false server"] += len(false.requests)
            place.browser.worker.evaluate(
                "() => new Promise((done) => { const asked = indexedDB.open('pagekeep', 1); asked.onsuccess = () => { const t = asked.result.transaction('queue', 'readwrite'); t.objectStore('queue').clear(); t.oncomplete = () => { asked.result.close(); done(); }; }; })"
            )
            page.close()
    place.begin()
    place.check("false server")


@contextmanager
def prepared(folder: Path) -> Iterator[Place]:
    """The browser with our extension and two hostile ones, the server, and sites."""
    from playwright.sync_api import sync_playwright

    from scripts.package_extension import make

    make("chromium", folder)
    path = folder / "chromium" / "manifest.json"
    manifest = json.loads(path.read_text())
    granted = {"host_permissions": ["http://127.0.0.1/*"], "permissions": [*manifest["permissions"], "tabs"]}
    path.write_text(json.dumps({**manifest, **granted}))
    hostile = []
    for number, more in enumerate(HOSTILE_PERMISSIONS):
        hostile.append(folder / f"hostile{number}")
        hostile[-1].mkdir()
        worker = {"background": {"service_worker": f"hostile{number}.js"}}
        about = {"manifest_version": 3, "name": f"Hostile {number}", "version": "1", **worker, **more}
        (hostile[-1] / "manifest.json").write_text(json.dumps(about))
        (hostile[-1] / f"hostile{number}.js").write_text("chrome.runtime.onInstalled.addListener(() => 0);")
        (hostile[-1] / "page.html").write_text("<!doctype html><p>Hostile.")
    with ExitStack() as stack:
        server = Server(folder)
        stack.callback(server.stop)
        handlers = {"page": _page, "clobbered": _clobbered, "moved": _moved}
        site, others, canary = (stack.enter_context(Site(each)) for each in (handlers, handlers, {}))
        playwright = stack.enter_context(sync_playwright())
        browser = stack.enter_context(Browser(playwright, path.parent, folder / "profile", *hostile))
        yield Place(browser, server, site, canary, others).begin()


def run(folder: Path, *, full: bool) -> Place:
    """Attack; return what was done and what fell."""
    with prepared(folder) as place:
        origins = {
            "a foreign page": place.others.url("/page/x", host="localhost"),
            "a page on the server's host": place.others.url("/page/x"),
        }
        every = sorted(
            str(path.relative_to(ROOT / "extension")) for path in (ROOT / "extension").rglob("*") if path.is_file()
        )
        paths = ["popup/popup.html?tab=1", "options/options.html#connected", *(every if full else ["lib/settings.js"])]
        some = {"a page on the server's host": origins["a page on the server's host"]}
        attack_by_messages(place, origins if full else some, list(CHANNELS if full else list(CHANNELS)[:8:3]))
        attack_by_addresses(
            place, origins if full else some, list(WAYS if full else ("frame", "fetch", "window", "location")), paths
        )
        attack_by_code(place)
        for number in range(len(HOSTILE_PERMISSIONS)):
            attack_by_extension(place, list(OPENINGS if full else list(OPENINGS)[number : number + 1]), number=number)
        names = CLOBBERED if full else [",".join(CLOBBERED)]
        attack_by_names(
            place,
            [f"{kind}:{name}" for kind, name in product(ELEMENTS, names)]
            if full
            else [f"{kind}:{names[0]}" for kind in ("form", "foreign-frame")],
        )
        attack_by_server(place, STATUSES if full else STATUSES[-1:])
        return place


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        place = run(Path(folder), full="--full" in sys.argv)
    for what, count in place.attacks.items():
        print(f"{count:6} {what}")
    print(
        f"{place.attacks.total():6} attacks, {len(place.clicked)} pages saved by a click; faults: {place.faults or 'none'}"
    )
    return bool(place.faults)


if __name__ == "__main__":
    sys.exit(main())

"""R1, P12: a page tries every way out it has towards a canary that the guard refuses. None may reach it.

`python tests/hostile/render_canary.py` tries all ways that leave the page standing on one page, and the others one by one;
with `--full` each has its own page. The control, plain Playwright without our proxy, must leak, or the canary is deaf.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

sys.path.insert(0, str(Path(__file__).parents[2]))

from pagekeep.config import Settings
from pagekeep.errors import PagekeepError
from pagekeep.fetch.browser import Browser
from pagekeep.fetch.guard import Guard
from tests.site.sandbox import SANDBOX
from tests.site.server import Handler, Reply, Request, Site

CANARY_HOST = "127.0.0.2"
Render = Callable[[str], Awaitable[object]]


def _link(relation: str, more: str = "") -> str:
    return f"<link rel='{relation}' href='TO' {more}>"


def _worker(script: str, kind: str = "Worker") -> str:
    return f"<script>new {kind}(URL.createObjectURL(new Blob([`{script}`], {{type: 'text/javascript'}})))</script>"


STAYING = {
    "fetch": "<script>fetch('TO', {mode: 'no-cors'})</script>",
    "fetch keepalive": "<script>fetch('TO', {mode: 'no-cors', method: 'POST', body: 'x', keepalive: true})</script>",
    "xhr": "<script>x = new XMLHttpRequest(); x.open('GET', 'TO'); x.send()</script>",
    "beacon": "<script>navigator.sendBeacon('TO', 'x')</script>",
    "event source": "<script>new EventSource('TO')</script>",
    "websocket": "<script>new WebSocket('TO'.replace('http', 'ws'))</script>",
    "redirected fetch": "<script>fetch('/moved?to=TO', {mode: 'no-cors'})</script>",
    "redirected script": "<script src='/moved?to=TO'></script>",
    "script": "<script src='TO'></script>",
    "module": "<script type=module src='TO'></script>",
    "dynamic import": "<script>import('TO').catch(() => 0)</script>",
    "image": "<img src='TO'>",
    "image set": "<img srcset='TO 1x'>",
    "image of a script": "<script>new Image().src = 'TO'</script>",
    "svg image": "<svg><image href='TO'/></svg>",
    "input image": "<input type=image src='TO'>",
    "frame": "<iframe src='TO'></iframe>",
    "frame in frame": "<iframe srcdoc=\"<img src='TO'><script src='TO'></script>\"></iframe>",
    "redirected frame": "<iframe src='/moved?to=TO'></iframe>",
    "object": "<object data='TO'></object>",
    "embed": "<embed src='TO'>",
    "style sheet": _link("stylesheet"),
    "style import": "<style>@import 'TO';</style>",
    "background": "<style>body { background: url('TO') }</style>",
    "font": "<style>@font-face { font-family: f; src: url('TO') } body { font-family: f }</style>text",
    "video": "<video src='TO' preload=auto></video>",
    "poster": "<video poster='TO'></video>",
    "audio": "<audio src='TO' preload=auto></audio>",
    "track": "<video crossorigin><track default kind=captions src='TO'></video><script>document.querySelector('track').track.mode = 'showing'</script>",
    "prefetch": _link("prefetch"),
    "preload": _link("preload", "as=script"),
    "preload image": _link("preload", "as=image"),
    "module preload": _link("modulepreload"),
    "preconnect": _link("preconnect"),
    "prerender": _link("prerender"),
    "icon": _link("icon"),
    "manifest": _link("manifest"),
    "worker": "<script>new Worker('/moved?to=TO')</script>" + _worker("fetch('TO', {mode: 'no-cors'})"),
    "import scripts": _worker("importScripts('TO')"),
    "socket in a worker": _worker("new WebSocket('TO'.replace('http', 'ws'))"),
    "shared worker": _worker("fetch('TO', {mode: 'no-cors'})", "SharedWorker"),
    "service worker": "<script>navigator.serviceWorker.register('/sw?to=TO').catch(() => 0)</script>",
    "speculation rules": '<script type=speculationrules>{"prefetch": [{"source": "list", "urls": ["TO"]}], "prerender": [{"source": "list", "urls": ["TO"]}]}</script>',
    "policy report": "<style>@import '/forbidden';</style>",
    "ping": "<a id=a href='#x' ping='TO'>x</a><script>a.click()</script>",
    "window": "<script>window.open('TO')</script>",
    "window without opener": "<script>window.open('TO', '', 'noopener')</script>",
    "form in a frame": "<iframe name=f></iframe><form id=q target=f action='TO' method=post></form><script>q.submit()</script>",
    "form in a window": "<form id=w target=_blank action='TO'></form><script>w.submit()</script>",
    "web transport": "<script>try { new WebTransport('TO'.replace('http:', 'https:')).ready.catch(() => 0) } catch (e) {}</script>",
    "webrtc": "<script>(async () => { const p = new RTCPeerConnection({iceServers: [{urls: ['stun:STUN', 'stun:CANARY']}, {urls: 'turn:CANARY?transport=tcp', username: 'u', credential: 'p'}]}); p.createDataChannel('x'); await p.setLocalDescription(await p.createOffer()); })()</script>",
}
LEAVING = {
    "form": "<form id=q action='TO' method=post></form><script>q.submit()</script>",
    "refresh": "<meta http-equiv=refresh content='0;url=TO'>",
    "location": "<script>location = 'TO'</script>",
    "redirect": "",
    "link": "<a id=a href='TO'>x</a><script>a.click()</script>",
    "redirected location": "<script>location = '/moved?to=TO'</script>",
    "navigation api": "<script>navigation.navigate('TO')</script>",
}


@dataclass
class UdpCanary:
    """Counts datagrams on this machine's own address: WebRTC does not speak over loopback."""

    datagrams: int = 0
    address: str = ""
    _socket: socket.socket = field(default_factory=lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))

    def __enter__(self) -> Self:
        self._socket.bind((_own_address(), 0))
        self._socket.settimeout(0.05)
        self.address = "{}:{}".format(*self._socket.getsockname())
        self._ending = False
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        return self

    def _listen(self) -> None:
        while not self._ending:
            with suppress(TimeoutError):
                self._socket.recv(2000)
                self.datagrams += 1

    def __exit__(self, *exception: object) -> None:
        self._ending = True
        self._thread.join()
        self._socket.close()


def _own_address() -> str:
    """An address of this machine; choosing a route sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return CANARY_HOST
        return str(probe.getsockname()[0])


@dataclass
class Trap:
    """The site with the canary pages, and the canaries."""

    canary: Site
    udp: UdpCanary
    site: Site

    def page(self, names: Iterable[str]) -> str:
        """The address of a page that tries the ways."""
        return self.site.url("/try/" + ",".join(name.replace(" ", "_") for name in names))

    def reached(self) -> set[str]:
        """The ways that a request came by; `a connection` for more connections than requests."""
        ways = {request.path.strip("/").replace("_", " ") for request in self.canary.requests}
        if self.canary.connections > len(self.canary.requests):
            ways.add("a connection")
        return ways | ({"datagrams"} if self.udp.datagrams else set())


class trap:  # noqa: N801 - used like a function
    """A running `Trap`, as a context manager."""

    def __enter__(self) -> Trap:
        self._canary = Site({}, host=CANARY_HOST).__enter__()
        self._udp = UdpCanary().__enter__()
        self._site = Site(_handlers(self._canary, self._udp)).__enter__()
        return Trap(self._canary, self._udp, self._site)

    def __exit__(self, *exception: object) -> None:
        for part in (self._site, self._udp, self._canary):
            part.__exit__()


def _handlers(canary: Site, udp: UdpCanary) -> dict[str, Handler]:
    async def attempt(request: Request, reply: Reply) -> None:
        names = [name.replace("_", " ") for name in request.path.removeprefix("/try/").split(",")]
        if names == ["redirect"]:
            await reply.send("", 302, location=canary.url("/redirect"))
            return
        markup = "".join(_filled((STAYING | LEAVING)[name], name, canary, udp) for name in names)
        # The last request keeps the page open while slower ways out are tried.
        policy = f"style-src 'none'; report-uri {canary.url('/policy_report')}"
        headers = {"content_security_policy": policy} if names == ["policy report"] else {}
        await reply.send(f"<!doctype html><title>try</title>{markup}<script>fetch('/tick')</script>", **headers)

    async def moved(request: Request, reply: Reply) -> None:
        await reply.send("", 302, location=request.query["to"], access_control_allow_origin="*")

    async def tick(request: Request, reply: Reply) -> None:
        await asyncio.sleep(1.5)
        await reply.send("{}")

    async def service_worker(request: Request, reply: Reply) -> None:
        await reply.send(f"fetch('{request.query['to']}', {{mode: 'no-cors'}})", content_type="text/javascript")

    return {"try": attempt, "moved": moved, "tick": tick, "sw": service_worker}


def _filled(markup: str, name: str, canary: Site, udp: UdpCanary) -> str:
    to = canary.url("/" + name.replace(" ", "_"))
    return markup.replace("TO", to).replace("STUN", udp.address).replace("CANARY", f"{canary.host}:{canary.port}")


async def attempt_all(render: Render, here: Trap, *, each: bool) -> None:
    """Render the canary pages, four at a time."""
    pages = (
        [[name] for name in STAYING]
        if each
        else [[name for name in STAYING if name != "policy report"], ["policy report"]]
    )
    pages += [[name] for name in LEAVING]
    slots = asyncio.Semaphore(4)

    async def one(names: list[str]) -> None:
        async with slots:
            await render(here.page(names))

    await asyncio.gather(*map(one, pages))


async def guarded(here: Trap, *, each: bool, visual: bool = False) -> set[str]:
    """What reaches the canaries from our browser, or from the one that takes pictures of pages."""
    async with Browser(Settings(browser_sandbox=SANDBOX), Guard([here.site.host]), visual=visual) as browser:

        async def render(url: str) -> None:
            with suppress(PagekeepError):
                await (browser.screenshot(url, "whole", timeout=10) if visual else browser.render(url, timeout=10))

        await attempt_all(render, here, each=each)
    return here.reached()


async def unguarded(here: Trap, *, each: bool) -> set[str]:
    """What reaches them from plain Playwright."""
    from playwright.async_api import Error, async_playwright

    from pagekeep.fetch.browser import chromium

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium.find_chromium().path)

        async def render(url: str) -> None:
            page = await browser.new_page()
            with suppress(Error):
                await page.goto(url)
            await asyncio.sleep(2)
            await page.context.close()

        await attempt_all(render, here, each=each)
        await browser.close()
    return here.reached()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    full = parser.parse_args().full
    with trap() as here:
        control = asyncio.run(unguarded(here, each=full))
        control_datagrams = here.udp.datagrams
    with trap() as here:
        leaked = asyncio.run(guarded(here, each=full))
        datagrams = here.udp.datagrams
    with trap() as here:
        leaked |= asyncio.run(guarded(here, each=full, visual=True))
        datagrams += here.udp.datagrams
    ways = (STAYING | LEAVING).keys()
    heard = control & ways
    # A way that the control does not leak by either proves nothing about the guard: say which.
    print(
        f"control: {len(heard)} of {len(ways)} ways leak, and {sorted(control - ways)}; deaf to {sorted(ways - control)}"
    )
    print(f"guarded: {len(leaked)} leak {sorted(leaked)}")
    print(f"UDP by WebRTC: {control_datagrams} datagrams from the control, {datagrams} guarded")
    return 0 if not leaked and len(heard) >= 26 and "datagrams" in control else 1


if __name__ == "__main__":
    sys.exit(main())

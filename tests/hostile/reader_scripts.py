"""X1 and X2: scripts in saved pages, by every way into every page of the reader, in a real Chromium with clicks.

    python -m tests.hostile.reader_scripts [COUNT]

Each guard is tried alone: the sanitiser with the browser's content policy switched off, and the policy with nothing
sanitised or escaped. With neither the scripts must run, else the test sees nothing.
"""

from __future__ import annotations

import re
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch
from urllib.parse import quote

from playwright.sync_api import Error, sync_playwright

from pagekeep.config import Settings
from pagekeep.doors.http.web import layout as frame
from pagekeep.fetch.browser import chromium
from pagekeep.library.items.annotations import annotate
from pagekeep.model import RawPage
from pagekeep.present import markdown_html
from pagekeep.present.renderer import Rendered, Renderer
from pagekeep.store import open_store
from tests.browser.serving import Server
from tests.hostile.reader_vectors import vectors
from tests.site.sandbox import SANDBOX
from tests.store.making import NOW, make_item

Guards = Literal["both", "sanitiser", "policy", "none"]
BODY = 8
"""Vectors in the text of one page."""

_SEARCH = """if (window === top) addEventListener("load", () => setTimeout(() => {
  for (const node of document.querySelectorAll("a[href], area[href], [formaction], form[action], iframe, object, embed, base")) {
    const address = node.href || node.formAction || (node.hasAttribute("action")
      ? new URL(node.getAttribute("action"), location).href : node.tagName);
    if (!node.closest(".bookmarklet") && !/^(https?|mailto|tel):/.test(address)) found(String(address));
  }
  const kinds = ["click", "mouseover", "focus", "toggle", "error", "load", "animationstart", "close", "begin"];
  for (const node of document.querySelectorAll("*")) {
    if (node.closest("[data-quick], [data-adds], .top, .bulk, dialog")) continue;
    const leads = node.closest("a[href], button, input, summary");
    for (const kind of kinds) {
      if (kind === "click" && leads && leads.href && /^(https?|mailto|tel):/.test(leads.href)) continue;
      if (kind === "click" && leads && leads.form && new URL(leads.formAction || "/", location).protocol.startsWith("http")) continue;
      try { kind === "click" ? node.click ? node.click() : null : node.dispatchEvent(new Event(kind)); } catch { /* next */ }
    }
    if (node.focus && !leads) node.focus();
  }
  setTimeout(ended, 30);
}, 0));"""
"""In every page: reports links that lead elsewhere than to the web, and does whatever a reader could to everything there is."""


@dataclass(frozen=True)
class Found:
    """What came of it."""

    pages: int
    stuck: int
    """Pages that did not stay, or not load to their end."""
    hits: list[str]
    """Where a script ran."""
    links: list[str]
    """Links and frames that lead elsewhere than to the web."""


def numbered(count: int | None) -> list[str]:
    """The vectors, each calling with its own number."""
    return [vector.replace("hit(0)", f"hit({number})") for number, vector in enumerate(islice(vectors(), count))]


def fill(settings: Settings, wanted: list[str]) -> list[str]:
    """A library in which every field of every item is a vector; the ids of its items."""
    ids = []
    with closing(open_store(settings.library)) as store:
        for start in range(0, len(wanted), BODY):
            one, some = wanted[start], wanted[start : start + BODY]
            reported = dict.fromkeys(("description", "reason", "suggestion", "site_name", "language", "strategy"), one)
            made = make_item(
                start,
                title=one,
                author=some[-1],
                url=f"https://e.example/{quote(one)}",
                content="---\ntitle: x\n---\n\n" + "\n\n".join(f"kettle {vector}" for vector in some),
                tags=some[:5],
                quality="bookmark" if start % 2 else "article",
                reading_time=one,
                hero_image=f"https://e.example/{one}",
                last_error={"type": "X", "message": one},
                **reported,
            )
            made = replace(made, id=str(uuid.uuid4()), url_full=some[1 % len(some)], domain=one[:60], published_at=one)
            page = f"<title>{one}</title><article>{''.join(some)}{'<p>kettle, kettle. </p>' * 40}</article>".encode()
            raw = RawPage(page, "utf-8", "text/html", f"https://e.example/{start}", 200, False, NOW)
            ids.append(store.items.save(made, raw).id)
            annotate(store, ids[-1], one, before=some[-1], note=one, colour=one[:30])
            annotate(store, ids[-1], "kettle", note=some[-1])
    return ids


async def _render_here(_renderer: Renderer, text: str, **options: Any) -> Rendered:
    return markdown_html.render(text, **options)


@contextmanager
def unguarded() -> Iterator[None]:
    """Nothing is sanitised or escaped. In this process alone, and only here."""
    renderer = markdown_html._renderer()
    loose = frame.templates().overlay(autoescape=False, cache_size=100)
    renderer.options["html"] = True
    try:
        with (
            # Here, and nothing is kept of it.
            patch.object(Renderer, "render", _render_here),
            patch.object(markdown_html, "sanitise", lambda html, _images: html),
            patch.object(markdown_html, "absolute_url", lambda address, _base: address),
            patch.object(renderer, "validateLink", lambda _url: True),
            patch.object(frame, "templates", lambda: loose),
        ):
            renderer.enable(["html_block", "html_inline"])
            yield
    finally:
        renderer.options["html"] = False


def visit(chrome: Any, url: str, paths: list[str], *, policy: bool) -> Found:
    """Open each page, and do to everything on it whatever a reader could."""
    context = chrome.new_context(base_url=url, bypass_csp=not policy, service_workers="block")
    hits: list[str] = []
    # Known to every frame, and to pages that a script leads to.
    context.expose_binding("hit", lambda source, number=0: hits.append(f"{source['page'].url}: {number}"))
    # What is changed by clicking about is not what is tested, and nothing may be asked of the web.
    context.route(lambda address: not address.startswith(url), lambda route: route.abort())
    context.route("**/*", lambda route: route.abort() if route.request.method == "POST" else route.fallback())
    links: list[str] = []
    ended: list[bool] = []
    stuck = 0
    # Pages report by themselves: a client that requests one that goes elsewhere again and again waits for ever.
    context.expose_binding("found", lambda source, address: links.append(f"{source['page'].url}: {address}"))
    context.expose_binding("ended", lambda _source: ended.append(True))
    context.add_init_script(_SEARCH)
    for path in paths:
        window = context.new_page()  # what leads away from one page must not spoil the next
        window.set_default_timeout(5_000)
        ended.clear()
        with suppress(Error):  # it may lead away, and reports what is found there
            window.goto(path, wait_until="load")
        for _ in range(100):
            if ended:
                break
            window.wait_for_timeout(20)
        stuck += not ended
        window.wait_for_timeout(30)
        window.close()
    context.unroute_all(behavior="ignoreErrors")  # requests still under way would keep it from closing
    context.close()
    return Found(len(paths), stuck, hits, links)


def paths_of(ids: list[str], wanted: list[str]) -> list[str]:
    """Lists, hits of searches, pages, explanations, and whatever else says back what it was given."""
    lists = ["/", "/?q=kettle", "/?state=all&order=title"]
    items = [f"/items/{key}" for key in ids]
    said = [wanted[number] for number in range(0, len(wanted), max(1, len(wanted) // 5))]
    echoes = [
        f"{path}{quote(one)}" for one in said for path in ("/?q=", "/?domain=", "/add?url=", "/nowhere/", "/items/")
    ]
    return [*lists, *items, *(f"{path}/explain" for path in items[:6]), *echoes]


def run(chrome: Any, server: Server, ids: list[str], wanted: list[str], guards: Guards) -> Found:
    """All pages, guarded so."""
    paths = paths_of(ids, wanted)
    if guards in ("both", "sanitiser"):
        return visit(chrome, server.url, paths, policy=guards == "both")
    with unguarded():
        return visit(chrome, server.url, paths, policy=guards == "policy")


def main(count: int | None) -> int:
    """Tell how many ran with each guard alone; 0 when none did."""
    wanted = numbered(count)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(library=str(Path(folder) / "library.db"), rules=folder, browser_sandbox=SANDBOX)
        ids = fill(settings, wanted)
        with Server(settings) as server, sync_playwright() as driver:
            chrome = driver.chromium.launch(executable_path=str(chromium.find_chromium().path), args=["--no-sandbox"])
            found = {guards: run(chrome, server, ids, wanted, guards) for guards in ("sanitiser", "policy")}
            found["none"] = run(chrome, server, ids[:20], wanted, "none")
    for guards, one in found.items():
        print(
            f"{guards:9} alone: {len(wanted):,} vectors, {one.pages:,} pages ({one.stuck} led away), "
            f"{len(one.hits):,} ran, {len(one.links):,} links"
        )
        for line in [*one.hits, *(one.links if guards == "sanitiser" else ())][:5] if guards != "none" else ():
            print(f"    {re.sub(r'[^ -~]', '?', line)[:160]}")
    bad = [*found["sanitiser"].hits, *found["sanitiser"].links, *found["policy"].hits]
    return 1 if bad or found["sanitiser"].stuck or not found["none"].hits else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else None))

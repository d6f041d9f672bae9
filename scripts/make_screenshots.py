"""Take pictures of every page of the reader with the demo library, at three widths, in light and dark.

Usage: python scripts/make_screenshots.py FOLDER [--only PATTERN] [--sheets]
       python scripts/make_screenshots.py --docs

FOLDER gets one file per page, width and theme, such as `inbox-390-dark.png`; `--sheets` also puts them side by side on a few
large pictures. `--docs` writes the pictures of the README and of docs/reader.md to docs/images, and the
pictures with which phones and desktops offer to install the reader to its static files. The Arabic and Japanese pages
need fonts for these scripts (Debian: fonts-noto-core, fonts-ipafont-gothic).
"""

from __future__ import annotations

import argparse
import asyncio
import io
import re
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from PIL import Image
from playwright.sync_api import sync_playwright

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app
from pagekeep.fetch.browser import chromium
from pagekeep.library.open import open_library
from pagekeep_demo.fill import fill_library
from pagekeep_demo.pages import load_pages

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
STATIC = ROOT / "src" / "pagekeep" / "doors" / "http" / "web" / "static"
SIZES = {390: 844, 820: 1180, 1280: 860}
"""Width to height: a phone, a tablet and a desktop."""
THEMES = ("light", "dark")
ARTICLE = "https://harbourlight.example/2026/02/what-a-tide-clock-counts"
RIGHT_TO_LEFT = "https://almahatta.example/2026/03/maktabat-al-mahatta"
MANUAL = "https://docs.lantern.example/manual/queues"
QUALITY = 82
"""Of WebP files: text stays sharp, and a picture takes 20 to 60 KB."""
SHOWN = "[...document.images].every((one) => one.complete || one.getBoundingClientRect().top > innerHeight)"
"""Whether the pictures in the window are loaded; those below it are loaded when the user scrolls."""
PAGES = {
    "inbox": "/",
    "pinned": "/?state=pinned",
    "archive": "/?state=archive",
    "all": "/?state=all",
    "trash": "/?state=trash",
    "search": "/?q=water",
    "no-results": "/?q=zeppelin",
    "article": f"item:{ARTICLE}",
    "article-rtl": f"item:{RIGHT_TO_LEFT}",
    "article-code": f"item:{MANUAL}",
    "explain": f"item:{ARTICLE}:/explain",
    "history": f"item:{ARTICLE}:/history",
    "add": "/add",
    "import": "/import",
    "settings": "/settings",
    "storage": "/settings/storage",
    "tokens": "/settings/tokens",
    "waiting": "/waiting",
    "changes": "/changes",
    "feeds": "/feeds",
    "feed-inbox": "/feeds/inbox",
    "mail": "/feeds/mail",
    "crawls": "/crawls",
    "playground": "/playground",
    "offline": "/offline",
    "tags": "/tags",
    "sites": "/sites",
    "authors": "/authors",
    "statistics": "/statistics",
    "lists": "/lists",
    "save-rules": "/save-rules?query=tag%3Awalking&tags=outdoors",
    "suggested-tags": "/suggested-tags",
    "could-not-be-saved": "/failed",
    "recent-changes": "/actions",
    "highlights": "/highlights",
    "sinks": "/sinks",
    "help": "/help",
    "not-found": "/nowhere",
}
"""Name to path; `item:URL:PATH` is a page of the item with this address."""


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Run a server with the demo library; yield its address, and the items' ids by their addresses."""
    settings = Settings(library=str(folder / "library.db"), rules=str(folder / "rules"), render="never")
    with closing(open_library(settings)) as store:
        asyncio.run(_fill(settings, store))
        ids = {page.url: item.id for page in load_pages() if (item := store.items.by_url(page.url)) is not None}
    with socket.create_server(("127.0.0.1", 0)) as port:
        server = uvicorn.Server(uvicorn.Config(create_app(settings, processes=1), log_level="error", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [port]}, daemon=True)
        thread.start()
        while not server.started:
            threading.Event().wait(0.02)
        yield f"http://127.0.0.1:{port.getsockname()[1]}", ids
        server.should_exit = True
        thread.join(15)


async def _fill(settings: Settings, store: Any) -> None:
    async with Retrieval(settings) as retrieval:
        await fill_library(store, retrieval)


@contextmanager
def browsing() -> Iterator[Any]:
    """Run the browser."""
    with sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"]
        browser = driver.chromium.launch(executable_path=str(chromium.find_chromium().path), args=arguments)
        yield browser
        browser.close()


def open_window(browser: Any, address: str, width: int, theme: str, scale: float = 1) -> Any:
    """Return a window of the reader in a theme; a narrow one is a phone's, with touch."""
    context = browser.new_context(
        base_url=address,
        viewport={"width": width, "height": SIZES[width]},
        device_scale_factor=scale,
        has_touch=width < 1000,
        is_mobile=width < 600,
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        service_workers="block",
    )
    context.add_cookies([{"name": "pagekeep_look", "value": f"{theme}.3.medium.serif", "url": address}])
    return context.new_page()


def path_of(place: str, ids: dict[str, str]) -> str:
    """Return the path of a page in `PAGES`."""
    if not place.startswith("item:"):
        return place
    match = re.fullmatch(r"item:(https://[^:]+)(?::(/.*))?", place)
    assert match is not None
    return f"/items/{ids[match[1]]}{match[2] or ''}"


def show(page: Any, path: str) -> bool:
    """Open a page and wait until its pictures are there; return whether it exists."""
    response = page.goto(path)
    page.wait_for_load_state("load")
    for _ in range(100):  # not `wait_for_function`, which our content security policy forbids
        if page.evaluate(SHOWN):
            break
        page.wait_for_timeout(50)
    return bool(response) and (response.ok or path == PAGES["not-found"])


def take_all(folder: Path, only: str, sheets: bool) -> None:
    """Take the pictures of all pages whose names match."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, serving(Path(temporary)) as (address, ids), browsing() as browser:
        for width in SIZES:
            for theme in THEMES:
                taken, page = [], open_window(browser, address, width, theme)
                for name, place in PAGES.items():
                    if not re.search(only, name):
                        continue
                    if not show(page, path_of(place, ids)):
                        print(f"{name}: there is no such page yet.")
                        continue
                    file = folder / f"{name}-{width}-{theme}.png"
                    page.screenshot(path=str(file))
                    taken.append(file)
                page.context.close()
                if sheets:
                    write_sheets(taken, folder / f"sheet-{width}-{theme}")


def write_sheets(files: list[Path], name: Path) -> None:
    """Put pictures side by side, as many as fit on one of about 1,600 by 1,200 points."""
    if not files:
        return
    with Image.open(files[0]) as first:
        width = {390: 390, 820: 530}.get(first.width, 800)
        height = round(first.height * width / first.width)
    columns, rows = max(1, 1_600 // width), max(1, 1_300 // height)
    for start in range(0, len(files), columns * rows):
        part = files[start : start + columns * rows]
        sheet = Image.new("RGB", (columns * (width + 8), -(-len(part) // columns) * (height + 8)), "#777")
        for number, file in enumerate(part):
            with Image.open(file) as picture:
                small = picture.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
            sheet.paste(small, (number % columns * (width + 8) + 4, number // columns * (height + 8) + 4))
        sheet.save(f"{name}-{start // (columns * rows) + 1}.png")


def draw_docs() -> None:
    """Write the pictures of the README and of docs/reader.md."""
    with tempfile.TemporaryDirectory() as temporary, serving(Path(temporary)) as (address, ids), browsing() as browser:
        for name, place, theme in (("list", "/", "light"), ("page", f"item:{ARTICLE}", "light")):
            page = open_window(browser, address, 1280, theme)
            show(page, path_of(place, ids))
            shot = Image.open(io.BytesIO(page.screenshot()))
            save_picture(shot, IMAGES / f"reader-{name}.webp")
            if name == "page":
                save_picture(shot, STATIC / "screenshot-wide.webp", 70)
            page.context.close()
        phones = (("/", "light"), (f"item:{ARTICLE}", "dark"), (f"item:{RIGHT_TO_LEFT}", "sepia"))
        shots = []
        for place, theme in phones:
            page = open_window(browser, address, 390, theme, 2)
            show(page, path_of(place, ids))
            shots.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
            page.context.close()
        save_picture(shots[0], STATIC / "screenshot-phone.webp", 60)
        shots = [shot.resize((585, 1266), Image.Resampling.LANCZOS) for shot in shots]
        gap = 36
        strip = Image.new("RGB", (sum(shot.width + gap for shot in shots) + gap, shots[0].height + 2 * gap), "#d9dde3")
        for number, shot in enumerate(shots):
            strip.paste(shot, (gap + number * (shot.width + gap), gap))
        save_picture(strip, IMAGES / "reader-phone.webp")
        draw_maskable_icon(browser)


def draw_maskable_icon(browser: Any) -> None:
    """Write the icon that phones cut to their own shape: the drawing within the inner four fifths, colour to the edges."""
    page = browser.new_page(viewport={"width": 512, "height": 512})
    drawing = (STATIC / "icon.svg").read_text(encoding="utf-8")
    page.set_content(
        "<style>body { margin: 0; display: grid; place-items: center; height: 512px; background: #1f5f6b }"
        f"svg {{ width: 410px }}</style>{drawing}"
    )
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(32)
    picture.save(STATIC / "icon-maskable.png", optimize=True)
    page.close()


def save_picture(picture: Image.Image, path: Path, quality: int = QUALITY) -> None:
    """Write a picture as a small file."""
    picture.convert("RGB").save(path, "WEBP", quality=quality, method=6)
    print(f"{path.name}: {path.stat().st_size // 1000} KB")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--only", default="", metavar="PATTERN", help="names of pages, as a regular expression")
    parser.add_argument("--sheets", action="store_true", help="also put the pictures side by side")
    parser.add_argument("--docs", action="store_true", help="write the pictures of the docs")
    options = parser.parse_args()
    if options.docs:
        draw_docs()
    elif options.folder:
        take_all(options.folder, options.only, options.sheets)
    else:
        parser.error("give a folder, or --docs")


if __name__ == "__main__":
    main()

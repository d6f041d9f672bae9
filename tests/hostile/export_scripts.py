"""Exports of items whose every field is hostile: no script runs in Chromium, all XML is well-formed, no path leads outside.

`python -m tests.hostile.export_scripts [COUNT]`: COUNT vectors (all by default) in titles, authors, tags, addresses, texts and
annotations, in every export format. HTML, bookmarks and the chapters of the book are opened with their content policy off.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar, Final
from xml.etree import ElementTree

from pagekeep.config import Settings
from pagekeep.library.exports.run import FORMATS, ExportOptions, export
from pagekeep.library.imports.formats.bookmark_files import read_anchors
from pagekeep.store import Store, open_store
from tests.hostile.reader_scripts import Found, fill, numbered, visit
from tests.store.making import make_item

NAMES: Final = (
    "../../etc/passwd", "/etc/passwd", "..", ".", "", " ", "con", "NUL.md", "a/b\\c:d*e?f\"g<h>i|j", "x" * 5_000, "\u0301" * 300,
    "same", "SAME", "same ", "same.", "s\u00e4me", "sa\u0308me", "\u202egnp.md", "\x00\x01\n\r\t", "😀" * 300, "\ud800", "-rf", "~", "$HOME",
    ".hidden", "~$lock.md", "%2e%2e%2f", "file.md.exe", "\ufeff", "]]>", "<![CDATA[", "&#0;", "&xxe;", "<!DOCTYPE x [<!ENTITY e 'x'>]>",
)  # fmt: skip
"""Titles that trouble file systems and XML."""


def fill_names(library: Store) -> None:
    """Add an item for each hostile title; a few have the address of a script."""
    for number, name in enumerate(NAMES * 2):
        item = make_item(
            10_000 + number,
            title=name,
            content=f"# {name}\n\nWords, & <{name[:50]}>.\n",
            tags=[name[:150]],
            author=name,
        )
        library.items.save(replace(item, url_full=f"javascript:hit({number})"), None)


def export_all(library: Store, folder: Path) -> dict[str, Path]:
    """Write every format."""
    paths = {}
    for format in FORMATS:
        paths[format] = (
            folder / f"{format}.{'xhtml' if format == 'epub' else 'html'}" if format != "markdown" else folder / "notes"
        )
        asyncio.run(export(library, paths[format], ExportOptions(format=format), Settings()))
    return paths


def file_faults(paths: dict[str, Path], items: int, folder: Path) -> Iterator[str]:
    """Check the files without a browser."""
    notes = list(paths["markdown"].rglob("*"))
    if len(notes) != items or len({path.name.casefold() for path in notes}) != items:
        yield f"{len(notes)} files of {items} items"
    for path in notes:
        if path.parent != paths["markdown"] or not path.is_file() or path.is_symlink() or path.name.startswith("."):
            yield f"the file {path.name[:80]!r}"
    outside = sorted(path.name for path in folder.iterdir() if path not in paths.values())
    if outside != ["library.db"]:
        yield f"there are {outside} beside the exports"
    lines = paths["jsonl"].read_text("utf-8").splitlines()
    if len(lines) != items or any(not isinstance(json.loads(line), dict) for line in lines):
        yield f"{len(lines)} lines of {items} items"
    with paths["netscape"].open(encoding="utf-8") as file:
        anchors = list(read_anchors(file))
    if len(anchors) != items:
        yield f"{len(anchors)} bookmarks of {items} items"
    bad = [anchor.attributes.get("href", "") for anchor in anchors]
    yield from (f"a bookmark of {url[:60]!r}" for url in bad if not url.startswith(("http://", "https://")))
    yield from book_faults(paths["epub"], items)


def book_faults(path: Path, items: int) -> Iterator[str]:
    """Check that the book's parts are well-formed, listed, and within it."""
    with zipfile.ZipFile(path) as book:
        names = book.namelist()
        if len(names) != len(set(names)) or any(".." in name or name.startswith("/") for name in names):
            yield "the book has strange names"
        if len([name for name in names if "chapter-" in name]) != items:
            yield f"{len(names)} files of {items} items in the book"
        for name in names:
            if name.endswith((".xhtml", ".opf", ".ncx", ".xml")):
                try:
                    tree = ElementTree.fromstring(book.read(name))
                except ElementTree.ParseError as error:
                    yield f"{name}: {error}"
                    continue
                yield from (f"{name}: {fault}" for fault in _active_parts(tree))


def _active_parts(tree: ElementTree.Element) -> Iterator[str]:
    for node in tree.iter():
        tag = str(node.tag).rpartition("}")[2].lower()
        if tag in ("script", "iframe", "object", "embed", "base", "form", "foreignobject", "animate", "set"):
            yield f"<{tag}>"
        for attribute, value in node.attrib.items():
            is_link = attribute.rpartition("}")[2] in ("href", "src", "action", "formaction")
            if attribute.lower().startswith("on") or (
                is_link and value.strip().lower().startswith(("javascript", "data:text", "vbs"))
            ):
                yield f"{attribute}={value[:60]!r}"


class _Handler(SimpleHTTPRequestHandler):
    extensions_map: ClassVar[dict[str, str]] = {
        ".html": "text/html; charset=utf-8",
        ".xhtml": "application/xhtml+xml",
        ".css": "text/css",
    }

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the files of a folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def open_exports(chrome: Any, paths: dict[str, Path], folder: Path, step: int) -> Found:
    """Open the pages in a browser whose content policy is off, and do to everything what a reader could."""
    book = folder / "book"
    with zipfile.ZipFile(paths["epub"]) as packed:
        packed.extractall(book)
    pages = [f"/{paths[name].name}" for name in ("html", "netscape")]
    pages += [f"/book/EPUB/{path.name}" for path in sorted((book / "EPUB").glob("*.xhtml"))[::step]]
    control = folder / "control.html"
    control.write_text("<script>hit('control')</script>")
    with served(folder) as url:
        return visit(chrome, url, [*pages, "/control.html"], policy=False)


def attack(chrome: Any, wanted: list[str], step: int = 1) -> tuple[int, list[str]]:
    """Return how many pages were opened, and the faults; of the book, every `step`th chapter is opened."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = Settings(library=str(folder / "library.db"))
        items = len(set(fill(settings, wanted))) + len(NAMES) * 2
        with closing(open_store(settings.library)) as library:
            fill_names(library)
            with ThreadPoolExecutor(1) as thread:  # Playwright has a loop in this one
                paths = thread.submit(export_all, library, folder).result()
        faults = list(file_faults(paths, items, folder))
        found = open_exports(chrome, paths, folder, step)
    hits = [hit for hit in found.hits if not hit.endswith("control")]
    faults += [] if len(hits) < len(found.hits) else ["the control did not run"]
    faults += [f"ran: {hit[-120:]}" for hit in hits] + [f"link: {link[-120:]}" for link in found.links]
    return found.pages, faults + ([f"{found.stuck} pages led away"] if found.stuck else [])


if __name__ == "__main__":
    from playwright.sync_api import sync_playwright

    from pagekeep.fetch.browser import chromium

    began = time.monotonic()
    vectors = numbered(int(sys.argv[1]) if len(sys.argv) > 1 else None)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(chromium.find_chromium().path), args=["--no-sandbox"])
        opened, wrong = attack(browser, vectors)
    print(f"{len(vectors):,} vectors, {opened:,} pages in {time.monotonic() - began:.0f} s, {len(wrong)} faults")
    print("\n".join(wrong[:30]))
    sys.exit(bool(wrong))

"""A site with pictures is saved and switched off: reader, book, HTML page, Markdown folder, mirror and web archive have every pixel.

`python -m tests.hostile.site_gone [--full]`: 30 pages instead of 6.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import html
import logging
import re
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path

from fastapi.testclient import TestClient
from PIL import Image
from warcio.archiveiterator import ArchiveIterator

from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app
from pagekeep.library.exports.run import ExportOptions, export
from pagekeep.library.mirror.run import mirror
from pagekeep.store import open_store
from tests.site.gallery import Gallery, draw

FORMS = {"png": "PNG", "jpg": "JPEG", "webp": "WEBP", "gif": "GIF"}
PER_PAGE = 3
LOCAL = "http://127.0.0.1:8470"


def _fill(gallery: Gallery, pages: int) -> list[str]:
    """Put pages with pictures of every format on the site; one picture is on all pages."""
    gallery.pictures["shared.png"] = draw(999)
    urls = []
    for number in range(pages):
        names = []
        for nth in range(PER_PAGE - 1):
            ending = list(FORMS)[(number + nth) % len(FORMS)]
            names.append(f"{number}-{nth}.{ending}")
            gallery.pictures[names[-1]] = draw(10 * number + nth, FORMS[ending])
        urls.append(gallery.put_page(f"page-{number}", *names, "shared.png", title=f"Page number {number}"))
    return urls


def _save(client: TestClient, urls: list[str]) -> list[str]:
    """Save all pages and wait until their pictures are kept; return the ids."""
    saved = [client.post("/api/v1/saves", json={"url": url}).json()["item"] for url in urls]
    for item in saved:
        while client.get(f"/api/v1/jobs/{item['pictures_job']}").json()["job"]["state"] not in ("done", "dead"):
            time.sleep(0.05)
    return [item["id"] for item in saved]


def _pixels(data: bytes) -> tuple[tuple[int, int], bytes]:
    with Image.open(BytesIO(data)) as picture:
        shown = picture.convert("RGB")
        return shown.size, shown.tobytes()


def _reader(client: TestClient, ids: list[str]) -> Iterator[bytes]:
    for item_id in ids:
        page = client.get(f"/items/{item_id}").text
        for address in re.findall(r'<img[^>]* src="(/api/proxy-image[^"]*)"', page):
            answer = client.get(html.unescape(address))
            yield answer.content if answer.status_code == 200 else b""


def _exports(settings: Settings, folder: Path) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    with closing(open_store(settings.library)) as store:
        for format in ("epub", "html", "markdown", "wacz"):
            asyncio.run(export(store, folder / format, ExportOptions(format=format, images=True), settings))  # type: ignore[arg-type]
        mirror(store, folder / "mirror", wait=lambda _: None)
    with zipfile.ZipFile(folder / "epub") as book:
        found["book"] = [book.read(name) for name in book.namelist() if name.startswith("EPUB/images/")]
    with zipfile.ZipFile(folder / "wacz") as archive, archive.open("archive/data.warc.gz") as records:
        found["web archive"] = [
            record.content_stream().read()
            for record in ArchiveIterator(records)
            if record.rec_headers.get_header("WARC-Target-URI", "").endswith(tuple(FORMS))
        ]
    embedded = re.findall(r'src="data:image/[a-z]+;base64,([^"]+)"', (folder / "html").read_text("utf-8"))
    found["HTML page"] = [base64.b64decode(data) for data in embedded]
    for name in ("markdown", "mirror"):
        shown = {
            (path.parent / link).resolve()
            for path in (folder / name).glob("*.md")
            for link in re.findall(r"!\[[^\]]*\]\((images/[^)]+)\)", path.read_text("utf-8"))
        }
        found[name] = [path.read_bytes() for path in shown]
    return found


def run(pages: int, folder: Path) -> list[str]:
    """Return what is missing anywhere."""
    settings = Settings(
        library=str(folder / "library.db"),
        rules=str(folder / "rules"),
        allow_hosts=("127.0.0.1",),
        per_host_delay=0,
        retries=0,
        render="never",
    )
    with TestClient(create_app(settings, processes=1), base_url=LOCAL) as client:
        with Gallery() as gallery:
            ids = _save(client, _fill(gallery, pages))
            wanted = {_pixels(data) for data in gallery.pictures.values() if isinstance(data, bytes)}
            asked = len(gallery.site.requests)
        # The site is off.
        found = {"reader": list(_reader(client, ids)), **_exports(settings, folder)}
    faults = [] if asked <= pages + pages * (PER_PAGE - 1) + pages else [f"{asked} requests for {pages} pages"]
    for place, pictures in found.items():
        shown = {_pixels(data) for data in pictures if data}
        if shown != wanted or b"" in pictures:
            faults.append(f"{place}: {len(shown & wanted)} of {len(wanted)} pictures")
    return faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", help="30 pages instead of 6")
    logging.disable(logging.INFO)
    count = 30 if parser.parse_args().full else 6
    with tempfile.TemporaryDirectory() as place:
        problems = run(count, Path(place))
    print(f"{count} pages, faults: {problems or 'none'}")
    sys.exit(bool(problems))

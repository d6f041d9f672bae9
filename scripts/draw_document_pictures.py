"""Draw the pictures of docs/documents.md: a PDF that we print in the reader, and its first page beside what is read of it.

Usage: python scripts/draw_document_pictures.py
"""

from __future__ import annotations

import base64
import io
import json
import socket
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pypdfium2
import uvicorn
from PIL import Image
from playwright.sync_api import sync_playwright

from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app
from pagekeep.fetch.browser import chromium

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
NAME = "tide-clock.pdf"
WINDOW = {"width": 1280, "height": 900}
COLUMN = {"width": 620, "height": 876}
"""The shape of a page of A4."""
COLOURS = 128
PAPER = """<!doctype html><html lang="en"><title>What a tide clock counts</title><style>
  @page { size: A4; margin: 18mm 16mm }
  body { font: 10.5pt/1.45 "DejaVu Serif", serif; margin: 0 }
  h1 { font-size: 20pt; line-height: 1.2; margin: 0 0 4pt } .by { margin: 0 0 12pt; font-style: italic }
  .columns { columns: 2; column-gap: 8mm; text-align: justify } h2 { font-size: 13pt; margin: 12pt 0 4pt; text-align: left }
  p { margin: 0 0 6pt } table { border-collapse: collapse; width: 100%; margin: 6pt 0; text-align: left; font-size: 9.5pt }
  td, th { border: 0.5pt solid #555; padding: 2pt 5pt } pre { font: 9pt "DejaVu Sans Mono", monospace; margin: 6pt 0 }
  ul { margin: 4pt 0 6pt; padding-left: 14pt }
</style><body><h1>What a tide clock counts</h1><p class="by">Ada Keeper, Harbour Notes, 2025</p><div class="columns">
<p>A tide clock has one hand. It needs no winding twice a day, and it strikes no hour.
It goes round once in twelve hours and twenty-five minutes, which is half of the time that the
moon takes to come back to the same place in the sky. Twelve o'clock is high water, six o'clock is low water, and the
numbers between count the hours until one or the other.</p>
<p>The clock on the quay was made in the town, by a man who repaired scales. He cut the wheels for the mean of the tides and
left the rest to the people who look at it: after a storm the water stays, and the clock knows nothing of storms.</p>
<h2>Setting it</h2><p>It is set once, at the full moon, and then left alone for a year. Three things must be at hand:</p>
<ul><li>the tables for the harbour, not those for the coast;</li><li>a calm day, with the wind from the land;</li>
<li>patience, since high water lasts longer than it seems.</li></ul>
<p>After that the hand is a few minutes early in winter and a few minutes late in summer, as everybody in the harbour is.</p>
<h2>What it shows</h2><p>Four places of the hand are enough for the boats, and the wall names them:</p>
<table><tr><th>Hand at</th><th>Water</th><th>Boats</th></tr><tr><td>12</td><td>high</td><td>leave</td></tr>
<tr><td>3</td><td>falling</td><td>wait</td></tr><tr><td>6</td><td>low</td><td>lie on sand</td></tr>
<tr><td>9</td><td>rising</td><td>wait</td></tr></table>
<p>The table is painted on the wall below the clock. Visitors take it for a timetable of the ferry, which it nearly is.</p>
<h2>The same in code</h2><p>A program needs two numbers, the last high water and the mean interval between two of them:</p>
<pre>INTERVAL = 12 * 60 + 25

def hand(minutes):
    share = minutes % INTERVAL
    return 12 * share / INTERVAL</pre>
<p>The keeper has checked it against the wall for a year. It is never more than twenty minutes wrong, and neither is he.</p>
<h2>When it is wrong</h2><p>Twice a month, at the new and at the full moon, the tides follow each other faster, and between them
slower. The clock takes the mean and so is early for one week and late for the next. In the harbour this is well known: who has
to be exact looks at the water.</p></div></body></html>"""
BESIDE = """<style>body {{ margin: 0; padding: 20px; background: #d9dde3; display: flex; gap: 20px; width: max-content }}
img {{ width: 620px; height: 876px; display: block; box-shadow: 0 1px 8px #0005; background: #fff }}</style>
<img src="data:image/png;base64,{page}"><img src="data:image/png;base64,{reader}">"""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Run a server with an empty library."""
    settings = Settings(library=str(folder / "library.db"), rules=str(folder / "rules"), render="never")
    with socket.create_server(("127.0.0.1", 0)) as port:
        server = uvicorn.Server(uvicorn.Config(create_app(settings, processes=1), log_level="error", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [port]}, daemon=True)
        thread.start()
        while not server.started:
            threading.Event().wait(0.05)
        yield f"http://127.0.0.1:{port.getsockname()[1]}"
        server.should_exit = True
        thread.join(15)


def save(url: str, pdf: bytes) -> str:
    """Save the PDF through the API and return the address of its page in the reader."""
    body = json.dumps({"file": base64.b64encode(pdf).decode(), "url": f"https://harbour.example/{NAME}"}).encode()
    request = urllib.request.Request(f"{url}/api/v1/saves", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return f"{url}/items/{json.load(answer)['item']['id']}"


def first_page(pdf: bytes) -> bytes:
    """Return a picture of the first page."""
    out = io.BytesIO()
    pypdfium2.PdfDocument(pdf)[0].render(scale=2).to_pil().save(out, "PNG")
    return out.getvalue()


def write(name: str, picture: bytes) -> None:
    """Write a picture with few colours: it is part of the repository."""
    path = IMAGES / name
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size // 1_000} KB")


def main() -> None:
    """Print the PDF, save it, and take both pictures."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as url, sync_playwright() as driver:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = driver.chromium.launch(executable_path=str(chromium.find_chromium().path), args=flags)
        page: Any = browser.new_page()
        page.set_content(PAPER)
        pdf = page.pdf(prefer_css_page_size=True, tagged=False)
        address = save(url, pdf)
        window = browser.new_page(viewport=WINDOW)
        window.goto(address)
        window.locator(".content h2", has_text="What it shows").evaluate("(one) => scrollTo(0, one.offsetTop - 120)")
        window.wait_for_timeout(500)  # the contents follow
        write("document-reader.png", window.screenshot())
        column = browser.new_page(viewport=COLUMN)
        column.goto(address)
        parts = {"page": first_page(pdf), "reader": column.screenshot()}
        beside = browser.new_page(viewport={"width": 1300, "height": 920})
        beside.set_content(BESIDE.format(**{name: base64.b64encode(data).decode() for name, data in parts.items()}))
        write("document-beside.png", beside.screenshot())
        browser.close()


if __name__ == "__main__":
    main()

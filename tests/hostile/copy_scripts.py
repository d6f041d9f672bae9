"""Whole-page copies of hostile pages: no script runs in Chromium with the content policy off (P10).

`python -m tests.hostile.copy_scripts [COUNT]`: COUNT vectors (all by default), each in every place where text is read as
something else: as it is and escaped, in `svg` and `math`, in styles, titles and raw text, and in a style sheet of the page.
"""

from __future__ import annotations

import sys
import tempfile
import time
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any, Final

from pagekeep.capture.single_file import SingleFileTask
from tests.capture.single_file.test_task import URL, snapshot
from tests.hostile.export_scripts import served
from tests.hostile.reader_scripts import visit
from tests.hostile.reader_vectors import vectors

PLACES: Final = (
    "{raw}",
    "<svg>{raw}</svg>",
    "<math>{raw}</math>",
    "<svg><style>{escaped}</style></svg>",
    "<svg><style>{raw}</style></svg>",
    "<svg><style><![CDATA[{raw}]]></style></svg>",
    "<math><style>{escaped}</style></math>",
    "<math><mtext><style>{escaped}</style></mtext></math>",
    "<math><annotation-xml encoding='text/html'><style>{escaped}</style></annotation-xml></math>",
    "<svg><desc><style>{escaped}</style></desc></svg>",
    "<svg><title><style>{escaped}</style></title></svg>",
    "<svg><foreignObject><math><style>{escaped}</style></math></foreignObject></svg>",
    "<svg><noscript>{escaped}</noscript><xmp>{escaped}</xmp><iframe>{escaped}</iframe></svg>",
    "<style>{raw}</style>",
    "<xmp>{raw}</xmp><noframes>{raw}</noframes><noembed>{raw}</noembed>",
    "<p style='content:\"{escaped}\"'>x</p>",
    "<svg><p style='content:\"{escaped}\"'><style>{escaped}</style></svg>",
    "<form><math><mtext></form><form><mglyph><style>{escaped}</style></math>",
    "<svg><a><style>{escaped}</style><image href='{escaped}'></a></svg>",
    "<iframe srcdoc='{escaped}'></iframe>",
)


def pages(count: int | None) -> list[tuple[str, str]]:
    """The pages with their own style sheet: HTML and CSS."""
    plain = [vector for vector in islice(vectors(), count) if "<" in vector]
    made = []
    for number, (vector, place) in enumerate((vector, place) for vector in plain for place in PLACES):
        called = vector.replace("hit(0)", f"hit({number})")
        body = place.format(raw=called, escaped=escape(called))
        made.append(
            (
                f"<body><p>Words.</p>{body}<svg><link rel=stylesheet href=/s.css></svg></body>",
                f'p::after{{content:"{called}"}}',
            )
        )
    return made


def copy(html: str, css: str) -> bytes:
    """The file that is kept of a page."""
    sheet = {"https://harbour.example/s.css": ("text/css", css.encode("utf-8", "replace"))}
    return (
        SingleFileTask(snapshot(html.encode("utf-8", "replace").decode(), **sheet), URL, "2025-03-19T10:30:00Z")
        .run()
        .html
    )


def attack(chrome: Any, wanted: list[tuple[str, str]]) -> tuple[int, list[str]]:
    """Return how many copies were opened, and the faults."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, (html, css) in enumerate(wanted):
            (folder / f"{number}.html").write_bytes(copy(html, css))
        (folder / "control.html").write_text("<body>" + PLACES[0].format(raw="<img src=x onerror=hit('control')>"))
        with served(folder) as url:
            paths = [f"/{number}.html" for number in range(len(wanted))]
            found = visit(chrome, url, [*paths, "/control.html"], policy=False)
    hits = [hit for hit in found.hits if not hit.endswith("control")]
    faults = [] if len(hits) < len(found.hits) else ["the control did not run"]
    faults += [f"ran: {hit[-120:]}" for hit in hits] + [f"link: {link[-120:]}" for link in found.links]
    return found.pages, faults + ([f"{found.stuck} pages led away"] if found.stuck else [])


if __name__ == "__main__":
    from playwright.sync_api import sync_playwright

    from pagekeep.fetch.browser import chromium

    began = time.monotonic()
    made = pages(int(sys.argv[1]) if len(sys.argv) > 1 else None)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(chromium.find_chromium().path), args=["--no-sandbox"])
        opened, wrong = attack(browser, made)
    print(f"{opened:,} copies in {time.monotonic() - began:.0f} s, {len(wrong)} faults")
    print("\n".join(wrong[:30]))
    sys.exit(bool(wrong))

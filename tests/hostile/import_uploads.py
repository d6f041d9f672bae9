"""Upload hostile import files to a server, a file for each parser, and look at the server's own process (H1).

Run: `python -m tests.hostile.import_uploads [MEGABYTES]`. Each file goes to the form and to the API. A worker process reads it:
the server itself stays small, answers others meanwhile, and stores the good rows before the hostile part. The exit code is the
number of faults.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

from tests.hostile.attack.machine import times
from tests.hostile.attack.wire import Wire
from tests.hostile.server import Served, served

MEGABYTES: Final = 15
MAX_GROWTH_MEGABYTES: Final = 150
"""Peak memory of the server's process, over that of an import of one good row."""
MAX_WAIT_SECONDS: Final = 600
GOOD: Final = 3


def _urls(name: str) -> list[str]:
    return [f"https://{name.replace(' ', '-')}.example/{number}" for number in range(GOOD)]


def _json(name: str, hostile: bytes) -> bytes:
    rows = [json.dumps({"url": url, "is_archived": 0, "title": "T"}).encode() for url in _urls(name)]
    return b"[" + b",".join([*rows, hostile]) + b"]"


def _csv(name: str, hostile: bytes) -> bytes:
    rows = "".join(f"T,{url},1700000000,,unread\n" for url in _urls(name))
    return f"title,url,time_added,tags,status\n{rows}".encode() + hostile


def _bookmarks(name: str, hostile: bytes) -> bytes:
    rows = "".join(f'<DT><A HREF="{url}" ADD_DATE="1700000000">T</A>\n' for url in _urls(name))
    return f"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n{rows}".encode() + hostile


def _zip(name: str, hostile: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("a.json", _json(name, b'{"url": "https://last.example/", "is_archived": 0}'))
        archive.writestr("b.json", hostile)
    return out.getvalue()


FILES: Final[dict[str, Callable[[str, int], bytes]]] = {
    "json deeply nested": lambda name, n: _json(name, b'{"url":' + b"[" * n + b"]" * n + b"}"),
    "json huge entry": lambda name, n: _json(name, b'{"is_archived":0,"a":[' + b'{"b":[]},' * (n // 9) + b"1]}"),
    "json huge title": lambda name, n: _json(
        name, b'{"is_archived":0,"url":"https://e.x/","title":"' + b"x" * n + b'"}'
    ),
    "json without an end": lambda name, n: _json(name, b'{"url": "' + b"x" * n),
    "csv huge field": lambda name, n: _csv(name, b'"' + b"x" * n + b'",https://e.x/,1,,unread\n'),
    "csv many cells": lambda name, n: _csv(name, b"," * n + b"\n"),
    "bookmarks nested folders": lambda name, n: _bookmarks(name, b"<DT><H3>a</H3><DL><p>" * (n // 21)),
    "bookmarks many attributes": lambda name, n: _bookmarks(name, b"<DT><A HREF=https://e.x/ " + b"a=1 " * (n // 4)),
    "bookmarks open tags": lambda name, n: _bookmarks(name, b"<" * n),
    "zip bomb of spaces": lambda name, n: _zip(name, b"[" + b" " * (n * 5)),
    "zip bomb of one text": lambda name, n: _zip(name, b'[{"url": "' + b"x" * (n * 5) + b'"}]'),
    "jsonl huge line": lambda name, n: (
        b"".join(b'{"pagekeep_row": 1, "url": "%s"}\n' % url.encode() for url in _urls(name))
        + b'{"pagekeep_row": 1, "url": ["'
        + b"x" * n
        + b'"]}\n'
    ),
    "markdown huge frontmatter": lambda name, n: (
        f'---\nsource: "{_urls(name)[0]}"\ntags: '.encode() + b"[" * n + b"\n---\nText\n"
    ),
}


def get_json(server: Served, path: str, data: bytes | None = None) -> Any:
    """Return the response to a request; one with data is a POST."""
    request = Request(server.address + path, data, {"content-type": "application/octet-stream"} if data else {})
    with urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def _peak(server: Served) -> float:
    """Return the most memory that the server's own process had, in megabytes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1_000


def attack(names: list[str], megabytes: float) -> list[str]:
    """Upload the files by both ways; return what is wrong."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "library.db", render="never") as server:
        wire = Wire(server.address)
        wire.upload("/import", "file", "x.txt", b"https://first.example/\n", fetch="never")
        before, faults = _peak(server), []
        with _Readers(server) as readers:
            for name in names:
                data = FILES[name](name, int(megabytes * 1_000_000))
                faults += [f"{name}: {fault}" for fault in _upload(name, data, wire, server)]
        grown = _peak(server) - before
        left = [str(path) for path in Path(tempfile.gettempdir()).glob("pagekeep-import-*/upload")]
    print(f"{len(names)} files by 2 ways, {readers.count} reads beside them, peak of the server {grown:+.0f} MB")
    faults += readers.faults + [f"left behind: {path}" for path in left]
    return faults + ([f"memory of the server: {grown:+.0f} MB"] if grown > MAX_GROWTH_MEGABYTES else [])


def _upload(name: str, data: bytes, wire: Wire, server: Served) -> Iterator[str]:
    began, before = time.monotonic(), times(server.process.pid)
    status = wire.upload("/import", "file", name, data, fetch="never")
    if not status.startswith(("2", "4")):
        yield f"the form answered {status}"
    job = get_json(server, "api/v1/imports?fetch=never", data)["job"]
    while job["state"] not in ("done", "dead"):
        if time.monotonic() > began + MAX_WAIT_SECONDS:
            yield "the job does not end"
            return
        time.sleep(0.1)
        job = get_json(server, f"api/v1/jobs/{job['id']}")["job"]
    wanted = _urls(name) if not name.startswith("markdown") else []  # that file has one row only
    found = [get_json(server, f"api/v1/items/lookup?url={url}")["item"] for url in wanted]
    reported = (job.get("error") or {}).get("message") or [one["reason"] for one in job["report"]["failures"]]
    # A file that its worker cannot finish in one batch gives none of the rows of that batch.
    if not all(found) and not (job.get("error") or {}).get("message"):
        yield f"good rows are missing: {reported}"
    spent = times(server.process.pid).since(before)
    print(
        f"{name}: {status}, {job['state']}, {sum(map(bool, found))} rows, {spent.server:.1f} s in the server, {reported}"[
            :200
        ]
    )


class _Readers:
    """A client that asks for the list and the health of the server all the time."""

    def __init__(self, server: Served) -> None:
        self.count, self.faults = 0, list[str]()
        self._server, self._ended = server, threading.Event()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> _Readers:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _read(self) -> None:
        while not self._ended.wait(0.2):
            try:
                get_json(self._server, "api/v1/items?limit=5")
                get_json(self._server, "healthz")
                self.count += 1
            except OSError as error:
                self.faults.append(f"a reader got: {error}")


def main() -> int:
    """Attack with all files."""
    faults = attack(list(FILES), float(sys.argv[1]) if len(sys.argv) > 1 else MEGABYTES)
    print(f"{len(faults)} faults", *faults, sep="\n  ")
    return len(faults)


if __name__ == "__main__":
    sys.exit(main())

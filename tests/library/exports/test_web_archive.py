"""WARC and WACZ: what is written is what was kept, other programs accept it, and an import gives equal items."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import os
import random
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from warcio.archiveiterator import ArchiveIterator

from pagekeep.config import Settings
from pagekeep.library.exports.run import ExportOptions, Format, export
from pagekeep.library.exports.web_archive import surt
from pagekeep.library.imports.run import ImportPlan, ImportReport, import_upload
from pagekeep.library.verify import ArchiveCheck, verify_archive
from pagekeep.model import Annotation
from pagekeep.model.archive import ItemBlob
from pagekeep.store import Store
from tests.library.receipts.making import RULES, keep, page
from tests.store.making import NOW, make_item

TOOLS = Path(__file__).parents[3] / ".archive-tools" / "bin"
HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "server": "harbour",
    "content-encoding": "br",
    "content-length": "7",
}

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000a49444154789c63000100000500010d0a2db40000000049454e44ae426082"
)


@pytest.fixture
def tools() -> Path:
    if not (TOOLS / "wacz").exists():
        pytest.skip("wacz, warcio and pywb are not installed: scripts/install-archive-tools gets them.")
    return TOOLS


def fill(library: Store) -> None:
    """Items of every origin: with headers, without, rendered, sent by a browser, edited, and without a page."""
    for number in range(5):
        item = keep(library, number)
        raw = library.items.raw(item.id)
        assert raw is not None
        changes: dict[str, Any] = {0: {"headers": HEADERS}, 2: {"rendered": True}}.get(number, {})
        library.items.save(replace(item, source="html" if number == 3 else "web"), replace(raw, **changes))
    edited = library.items.get("https://harbour.example/log/4")
    library.items.replace_content(
        edited.id,
        content="My own words.\n",
        title="Mine",
        author=None,
        published_at=None,
        metadata=replace(edited.metadata, edited=True),
        now=NOW,
    )
    library.items.set_metadata(edited.id, NOW, pinned=True, archived=True, tags=("harbour", "Ümlaut"))
    note = Annotation("5b0e64a2-77c5-4a52-8a43-3d0c9b6b1f20", edited.id, "own", "My", "words", "Why?", "blue", NOW, NOW)
    library.annotations.put(note)
    library.items.save(make_item(9, user_id=library.user_id, quality="bookmark"), None)
    for number in range(2):  # a picture that two pages show, and one that could not be kept
        item_id = library.items.get(f"https://harbour.example/log/{number}").id
        name = library.blobs.put(PICTURE, NOW)
        kept = ItemBlob(
            "picture", "https://harbour.example/boat.png", "kept", NOW, "image/png", name, len(PICTURE), 1, 1
        )
        gone = ItemBlob("picture", "https://harbour.example/gone.png", "left_out", NOW, reason="not_found", position=1)
        library.blobs.link(item_id, [kept, gone])


def write(library: Store, path: Path, format: Format) -> Path:
    asyncio.run(export(library, path, ExportOptions(format), Settings()))
    return path


def read(library: Store, path: Path) -> ImportReport:
    with path.open("rb") as file:
        return import_upload(file, path.name, library, ImportPlan(RULES))


def records(path: Path) -> list[Any]:
    found = []
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream):
            headers = dict(record.http_headers.headers) if record.http_headers else None
            found.append(
                (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), headers, record.raw_stream.read())
            )
    return found


@pytest.mark.parametrize(("format", "name"), [("warc", "out.warc.gz"), ("wacz", "out.wacz")])
def test_import_of_an_export_gives_equal_items(
    new_library: Callable[[str], Store], tmp_path: Path, format: Format, name: str
) -> None:
    old, new = new_library("old"), new_library("new")
    fill(old)
    report = read(new, write(old, tmp_path / name, format))
    assert (report.added, report.failed, report.formats) == (6, 0, {format: 6})
    for item_id in old.items.all_ids():
        assert replace(new.items.get(item_id), user_id="old") == old.items.get(item_id)
        assert new.items.raw(item_id) == old.items.raw(item_id)
        assert new.annotations.of_item(item_id) == old.annotations.of_item(item_id)
        assert new.blobs.of_item(item_id) == old.blobs.of_item(item_id)
        assert all(new.blobs.get(link.hash) == PICTURE for link in new.blobs.of_item(item_id) if link.hash)


def test_records_say_what_they_are(library: Store, tmp_path: Path) -> None:
    fill(library)
    found = records(write(library, tmp_path / "out.warc.gz", "warc"))
    pages = {uri: (kind, headers, body) for kind, uri, headers, body in found if body.startswith(b"<html")}
    kinds = {uri.rpartition("/")[2]: kind for uri, (kind, _, _) in pages.items()}
    assert kinds == {"0": "response", "1": "response", "2": "resource", "3": "resource", "4": "response"}
    assert pages["https://harbour.example/log/0"] == (
        "response",
        {
            "content-type": "text/html; charset=utf-8",
            "server": "harbour",
            "X-Archive-Orig-content-encoding": "br",
            "X-Archive-Orig-content-length": "7",
            "content-length": str(len(page(0))),
        },
        page(0),
    )
    assert (
        pages["https://harbour.example/log/1"][1]["X-Pagekeep-Note"] == "other headers of this response were not kept"
    )
    texts = {uri: kind for kind, uri, _, body in found if kind == "conversion" or body == b"My own words.\n"}
    assert {uri: kind for uri, kind in texts.items() if kind == "conversion"}.keys() == {
        f"https://harbour.example/log/{number}" for number in range(4)
    }
    assert "resource" in texts.values()  # an edited text is not a conversion of its page


def test_file_that_is_not_what_its_type_says_is_left_out(new_library: Callable[[str], Store], tmp_path: Path) -> None:
    old, new = new_library("old"), new_library("new")
    item, script = keep(old, 1), b"<script>alert(1)</script>"
    for role, kind in (
        ("picture", "image/svg+xml"),
        ("hero", "text/html"),
        ("thumbnail", "image/png"),
        ("pdf", "text/html"),
    ):
        link = ItemBlob(role, f"https://harbour.example/{role}", "kept", NOW, kind, old.blobs.put(script, NOW))  # type: ignore[arg-type]
        old.blobs.link(item.id, [link])
    read(new, write(old, tmp_path / "out.warc.gz", "warc"))
    assert [(link.state, link.reason) for link in new.blobs.of_item(item.id)] == [("left_out", "damaged")] * 4


def test_query_selects_items(library: Store, tmp_path: Path) -> None:
    fill(library)
    out = tmp_path / "one.wacz"
    asyncio.run(export(library, out, ExportOptions("wacz", "is:pinned"), Settings()))
    with ZipFile(out) as archive:
        lines = archive.read("pages/pages.jsonl").decode().splitlines()
    assert [json.loads(line)["url"] for line in lines[1:]] == ["https://harbour.example/log/4"]


def test_stream_that_cannot_seek_gets_the_same_archive(library: Store, tmp_path: Path) -> None:
    fill(library)

    class Pipe(io.RawIOBase):
        data = b""

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            self.data += bytes(data)
            return len(data)

    pipe = Pipe()
    asyncio.run(export(library, pipe, ExportOptions("wacz"), Settings()))  # type: ignore[arg-type]
    with ZipFile(io.BytesIO(pipe.data)) as archive:
        assert archive.testzip() is None
        assert len(archive.namelist()) == 6


def test_other_programs_accept_the_files(library: Store, tmp_path: Path, tools: Path) -> None:
    fill(library)
    wacz, warc = write(library, tmp_path / "out.wacz", "wacz"), write(library, tmp_path / "out.warc.gz", "warc")
    valid = subprocess.run([tools / "wacz", "validate", "-f", wacz], capture_output=True, text=True, check=False)
    assert (valid.returncode, "Validation succeeded" in valid.stdout) == (0, True), valid.stdout + valid.stderr
    checked = subprocess.run([tools / "warcio", "check", "-v", warc], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    assert "fail" not in checked.stdout
    with ZipFile(wacz) as archive:
        ours = gzip.decompress(archive.read("indexes/index.cdx.gz")).decode().splitlines()
        archive.extract("archive/data.warc.gz", tmp_path)
    theirs = subprocess.run(
        [tools / "cdxj-indexer", "--sort", tmp_path / "archive/data.warc.gz"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    keys = ("url", "mime", "digest", "length", "offset", "filename")

    def essence(line: str) -> list[Any]:
        key, stamp, fields = line.split(" ", 2)
        return [key, stamp, *(json.loads(fields)[name] for name in keys)]

    assert list(map(essence, ours)) == [essence(line) for line in theirs if not line.startswith("urn:")]


def test_keys_of_the_index_are_those_of_replay_programs(tools: Path) -> None:
    urls = [
        "https://example.com",
        "http://www.Example.com:80/A/../B/./c//d/",
        "https://www2.example.co.uk:8443/?b=2&A=1&a",
        "http://user:secret@example.com/x%2520y/%7Euser?q=%41+b#top",
        "https://bücher.example/straße?ä=ö",
        "http://example.com/page;jsessionid=0123456789abcdef0123456789abcdef",
        "http://example.com/?PHPSESSID=0123456789abcdef0123456789abcdef&x=1",
        "http://example.com/?x=1&sid=0123456789abcdef0123456789abcdef",
        "http://example.com/(S(0123456789abcdef01234567))/page.aspx?x=1",
        "http://127.0.0.1:8000/page/a",
        "https://example.com/a?",
        "https://example.com/a?b=&c",
        "https://example.com//",
        "https://example.com/../x",
        "https://example.com/%zz?%zz",
    ]
    code = "import json,sys; from surt import surt; print(json.dumps([surt(url) for url in json.load(sys.stdin)]))"
    done = subprocess.run(
        [tools / "python", "-c", code], input=json.dumps(urls), capture_output=True, text=True, check=True
    )
    assert [surt(url) for url in urls] == json.loads(done.stdout)


def test_pywb_replays_every_page(library: Store, tmp_path: Path, tools: Path) -> None:
    fill(library)
    home = tmp_path / "collections" / "kept"
    for folder in ("archive", "indexes"):
        (home / folder).mkdir(parents=True)
    with ZipFile(write(library, tmp_path / "out.wacz", "wacz")) as archive:
        (home / "archive" / "data.warc.gz").write_bytes(archive.read("archive/data.warc.gz"))
        (home / "indexes" / "index.cdxj").write_bytes(gzip.decompress(archive.read("indexes/index.cdx.gz")))
        listed = [json.loads(line) for line in archive.read("pages/pages.jsonl").decode().splitlines()[1:]]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [tools / "wayback", "-b", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as server:
        try:
            wait_for_port(server, port)
            listed.append({"url": "https://harbour.example/boat.png", "ts": NOW[:19]})
            for entry in listed:
                stamp = "".join(char for char in entry["ts"] if char.isdigit())
                address = f"http://127.0.0.1:{port}/kept/{stamp}id_/{entry['url']}"
                with urllib.request.urlopen(address, timeout=30) as reply:
                    number = entry["url"].rpartition("/")[2]
                    assert reply.read() == (page(int(number)) if number.isdigit() else PICTURE)
        finally:
            os.killpg(server.pid, signal.SIGKILL)
    assert len(listed) == 6


def wait_for_port(server: subprocess.Popen[bytes], port: int) -> None:
    while server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("pywb ended")


def test_archive_is_verified_and_every_flipped_byte_is_found(library: Store, tmp_path: Path) -> None:
    fill(library)
    path = write(library, tmp_path / "out.wacz", "wacz")
    check = ArchiveCheck()
    states = {verdict.url.rpartition("/")[2]: verdict.state for verdict in verify_archive(path, RULES, check)}
    assert states == {**dict.fromkeys("0123", "verified"), "4": "unproven", "9": "unproven"}
    assert (check.files, check.faults, check.pages) == (4, [], 0)
    whole, dice = path.read_bytes(), random.Random(3)
    with ZipFile(path) as archive:
        (data,) = (entry for entry in archive.infolist() if entry.filename.endswith(".warc.gz"))
    for _ in range(5):
        damaged = bytearray(whole)
        damaged[data.header_offset + 100 + dice.randrange(data.compress_size - 200)] ^= 0xFF
        path.write_bytes(damaged)
        check = ArchiveCheck()
        found = list(verify_archive(path, RULES, check))
        assert check.faults or any(verdict.is_fault for verdict in found)

"""Hostile files in every import format: typed errors only, all good rows imported, nothing stored that harms (D1, D2).

`python -m tests.hostile.import_formats [--full] [--postgres] [FILE...]`. Each format is tried with each shape that its syntax can have; every
file holds good rows before and after the hostile ones.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
import resource
import sys
import tempfile
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any, Final

from pagekeep.errors import PagekeepError
from pagekeep.library.exports import jsonl, markdown_files, run
from pagekeep.library.imports.run import ImportPlan, ImportReport, import_stream
from pagekeep.model import Item
from pagekeep.rules import Rulebook
from pagekeep.store import Store, open_store
from tests.hostile.store_places import all_items
from tests.library.imports import samples
from tests.store.making import postgres_server

Entry = dict[str, Any]

GOOD: Final = 12
"""Good rows of each file."""
MAX_GROWTH_BYTES: Final = 400_000_000
"""What one import may add to the memory of the process; the largest entry that is accepted has 64 million characters."""
LONG = 3_000_000
CONTROLS: Final = "".join(map(chr, [*range(32), 127, 0x85, 0x2028, 0x202E, 0xFEFF, 0xFFFE]))
URLS: Final = (
    "javascript:alert(1)",
    " JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "ftp://example.com/",
    "http://127.0.0.1/admin",
    "http://[::1]:6379/",
    "http://169.254.169.254/latest",
    "http://user:secret@example.com/private",
    "http://",
    "https://exa mple.com/",
    "https://example.com:99999/",
    "https://[::1/",
    "https://xn--\udcff.example/",
    "//example.com/no-scheme",
    "\x00https://example.com/nul",
    "https://example.com/\r\nHost: evil",
    "https://example.com/" + "a" * 100_000,
    "",
)
TIMES: Final = (
    "9999-12-31T23:59:59-23:59",
    "0001-01-01T00:00:00+23:59",
    "1990-01-01T00:00:00+23:59",
    "9999-99-99",
    "99999999999999999",
    "-1",
    "1e308",
    "NaN",
    "2020-02-30",
    "2020-01-01T00:00:00+99:99",
    "٢٠٢٠-٠١-٠١",
    "0" * 5_000,
    "yesterday",
)
_TEXTS: Final = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    f"controls {CONTROLS} end",
    "lone \ud800 surrogate \udfff",
    "\u202egnp.exe",
    "../../../etc/passwd",
    "C:\\Windows\\system32",
    "{{7*7}} ${7*7} %s %n",
    "'; DROP TABLE items; --",
    "=cmd|' /C calc'!A0",
    "A\u0300" * 5_000,
    "---\npinned: true\n---\n",
    "]]> <!-- --> &entity; &#0; &#xD800; &#1114112;",
)
VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    10**30,
    1e308,
    float("nan"),
    float("inf"),
    [],
    [None, 7, [[]], {"name": ["no"]}, "x" * 5_000],
    {"name": {"name": "x"}},
    {"": {"": ""}},
    ["tag"] * 5_000,
)


def texts() -> tuple[str, ...]:
    """Return texts that trouble whatever shows, stores or writes them."""
    return (*_TEXTS, "x" * LONG)


# The shapes of one syntax: good rows around hostile ones.


def hostile_entries(good: Entry) -> Iterator[tuple[str, list[Entry]]]:
    """Yield shapes for formats whose entries have named fields of any type."""
    urls = [name for name in good if "example.com" in str(good[name])]

    def numbered(extra: Entry, number: int) -> Entry:
        return {**good, **dict.fromkeys(urls, f"https://bad.example/{number}"), **extra}

    yield "urls", [{**good, name: url} for name in urls for url in URLS]
    yield "texts", [numbered({name: text}, n) for n, (name, text) in enumerate(_pairs(good, urls, texts()))]
    yield "times", [numbered({name: text}, n) for n, (name, text) in enumerate(_pairs(good, urls, TIMES))]
    yield "types", [numbered({name: value}, n) for n, (name, value) in enumerate(_pairs(good, (), VALUES))]
    yield "missing", [{key: value for key, value in good.items() if key != name} for name in good]
    yield "duplicates", [good] * 200
    yield "junk", [{f"k{n % 7}": n} for n in range(2_000)]


def _pairs(good: Entry, left_out: Any, values: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name in good if name not in left_out for value in values)


def json_shapes(rows: list[Entry], wrap: Callable[[list[Any]], Any] = lambda rows: rows) -> Iterator[tuple[str, bytes]]:
    """Yield files of a JSON list, which `wrap` puts into the whole document."""

    def file(middle: list[Any]) -> bytes:
        return json.dumps(wrap([*rows[:6], *middle, *rows[6:]])).encode("utf-8", "surrogatepass")

    for name, entries in hostile_entries(rows[0]):
        yield name, file(entries)
    yield "not entries", file([None, 7, "text", [], [[[]]], True])
    mark = json.dumps("hostile entry here")
    for name, raw in (
        ("deep lists", "[" * 100_000 + "]" * 100_000),
        ("deep objects", '{"a":' * 50_000 + "1" + "}" * 50_000),
        ("deep in an entry", '{"url": "https://bad.example/", "tags": ' + "[" * 20_000 + "]" * 20_000 + "}"),
        ("long number", '{"url": ' + "9" * 50_000 + "}"),
        ("long exponent", '{"url": 1e999999999}'),
        ("many keys", json.dumps({f"key {n}": n for n in range(50_000)})),
        ("equal keys", "{" + ",".join('"url": "https://bad.example/"' for _ in range(10_000)) + "}"),
        ("raw controls", '{"url": "' + CONTROLS.replace("\n", "") + '"}'),
    ):
        yield name, file(["hostile entry here"]).replace(mark.encode(), raw.encode("utf-8", "replace"))


def csv_shapes(header: list[str], rows: list[list[str]]) -> Iterator[tuple[str, bytes]]:
    """Yield tables."""

    def file(middle: list[list[str]]) -> bytes:
        out = io.StringIO()
        csv.writer(out).writerows([header, *rows[:6], *middle, *rows[6:]])
        return out.getvalue().encode("utf-8", "replace")

    good = dict(zip(header, rows[0], strict=True))
    for name, entries in hostile_entries(good):
        yield name, file([[_as_text(entry.get(column, "")) for column in header] for entry in entries])
    yield "long rows", file([["x"] * 20_000, [""] * 20_000, ["https://bad.example/"]])
    yield "nul", file([]).replace(b"\r\n", b"\r\n\x00\r\n", 3)
    line = b"\r\nhostile line here\r\n"
    for name, raw in (
        ("odd quotes", b'"a"b"c,"d""e"\r\n"x"\r\n,,,,,,,"'),
        ("long line", b"x" * (2 * LONG)),
        ("long quoted field", b'"' + b"a longer line\r\n" * (LONG // 30) + b'"'),
        ("carriage returns", b"\r" * 10_000),
    ):
        yield name, file([["hostile line here"]]).replace(line, b"\r\n" + raw + b"\r\n")


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def link_shapes(begin: str, rows: list[str], end: str) -> Iterator[tuple[str, bytes]]:
    """Yield HTML lists of links."""

    def file(middle: str) -> bytes:
        return "\n".join([begin, *rows[:6], middle, *rows[6:], end]).encode("utf-8", "replace")

    row = rows[0]
    href = row[row.index("https://") : row.index('"', row.index("https://"))]
    yield "urls", file("\n".join(row.replace(href, escape(url)) for url in URLS))
    yield "raw urls", file("\n".join(row.replace(href, url) for url in URLS if '"' not in url))
    yield (
        "texts",
        file("\n".join(f'<DT><A HREF="https://bad.example/{n}">{text}</A>' for n, text in enumerate(texts()))),
    )
    yield (
        "times",
        file(
            "\n".join(
                f'<DT><A HREF="https://bad.example/{n}" ADD_DATE="{text}" time_added="{text}">x</A>'
                for n, text in enumerate(TIMES)
            )
        ),
    )
    yield "notes", file("\n".join(f"{row}<DD>{text}" for text in texts()))
    yield "duplicates", file("\n".join([row] * 200))
    yield "many attributes", file("<DT><A " + " ".join(f'a{n}="{n}"' for n in range(50_000)) + ">x</A>")
    yield "open folders", file("<DL><p>" * 100_000)
    yield "closed folders", file("</DL><p>" * 100_000)
    yield "long folders", file(f"<H3 A='{'x' * 10_000}'>{'y' * 10_000}</H3><DL>" * 300)
    yield "stray brackets", file("<" * 300_000)
    yield "open tag", file("<a href=x " + "y" * LONG + ">")
    yield "open comment", file("<!-- <a href='https://bad.example/'>x</a> -->")
    yield (
        "entities",
        file(f"<DT><A HREF='https://bad.example/e'>{'&amp;' * 200_000}&#x{'f' * 5_000};&#{'9' * 6_000};</A>"),
    )
    yield "declared entities", file('<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"> &b;')
    yield "junk", file("<DT>junk\n" * (LONG // 150))


def line_shapes(rows: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yield lists of addresses."""

    def file(middle: list[str]) -> bytes:
        return "\n".join([*rows[:6], *middle, *rows[6:]]).encode("utf-8", "replace")

    yield "urls", file(list(URLS))
    yield "texts", file([f"https://bad.example/{n} | {text}" for n, text in enumerate(texts())])
    yield "bare texts", file(list(texts()))
    yield "duplicates", file(rows[:1] * 200)
    yield "long line", file(["x" * (2 * LONG)])
    yield "junk", file([f"junk {n}" for n in range(LONG // 150)])


def own_line_shapes(rows: list[Entry]) -> Iterator[tuple[str, bytes]]:
    """Yield JSON Lines, as our own formats are."""

    def file(middle: list[str]) -> bytes:
        lines = [*map(json.dumps, rows[:6]), *middle, *map(json.dumps, rows[6:])]
        return "\n".join(lines).encode("utf-8", "surrogatepass")

    for name, entries in hostile_entries(rows[0]):
        yield name, file([json.dumps(entry) for entry in entries])
    metadata = rows[0].get("metadata")
    if isinstance(metadata, dict):
        changed = [
            {**rows[0], "url": f"https://bad.example/m{n}", "metadata": {**metadata, name: value}}
            for n, (name, value) in enumerate(
                _pairs({**metadata, "notes": "", "hero_image": "x"}, (), VALUES + texts())
            )
        ]
        yield "metadata", file([json.dumps(entry) for entry in changed])
        notes = [{**rows[0], "annotations": value} for value in (*VALUES, *[[value] for value in VALUES], [{}], "text")]
        yield "annotations", file([json.dumps(entry) for entry in notes])
        others = [{**rows[0], "url": f"https://bad.example/i{n}"} for n in range(50)]
        yield "equal ids", file([json.dumps(entry) for entry in others])
        forged = [{**rows[0], "url": f"https://bad.example/u{n}", "url_full": url} for n, url in enumerate(URLS)]
        yield "full urls", file([json.dumps(entry) for entry in forged])
    begin = json.dumps(rows[0])[:-1]
    yield "deep lists", file([begin + ', "x": ' + "[" * 100_000 + "]" * 100_000 + "}"])
    yield "endless number", file([begin + ', "metadata": {"x": 1e999}, "url": "https://bad.example/n"}'])
    yield "deep metadata", file([begin + ', "metadata": ' + '{"a":' * 300 + "1" + "}" * 300 + "}"])
    yield "long number", file([begin + ', "x": ' + "9" * 50_000 + "}"])
    yield "long line", file(["x" * (7 * LONG)])
    yield "not json", file(["{", "null", "[]", '"text"', "7", "\x00", CONTROLS.replace("\n", "").replace("\r", "")])
    yield "junk lines", file(['{"pagekeep": 1}'] * (LONG // 150))


def markdown_shapes(rows: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yield archives of Markdown files, as our own export is."""

    def archive(middle: Mapping[str, str | bytes]) -> bytes:
        good = {f"good {number} {number:08x}.md": text for number, text in enumerate(rows)}
        return zipped({**good, **middle})

    def files(texts: list[str]) -> bytes:
        return archive({f"bad {n} {n + 1000:08x}.md": text.encode("utf-8", "replace") for n, text in enumerate(texts)})

    def page(field: str, value: str) -> str:
        source = "" if field == "source" else "source: https://bad.example/x\n"
        return f"---\n{source}{field}: {value}\n---\n\nWords of a page.\n"

    fields = ("title", "author", "tags", "saved_at", "published_date", "quality", "pinned", "word_count", "id", "notes")
    yield "urls", files([page("source", json.dumps(url)) for url in URLS])
    yield (
        "full urls",
        files([f"---\nurl: https://bad.example/{n}\nsource: {json.dumps(url)}\n---\n" for n, url in enumerate(URLS)]),
    )
    yield "texts", files([page(field, json.dumps(text[:50_000])) for field in fields for text in texts()])
    yield "times", files([page(field, text) for field in ("saved_at", "published_date", "created") for text in TIMES])
    yield "types", files([page(field, json.dumps(value)) for field in fields for value in VALUES])
    yaml = (
        "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
        "a: " + "[" * 10_000,
        "a: " + "{a: " * 10_000,
        "!!python/object/apply:os.system ['true']",
        "a: !!binary not-base64",
        "? [a, b]\n: c",
        "<<: [1, 2]",
        "a: 0x" + "f" * 5_000,
        "a: " + "9" * 6_000,
        "a: 1:" + ":".join(["59"] * 3_000),
        "a: .inf\nb: .nan\nc: 2020-99-99\nd: !!timestamp x",
        "\t\ta: b",
        "a: b\n" * 20_000,
        "x" * 200_000,
        "- a\n- b",
        "a: \x00\x01",
    )
    yield (
        "yaml",
        files([f"---\nsource: https://bad.example/y{n}\n{text}\n---\nWords.\n" for n, text in enumerate(yaml)]),
    )
    yield "bodies", files([f"---\nsource: https://bad.example/b{n}\n---\n{text}" for n, text in enumerate(texts())])
    yield (
        "annotations",
        files([page("title", "x") + f"\n## Annotations\n\n> {text}\n\n{text}\n^{text[:20]}\n" for text in texts()]),
    )
    yield "pictures", archive({"pictures/sources.json": b'{"a": ' * 10_000, ".pagekeep/pictures.json": b"[" * 10_000})
    yield "empty files", files(["", "---", "---\n", "---\n---\n", "\ufeff", "no frontmatter"])
    yield from zip_shapes({f"good {number} {number:08x}.md": text for number, text in enumerate(rows)})


def zipped(files: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive of the files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def zip_shapes(good: Mapping[str, str | bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield archives with hostile names, kinds, sizes and packings beside the good files."""
    bad = "---\nsource: https://bad.example/z\n---\nWords.\n"
    names = (
        "../up.md",
        "/abs.md",
        "a/../../b.md",
        "..\\win.md",
        "C:\\c.md",
        "x\x00y.md",
        "n" * 5_000 + ".md",
        "a//b.md",
        ".",
    )
    yield "zip slip", zipped({**good, **dict.fromkeys(names, bad)})
    out = io.BytesIO(zipped(good))
    with zipfile.ZipFile(out, "a") as archive:
        for kind, name in ((0o120777, "link.md"), (0o020666, "device.md"), (0o010666, "pipe.md")):
            info = zipfile.ZipInfo(name)
            info.external_attr = kind << 16
            archive.writestr(info, "/etc/passwd")
    yield "links", out.getvalue()
    yield "bomb", zipped({**good, "bomb bad 00000000.md": b" " * (20 * LONG)})
    for name, method in (("bzip2", zipfile.ZIP_BZIP2), ("lzma", zipfile.ZIP_LZMA)):
        packed = bytearray(zipped({"odd 00000000.md": bad * 50}, method))
        at = packed.index(b".md") + 3
        packed[at + 6 : at + 60] = bytes(54)
        yield f"damaged {name}", _joined(good, bytes(packed))
    yield "many files", zipped({**good, **{f"d/{number}": b"" for number in range(LONG // 150)}}, zipfile.ZIP_STORED)
    nested = zipped({"inner.md": bad})
    yield "nested archive", zipped({**good, "inner.zip": nested, "inner 00000000.md": nested})
    damaged = bytearray(
        zipped({**good, "zz damaged 00000000.md": random.Random(3).randbytes(50_000)}, zipfile.ZIP_STORED)
    )
    at = damaged.index(b"zz damaged") + 1_000
    damaged[at : at + 10] = bytes(10)
    yield "wrong checksum", bytes(damaged)


def _joined(good: Mapping[str, str | bytes], other: bytes) -> bytes:
    """Return an archive of the good files and, byte for byte, the members of another."""
    out = io.BytesIO(zipped(good))
    with zipfile.ZipFile(io.BytesIO(other)) as source, zipfile.ZipFile(out, "a") as target:
        target.fp.seek(target.start_dir)  # type: ignore[union-attr]
        for info in source.infolist():
            data = other[info.header_offset : source.start_dir]
            info.header_offset = target.fp.tell()  # type: ignore[union-attr]
            target.fp.write(data)  # type: ignore[union-attr]
            target.filelist.append(info)
            target.NameToInfo[info.filename] = info
        target.start_dir = target.fp.tell()  # type: ignore[union-attr]
        target._didModify = True  # type: ignore[attr-defined]
    return out.getvalue()


def byte_shapes(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield damage that any file can have; whatever can still be read may be imported."""
    chance = random.Random(len(data))
    yield "empty", b""
    yield "only a mark", b"\xef\xbb\xbf"
    for part in (1, 2, 3):
        yield f"cut at {part}/4", data[: len(data) * part // 4]
    yield "nul bytes", data.replace(b"e", b"e\x00", 500)
    yield "invalid utf-8", data.replace(b"e", b"\xff\xfe\xc3(", 500)
    yield "utf-16 mark", b"\xff\xfe" + data
    yield "utf-16", data.decode("utf-8", "replace").encode("utf-16")
    yield "utf-32", data.decode("utf-8", "replace").encode("utf-32")
    for seed in range(3):
        harmed = bytearray(data)
        for _ in range(30):
            at = chance.randrange(len(harmed))
            harmed[at : at + chance.randrange(5)] = chance.randbytes(chance.randrange(5))
        yield f"mutation {seed}", bytes(harmed)


# The formats: a few good rows of each, and the shapes of its syntax.


def _json_list(data: bytes) -> list[Entry]:
    rows: list[Entry] = json.loads(data)
    return rows[:GOOD]


def _csv_rows(data: bytes) -> tuple[list[str], list[list[str]]]:
    header, *rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))
    return header, [row for row in rows if len(row) == len(header)][:GOOD]


def own_items() -> list[Item]:
    """Items as our own exports have them."""
    with tempfile.TemporaryDirectory() as folder, closing(open_store(Path(folder) / "library.db", "keeper")) as library:
        data = json.dumps(_json_list(samples.ALL["pinboard.json"][1])).encode()
        import_stream(io.BytesIO(data), "export", library, ImportPlan(Rulebook()))
        return all_items(library)


def formats() -> dict[str, Iterator[tuple[str, bytes]]]:
    """Return the shapes of every format, by the sample's name."""
    reported = samples.pages()[:GOOD]
    found: dict[str, Iterator[tuple[str, bytes]]] = {}
    for name in ("wallabag.json", "goodlinks.json", "pinboard.json"):
        rows = _json_list(samples.ALL[name][1])
        for number, row in enumerate(rows):
            if number and "content" in row:
                row["content"] = ""
        found[name] = json_shapes(rows)
    found["pocket highlights.json"] = json_shapes(
        [{"url": page.url, "title": page.title, "highlights": [{"quote": "words"}]} for page in reported]
    )
    found["karakeep.json"] = json_shapes(
        json.loads(samples.ALL["karakeep.json"][1])["bookmarks"][:GOOD],
        lambda rows: {"bookmarks": rows, "lists": [{"id": "l1", "name": "Coast"}, 7, {"id": [], "name": {}}]},
    )
    links = [link for group in json.loads(samples.ALL["linkwarden.json"][1])["collections"] for link in group["links"]]
    found["linkwarden.json"] = json_shapes(
        links[:GOOD],
        lambda rows: {"collections": [{"id": 1, "name": "Log", "parentId": 1, "links": rows}, 7, {"links": 7}]},
    )
    lists = [json.loads(zipfile.ZipFile(io.BytesIO(samples.omnivore())).read("metadata_0_to_20.json"))][0][:GOOD]
    found["omnivore list.json"] = json_shapes(lists)
    found["omnivore.zip"] = _omnivore_shapes(lists)
    for name in ("pocket.csv", "instapaper.csv", "reader.csv", "raindrop.csv", "matter.csv"):
        found[name] = csv_shapes(*_csv_rows(samples.ALL[name][1]))
    rows_ = [line for line in samples.netscape().splitlines() if line.startswith("<DT><A")][:GOOD]
    found["bookmarks.html"] = link_shapes("<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>", rows_, "</DL>")
    rows_ = [
        f'<li><a href="{escape(page.url)}" time_added="{page.seconds}" tags="a">{escape(page.title)}</a></li>'
        for page in reported
    ]
    found["ril_export.html"] = link_shapes("<!DOCTYPE html><h1>Unread</h1><ul>", rows_, "</ul>")
    found["onetab.txt"] = line_shapes([f"{page.url} | x" for page in reported])
    items = own_items()
    found["pagekeep.jsonl"] = own_line_shapes([json.loads(jsonl.write_line(item)) for item in items])
    found["failed.jsonl"] = own_line_shapes(
        [
            {
                "pagekeep_row": 1,
                "reason": "x",
                "url": page.url,
                "title": page.title,
                "tags": ["a"],
                "saved_at": page.iso,
            }
            for page in reported
        ]
    )
    found["markdown.zip"] = markdown_shapes([markdown_files.write(item) for item in items])
    return found


def _omnivore_shapes(rows: list[Entry]) -> Iterator[tuple[str, bytes]]:
    good = {"metadata_0_to_20.json": json.dumps(rows)}
    for name, data in json_shapes(rows):
        yield name, zipped({"metadata_0_to_20.json": data})
    slugs = ("../../etc/passwd", "/etc/passwd", "a\x00b", "", ".", "..", "x" * 5_000, "day-1")
    entries = [{**rows[0], "slug": slug, "url": f"https://bad.example/{n}"} for n, slug in enumerate(slugs)]
    yield "slugs", zipped({**good, "metadata_20_to_40.json": json.dumps(entries)})
    slug = str(rows[1]["slug"])
    yield "notes", zipped({**good, f"highlights/{slug}.md": "a\n\n" * (LONG // 5)})
    yield "quotes", zipped({**good, f"highlights/{slug}.md": "> a\n\n" * 100_000})
    yield "page", zipped({**good, f"content/{slug}.html": "<div>" * 50_000 + "Words. " * 500})
    yield "huge page", zipped({**good, f"content/{slug}.html": b"a " * (4 * LONG)})
    yield from zip_shapes(good)


# What must hold.


SERVER = ""
"""The address of a PostgreSQL server, to import into that instead of SQLite."""


def _new_library(path: Path) -> Store:
    return open_store(SERVER, f"keeper {uuid.uuid4()}") if SERVER else open_store(path, "keeper")


def faults_of(name: str, shape: str, data: bytes, wanted: frozenset[str] | None) -> list[str]:
    """Import one file into a new library and return what is wrong; `wanted` are the addresses that must be there."""
    where = f"{name}, {shape}"
    is_own = name in ("pagekeep.jsonl", "markdown.zip")  # titles of another library come as they were stored there
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "inside" / "library.db"
        with closing(_new_library(path)) as library:
            try:
                failed = io.StringIO()
                report = import_stream(io.BytesIO(data), name, library, ImportPlan(Rulebook(), failed=failed))
            except PagekeepError as error:
                faults = [f"{where}: refused as a whole: {error.message}"] if wanted is not None else []
            except Exception as error:
                faults = [f"{where}: {type(error).__name__}: {error}"[:300]]
            else:
                faults = [f"{where}: {fault}" for fault in _faults_in(library, report, wanted, is_own)]
        others = [file.name for file in Path(folder).iterdir() if file.name != "inside"]
    faults += [f"{where}: wrote {others}"] if others else []
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    if growth > MAX_GROWTH_BYTES:
        faults.append(f"{where}: took {growth / 1e6:.0f} MB")
    if "--times" in sys.argv:
        print(f"{where}: {time.monotonic() - began:.1f} s", faults, file=sys.stderr, flush=True)
    return faults


def _faults_in(library: Store, report: ImportReport, wanted: frozenset[str] | None, is_own: bool) -> Iterator[str]:
    items = all_items(library)
    yield from library.check()
    lost = (wanted or frozenset()) - {item.url for item in items}
    if lost:
        yield f"{len(lost)} of {len(wanted or ())} good rows lost ({report.failures[:1]})"
    for item in items:
        yield from _faults_of_item(item, is_own)
        try:
            annotations = library.annotations.of_item(item.id)
            line = jsonl.write_line(item, annotations)
            jsonl.read_line(line, "")
            markdown_files.write(item, annotations)
        except Exception as error:
            yield f"{item.url[:100]} cannot be exported: {type(error).__name__}: {error}"
    try:
        "".join(run.format_bookmarks(iter(items)))
    except Exception as error:
        yield f"the bookmarks cannot be exported: {error}"


_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def _faults_of_item(item: Item, is_own: bool) -> Iterator[str]:
    if not all(url.startswith(("http://", "https://")) for url in (item.url, item.url_full)):
        yield f"stored with the address {item.url_full[:80]!r}"
    if len(item.title) > 10_000 or (_CONTROLS.search(item.title) and not is_own):
        yield f"stored with the title {item.title[:40]!r} of {len(item.title)} characters"
    tags = item.metadata.tags
    if len(tags) > 100 or any(_CONTROLS.search(tag) or len(tag) > 200 for tag in tags):
        yield f"stored with {len(tags)} tags, such as {tags[:1]!r:.60}"
    for name in ("saved_at", "created_at", "updated_at", "last_opened_at"):
        value = getattr(item, name)
        if value is not None and (len(value) != 27 or datetime.fromisoformat(value).year < 1900):
            yield f"stored with {name} {value!r:.60}"
    if item.metadata.hero_image and not item.metadata.hero_image.startswith(("http://", "https://")):
        yield f"stored with the picture {item.metadata.hero_image[:60]!r}"


def attack(shapes_per_format: int | None, only: tuple[str, ...] = ()) -> tuple[int, int, list[str]]:
    """Return how many formats and files were tried, and the faults; with a number, only this many shapes of each format."""
    global LONG
    LONG = 3_000_000 if shapes_per_format is None else 30_000
    faults: list[str] = []
    files = 0
    every = {name: shapes for name, shapes in formats().items() if not only or name in only}
    for number, (name, shapes) in enumerate(every.items()):
        tried = list(shapes)
        good = _good_urls(name, tried)
        tried_bytes = list(byte_shapes(dict(tried).get("duplicates", tried[0][1])))
        if shapes_per_format is not None:
            # Another choice for each format, so that every shape is tried with some format.
            chance = random.Random(number)
            tried = chance.sample(tried, min(shapes_per_format, len(tried)))
            tried_bytes = chance.sample(tried_bytes, 1)
        for shape, data in tried:
            files += 1
            faults += faults_of(name, shape, data, good)

        for shape, data in tried_bytes:
            files += 1
            faults += faults_of(name, shape, data, None)
    return len(every), files, faults


def _good_urls(name: str, shapes: list[tuple[str, bytes]]) -> frozenset[str]:
    """Return the addresses that the import of a file finds whose hostile rows are only copies of a good one."""
    data = dict(shapes).get("duplicates") or dict(shapes)["empty files"]
    with tempfile.TemporaryDirectory() as folder, closing(open_store(Path(folder) / "library.db", "keeper")) as library:
        import_stream(io.BytesIO(data), name, library, ImportPlan(Rulebook()))
        urls = frozenset(item.url for item in all_items(library) if "bad.example" not in item.url)
    assert len(urls) >= GOOD - 1, f"{name}: the sample has {len(urls)} good rows"
    return urls


if __name__ == "__main__":
    with ExitStack() as stack:
        if "--postgres" in sys.argv:
            SERVER = stack.enter_context(postgres_server()).app
        started = time.monotonic()
        formats_tried, files_tried, found = attack(
            None if "--full" in sys.argv else 3, tuple(name for name in sys.argv[1:] if "." in name)
        )
    print(f"{formats_tried} formats, {files_tried} files in {time.monotonic() - started:.0f} s, {len(found)} faults")
    print("\n".join(found))
    sys.exit(bool(found))

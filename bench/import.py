"""Compare an import with a plain loop of inserts: 100,000 browser bookmarks, without fetching.

`python bench/import.py [rows]`. The loop inserts the same rows, as they were stored, into an empty library's own table of
items, in transactions of the same size: what SQLite itself takes for them. It has no search index, no tags, no check for
pages that exist already, and parses nothing. The goals: at most 10 times its time, and memory that does not grow with the
number of rows. A second import of the same file, where nothing is new, is measured too, and the loop over a table with only
a unique address. Times are CPU seconds, which a busy machine does not change much.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from time import perf_counter, process_time

from pagekeep.library.imports.run import BATCH_ROWS, ImportPlan, ImportReport, import_stream
from pagekeep.rules import Rulebook
from pagekeep.store import open_store

_PRAGMAS = ("page_size = 2048", "journal_mode = WAL", "synchronous = FULL")


def write_bookmarks(path: Path, rows: int) -> None:
    """Write a file as browsers do: folders of a thousand links, every third with a description."""
    with path.open("w", encoding="utf-8") as file:
        file.write("<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n<DL><p>\n")
        for number in range(rows):
            if number % 1000 == 0:
                file.write("</DL><p>\n" if number else "")
                file.write(f'<DT><H3 ADD_DATE="1500000000">Folder {number // 1000}</H3>\n<DL><p>\n')
            file.write(
                f'<DT><A HREF="https://site{number % 997}.example.com/log/{number}/the-wall?page={number % 7}" '
                f'ADD_DATE="{1_300_000_000 + number}" TAGS="sea,t{number % 50}">The wall of harbour {number}</A>\n'
            )
            if number % 3 == 0:
                file.write(f"<DD>Some words about the page number {number}\n")
        file.write("</DL><p>\n</DL><p>\n")


def memory() -> float:
    """Return the memory of this process in megabytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def timed(what: str, work: Callable[[], None], rows: int) -> float:
    """Return the CPU seconds of a function."""
    began, used = perf_counter(), process_time()
    work()
    cpu = process_time() - used
    print(f"{what}: {cpu:.2f} s of CPU, {cpu / rows * 1e6:.0f} us a row, {perf_counter() - began:.1f} s in all")
    return cpu


def imported(file: Path, library: Path, rows: int) -> ImportReport:
    """Run one import and report how memory grows."""
    early: list[float] = []

    def watch(report: ImportReport) -> None:
        if report.rows >= rows // 5 and not early:
            early.append(memory())

    with file.open("rb") as stream, closing(open_store(library)) as store:
        report = import_stream(stream, file.name, store, ImportPlan(Rulebook(), progress=watch))
    print(f"  {report.added:,} added, {report.unchanged:,} unchanged; ", end="")
    print(f"memory {early[0]:.0f} MB after a fifth, {memory():.0f} MB at the end")
    return report


def stored(library: Path, columns: str) -> Iterator[list[tuple[object, ...]]]:
    """Return the stored rows in batches."""
    with closing(sqlite3.connect(library)) as connection:
        cursor = connection.execute(f"SELECT {columns} FROM items ORDER BY seq")
        while rows := cursor.fetchmany(BATCH_ROWS):
            yield rows


def insert_loop(path: Path, table: str, columns: str, batches: list[list[tuple[object, ...]]]) -> None:
    """Run one `INSERT` per row, in one transaction per batch."""
    sql = f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(columns.split(', ')))})"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}").fetchall()
        for rows in batches:
            connection.execute("BEGIN")
            for row in rows:
                connection.execute(sql, row)
            connection.execute("COMMIT")


OWN = (
    "user_id, id, url_hash, domain_key, title_key, saved_at, created_at, updated_at, metadata, source, domain, url, url_full, "
    "title, content"
)
FEW = "url, title, saved_at, content"


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        file, library = folder / "bookmarks.html", folder / "library.db"
        write_bookmarks(file, rows)
        ours = timed("import", lambda: void(imported(file, library, rows)), rows)
        timed("the same again", lambda: void(imported(file, library, rows)), rows)
        open_store(folder / "bare.db").close()
        own = list(stored(library, OWN))
        bare = timed("inserts into the same table", lambda: insert_loop(folder / "bare.db", "items", OWN, own), rows)
        with closing(sqlite3.connect(folder / "plain.db")) as connection:
            connection.execute("CREATE TABLE pages (url TEXT PRIMARY KEY, title TEXT, saved_at TEXT, content TEXT)")
        few = list(stored(library, FEW))
        plain = timed("inserts into a plain table", lambda: insert_loop(folder / "plain.db", "pages", FEW, few), rows)
        print(
            f"The import takes {ours / bare:.1f} times the loop, and {ours / plain:.1f} times the one into a plain table."
        )


def void(_: object) -> None:
    """Ignore a value."""


if __name__ == "__main__":
    main()

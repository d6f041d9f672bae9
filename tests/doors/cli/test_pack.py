"""`pagekeep pack`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pagekeep.doors.cli.main import cli
from pagekeep.library.packs.folder import write_folder
from pagekeep.library.packs.pack import SitePage, arrange

ROOT = "https://docs.example/"


@pytest.fixture
def packs(tmp_path: Path) -> tuple[str, str]:
    for name, text in (("1", "Tie it once."), ("2", "Tie it twice.")):
        pages = [
            SitePage(f"{ROOT}knots", "Knots", f"# Knots\n\n{text}\n"),
            SitePage(f"{ROOT}{name}", f"Page {name}", f"Only in {name}."),
        ]
        write_folder("Manual", ROOT, "", arrange(pages, []), tmp_path / name)
    return str(tmp_path / "1"), str(tmp_path / "2")


def test_the_difference_of_two_packs(packs: tuple[str, str]) -> None:
    shown = CliRunner().invoke(cli, ["pack", "diff", *packs])
    assert shown.exit_code == 0, shown.output
    assert [line for line in shown.output.splitlines() if line[0] in "+-~>"] == ["~ knots.md", "+ 2.md", "- 1.md"]
    assert "+Tie it twice." in shown.output
    changes = json.loads(CliRunner().invoke(cli, ["pack", "diff", *packs, "--json"]).output)["changes"]
    assert [one["change"] for one in changes] == ["changed", "added", "removed"]


def test_a_pack_is_searched_by_section(packs: tuple[str, str]) -> None:
    found = json.loads(CliRunner().invoke(cli, ["pack", "search", packs[1], "twice", "--json"]).output)["sections"]
    assert [(one["path"], one["section"]) for one in found] == [("knots.md", "Knots")]


def test_a_folder_that_is_not_a_pack_is_an_error(packs: tuple[str, str], tmp_path: Path) -> None:
    shown = CliRunner().invoke(cli, ["pack", "diff", packs[0], str(tmp_path)])
    assert shown.exit_code != 0
    assert "pack.json" in shown.output

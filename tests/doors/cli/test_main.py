"""The command itself: version, help, and what starting it loads."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

import pagekeep
from pagekeep.doors.cli.main import COMMANDS, cli


def test_version_is_the_package_version() -> None:
    result = CliRunner().invoke(cli, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"pagekeep {pagekeep.__version__}\n")


@pytest.mark.parametrize("command", [[], ["extract"], ["evaluate"]])
def test_help_states_the_exit_codes(command: list[str]) -> None:
    result = CliRunner().invoke(cli, [*command, "--help"])
    assert result.exit_code == 0
    assert re.search(r"Exit codes: 0 done; 1 .*; 2 bad input", " ".join(result.stdout.split()))


@pytest.mark.parametrize("command", ["extract", "evaluate"])
def test_help_of_a_command_has_examples(command: str) -> None:
    assert f"pagekeep {command} " in CliRunner().invoke(cli, [command, "--help"]).stdout.partition("Examples:")[2]


def test_help_groups_the_commands() -> None:
    shown = CliRunner().invoke(cli, ["--help"]).stdout
    sections = dict(re.findall(r"(?m)^(\w+):\n((?:  .*\n)+)", shown))
    assert list(sections) == ["Options", "Library", "Pages", "Rules", "Admin", "Lab"]
    assert {
        section: re.findall(r"(?m)^  (\w+)", rows) for section, rows in sections.items() if section != "Options"
    } == {section: list(commands) for section, commands in COMMANDS.items()}


def test_help_shows_each_command_with_a_whole_sentence() -> None:
    shown = CliRunner().invoke(cli, ["--help"], terminal_width=80).stdout
    assert "..." not in shown.partition("Library:")[2]
    assert "Start the server: the reader for your browser, and an API for programs." in " ".join(shown.split())


def test_unknown_command_is_bad_input() -> None:
    assert CliRunner().invoke(cli, ["frobnicate"]).exit_code == 2


def test_module_runs_the_command() -> None:
    result = subprocess.run([sys.executable, "-m", "pagekeep", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout == f"pagekeep {pagekeep.__version__}\n"


def test_starting_loads_neither_the_parser_nor_the_terminal_library() -> None:
    script = "import sys, pagekeep.doors.cli.main; print(sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "'click'" in loaded
    for heavy in ("turbohtml", "nh3", "yaml", "rich"):
        assert f"'{heavy}'" not in loaded

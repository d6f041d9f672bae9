"""The command itself: version, help, and what starting it loads."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import pagekeep
from pagekeep.doors.cli.lazy import LazyGroup
from pagekeep.doors.cli.main import COMMANDS, cli
from pagekeep.doors.cli.rules import rules


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
    assert list(sections) == ["Options", "Library", "Sites", "Pages", "Rules", "Admin", "Lab"]
    assert {
        section: re.findall(r"(?m)^  ([\w-]+)", rows) for section, rows in sections.items() if section != "Options"
    } == {section: list(commands) for section, commands in COMMANDS.items()}


def test_help_shows_each_command_with_a_whole_sentence() -> None:
    shown = CliRunner().invoke(cli, ["--help"], terminal_width=80).stdout
    assert "..." not in shown.partition("Library:")[2]
    assert "Start the server: the reader for your browser, and an API for programs." in " ".join(shown.split())


@pytest.mark.parametrize("group", [cli, rules], ids=["pagekeep", "rules"])
def test_help_has_the_first_sentence_of_each_command(group: LazyGroup) -> None:
    context = click.Context(group)
    for commands in group.sections.values():
        for name, (_, summary) in commands.items():
            command = group.get_command(context, name)
            assert command is not None
            assert summary == command.get_short_help_str(limit=1_000)


def test_unknown_command_is_bad_input() -> None:
    assert CliRunner().invoke(cli, ["frobnicate"]).exit_code == 2


def test_module_runs_the_command() -> None:
    result = subprocess.run([sys.executable, "-m", "pagekeep", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout == f"pagekeep {pagekeep.__version__}\n"


HEAVY = ("asyncio", "concurrent", "dataclasses", "difflib", "email", "fastapi", "hashlib", "httpcore", "jinja2", "json")
HEAVY += (
    "logging",
    "nh3",
    "pydantic",
    "rich",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "turbohtml",
    "yaml",
    "zoneinfo",
)


def modules_after(*arguments: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    script = (
        "import sys; from pagekeep.doors.cli.main import cli\n"
        "try: cli(sys.argv[1:], prog_name='pagekeep')\n"
        "except SystemExit as end: print(*sys.modules, file=sys.stderr); raise"
    )
    command = [sys.executable, "-c", script, *arguments]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stderr.split())


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_loads_no_command_and_nothing_heavy(option: str) -> None:
    loaded = modules_after(option)
    assert "click" in loaded
    assert not loaded & set(HEAVY)
    ours = {name for name in loaded if name.partition(".")[0] == "pagekeep"}
    assert ours == {"pagekeep", "pagekeep.errors", "pagekeep.version", "pagekeep.doors"} | {
        f"pagekeep.doors.cli{module}" for module in ("", ".lazy", ".main", ".output")
    }


def test_extracting_a_file_loads_neither_the_network_nor_the_library(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<title>Kelp</title><p>Kelp grows by the hour.</p>")
    loaded = modules_after("extract", str(page))
    assert "pagekeep.workers" in loaded
    assert not loaded & {"asyncio", "pagekeep.fetch", "pagekeep.library", "pagekeep.model.library", "pagekeep.store"}
    assert not loaded & {"difflib", "hashlib", "rich", "socket", "sqlite3", "ssl", "subprocess", "tomllib", "yaml"}

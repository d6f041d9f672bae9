"""Optional parts: installed at first use in a checkout, and named with their command anywhere else."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from pagekeep import extras
from pagekeep.errors import NotFound, StoreError

SETUP = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/../asked"
echo "installing $*"
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose .venv this process pretends to run in; its setup script records what it is called with."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/.pagekeep-run").touch()
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts/setup"
    script.write_text(SETUP)
    script.chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    return tmp_path


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise extras.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(extras.metadata, "version", absent)


@pytest.mark.parametrize("extra", extras.EXTRAS)
def test_extras_are_those_of_the_package(extra: str) -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    named = [re.split(r"[^\w-]", needed)[0] for needed in project["optional-dependencies"][extra]]
    assert sorted(named) == sorted(extras.EXTRAS[extra].distributions)


def test_what_is_installed_is_not_installed_again(checkout: Path) -> None:
    extras.require("server", "`pagekeep serve`")
    assert not (checkout / "asked").exists()


@pytest.mark.usefixtures("nothing_installed")
def test_in_a_checkout_a_missing_part_is_installed_and_stdout_stays_clean(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(NotFound) as caught:
        extras.require("server", "`pagekeep serve`", also=("mcp",))
    assert (checkout / "asked").read_text() == "run server mcp\n"
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("", "installing run server mcp\n")
    assert "`pagekeep serve` needs packages (argon2-cffi, fastapi" in caught.value.message
    assert caught.value.suggestions == (f"To install: {checkout}/scripts/setup run server",)


@pytest.mark.usefixtures("nothing_installed")
def test_elsewhere_nothing_is_installed_and_the_error_names_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(StoreError) as caught:
        extras.require("postgres", "A library on PostgreSQL", error=StoreError, hint="Or use a file.")
    assert caught.value.message == "A library on PostgreSQL needs the package psycopg, which is not installed."
    assert caught.value.suggestions == ("To install: pip install 'pagekeep[postgres]'", "Or use a file.")

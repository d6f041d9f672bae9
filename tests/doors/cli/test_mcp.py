"""`pagekeep mcp` as a person meets it who starts it by hand."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from pagekeep import extras
from pagekeep.doors.cli.main import cli


def test_without_its_extra_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(extras, "find_missing", lambda _name: ["mcp"])
    monkeypatch.setattr(extras, "checkout", lambda: None)
    done = CliRunner().invoke(cli, ["mcp", "--library", str(tmp_path / "library.db")])
    assert done.exit_code == 2
    assert "pip install 'pagekeep[mcp]'" in done.stderr


def test_on_a_terminal_it_says_what_it_waits_for_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "pagekeep", "mcp", "--library", str(tmp_path / "library.db")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdin=inner, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        assert "assistant on standard input" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert "Traceback" not in process.stderr.read()
    os.close(outer)
    os.close(inner)

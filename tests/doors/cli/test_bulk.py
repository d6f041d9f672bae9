"""`pagekeep bulk` and the folder it writes to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli

PAGE = "<title>The lamp</title><article>" + "<p>The keeper lights the lamp and goes up to the gallery.</p>" * 30


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "a.html").write_text(PAGE)
    return folder


def bulk(pages: Path, out: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["bulk", str(pages), str(out), "--format", "jsonl", "--workers", "1", *arguments])


def test_one_is_reported_as_one(pages: Path, tmp_path: Path) -> None:
    assert bulk(pages, tmp_path / "out").stdout.startswith("1 row of 1 record, ")


def test_a_place_that_cannot_be_written_to_is_bad_input(pages: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    for out in (file, file / "below"):
        done = bulk(pages, out)
        assert (done.exit_code, isinstance(done.exception, SystemExit)) == (2, True)
        assert done.stderr.startswith("Error: ")
        assert len(done.stderr.splitlines()) == 2
    assert file.read_text() == "mine"


def test_a_run_killed_before_it_said_what_it_is_leaves_a_folder_to_begin_in(pages: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "_accounts").mkdir(parents=True)
    (out / "_run.json.draft").write_text("{")
    assert bulk(pages, out).exit_code == 0


@pytest.mark.parametrize("mine", ["notes.txt", "_accounts/notes.txt"])
def test_a_folder_with_anything_else_in_it_is_refused(pages: Path, tmp_path: Path, mine: str) -> None:
    out = tmp_path / "out"
    (out / "_accounts").mkdir(parents=True)
    (out / mine).write_text("mine")
    done = bulk(pages, out)
    assert (done.exit_code, "not empty" in done.stderr) == (2, True)
    assert (out / mine).read_text() == "mine"


def test_a_finished_run_is_not_offered_to_go_on(pages: Path, tmp_path: Path) -> None:
    assert bulk(pages, tmp_path / "out").exit_code == 0
    done = bulk(pages, tmp_path / "out")
    assert done.exit_code == 2
    assert "finished" in done.stderr
    assert "--resume" not in done.stderr


def test_ctrl_c_ends_a_run_and_shows_how_to_go_on(tmp_path: Path) -> None:
    source, out = tmp_path / "pages.jsonl", tmp_path / "out"
    line = json.dumps({"url": "https://example.com/", "html": PAGE}) + "\n"
    source.write_text(line * 20_000)
    command = [sys.executable, "-m", "pagekeep", "bulk", str(source), str(out), "--format", "jsonl", "--workers", "2"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    while not any(out.glob("part-*")):  # the children are at work
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    _, reported = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "--resume" in reported
    assert "Traceback" not in reported

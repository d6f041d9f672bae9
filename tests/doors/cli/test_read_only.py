"""A library that cannot be written can be read; what must write says why it cannot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store.damage import make_library

# Root may write everything, unless it gives up that right.
AS_OTHERS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
pytestmark = pytest.mark.skipif(bool(AS_OTHERS) and not shutil.which("setpriv"), reason="root needs setpriv")


def run(library: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*AS_OTHERS, sys.executable, "-m", "pagekeep", *arguments, "--library", str(library)]
    environment = {**os.environ, "XDG_CONFIG_HOME": str(library.parent.parent)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(params=["file", "file and folder"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    path = folder / "library.db"
    make_library(path, 3)
    path.chmod(0o444)
    folder.chmod(0o555 if request.param == "file and folder" else 0o755)
    return path


def test_a_read_only_library_can_be_read_and_what_must_write_says_why_not(library: Path, tmp_path: Path) -> None:
    listed = run(library, "list")
    assert listed.returncode == 0, listed.stderr
    item_id = listed.stdout.splitlines()[1].split("\t")[0]
    assert "Words of page" in run(library, "read", item_id).stdout
    assert "Title" in run(library, "search", "words").stdout
    exported = run(library, "export", "--format", "jsonl", str(tmp_path / "all.jsonl"))
    assert exported.returncode == 0, exported.stderr
    for command in (("tag", item_id, "new"), ("serve", "--port", "0"), ("doctor",)):
        done = run(library, *command)
        assert done.returncode != 0, command
        assert "read-only" in done.stdout + done.stderr
        assert "Traceback" not in done.stderr

"""The documented columns are those of the code, and the examples do as they say."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from pathlib import Path

import pytest

from pagekeep import bulk


def test_the_table_of_columns_is_what_the_code_says() -> None:
    script = Path(__file__).parents[2] / "scripts" / "update_bulk.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, f"run scripts/update_bulk.py\n{checked.stderr}"


def test_the_examples_of_the_room_do_as_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pages.jsonl").write_text(json.dumps({"url": "https://example.com/", "html": "<p>Hello, world."}) + "\n")
    tried = doctest.testmod(bulk)
    assert (tried.failed, tried.attempted) == (0, 6)

"""The fuzz targets run, what they once found stays mended, and faults are found. `make fuzz` searches for longer."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.fuzz.__main__ import fuzz, replay
from tests.fuzz.target import CASES, names

needs_atheris = pytest.mark.skipif(
    find_spec("atheris") is None, reason="atheris is not installed: no wheel for this system"
)
RUNS = 120


@needs_atheris
@pytest.mark.parametrize("name", names())
def test_a_short_search_finds_nothing(name: str, tmp_path: Path) -> None:
    run = fuzz(name, 1, tmp_path, runs=RUNS)
    assert (run.findings, run.fault) == ([], "")
    assert run.executions >= RUNS


@pytest.mark.parametrize("name", sorted(folder.name for folder in CASES.iterdir()))
def test_what_was_found_once_stays_mended(name: str) -> None:
    done = replay(name, sorted((CASES / name).iterdir()))
    assert done.returncode == 0, done.stdout[-1_000:] + done.stderr[-3_000:]


@needs_atheris
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("planted_error", "RuntimeError at planted.py:_raise"),
        ("planted_hang", "took too long"),
        ("planted_memory", "took too much memory"),
    ],
)
def test_a_fault_behind_three_comparisons_is_found_and_made_short(name: str, what: str, tmp_path: Path) -> None:
    run = fuzz(name, 4, tmp_path, runs=300_000)
    assert run.findings[0].startswith(what)
    (case, *_) = (tmp_path / name).iterdir()
    assert case.read_bytes().startswith(b"Fz!ok")
    assert replay(name, [case]).returncode != 0

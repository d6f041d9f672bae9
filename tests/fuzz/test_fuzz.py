"""The fuzz targets run, what they once found stays mended, and faults are found. `make fuzz` searches for longer."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.fuzz.__main__ import fuzz, replay
from tests.fuzz.target import CASES, load, names

needs_atheris = pytest.mark.skipif(
    find_spec("atheris") is None, reason="atheris is not installed: no wheel for this system"
)
RUNS = 120
SEARCHED = ("frontmatter",)
"""What `make test` searches; `make hostile` and `make fuzz` search them all."""


@needs_atheris
@pytest.mark.parametrize(
    "name", [name if name in SEARCHED else pytest.param(name, marks=pytest.mark.full) for name in names()]
)
def test_a_short_search_finds_nothing(name: str, tmp_path: Path) -> None:
    run = fuzz(name, 1, tmp_path, runs=RUNS)
    assert (run.findings, run.fault) == ([], "")
    assert run.executions >= RUNS


@pytest.mark.parametrize("name", names())
def test_seeds_and_what_was_found_once_are_read_without_a_fault(name: str, tmp_path: Path) -> None:
    for number, data in enumerate(load(name).seeds()):
        (tmp_path / str(number)).write_bytes(data)
    done = replay(name, [*sorted(tmp_path.iterdir()), *sorted((CASES / name).glob("*"))])
    assert done.returncode == 0, done.stdout[-1_000:] + done.stderr[-3_000:]


@needs_atheris
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("planted_error", "RuntimeError at planted.py:_raise"),
        pytest.param("planted_hang", "took too long", marks=pytest.mark.full),
        pytest.param("planted_memory", "took too much memory", marks=pytest.mark.full),
    ],
)
def test_a_fault_behind_three_comparisons_is_found_and_made_short(name: str, what: str, tmp_path: Path) -> None:
    run = fuzz(name, 4, tmp_path, runs=300_000)
    assert run.findings[0].startswith(what)
    (case, *_) = (tmp_path / name).iterdir()
    assert case.read_bytes().startswith(b"Fz!ok")
    assert replay(name, [case]).returncode != 0

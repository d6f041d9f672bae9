"""Pages that we wrote and the documents they must become.

A missing `expected.md` fails. `pytest tests/test_golden.py --rewrite-goldens` writes them again; read the diff before keeping it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pagekeep import Options, extract

FIXTURES = Path(__file__).parent / "fixtures"
CASES = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())


def document(case: str) -> str:
    meta = json.loads((FIXTURES / case / "meta.json").read_text("utf-8"))
    page = extract(
        (FIXTURES / case / "source.html").read_bytes(), meta.get("url"), options=Options(saved_at=meta.get("saved_at"))
    )
    assert page.kind == meta["kind"]
    assert page.strategy == meta["strategy"]
    return page.document


@pytest.mark.parametrize("case", CASES)
def test_a_page_becomes_the_expected_document(case: str, pytestconfig: pytest.Config) -> None:
    expected = FIXTURES / case / "expected.md"
    made = document(case)
    if pytestconfig.getoption("--rewrite-goldens"):
        expected.write_bytes(made.encode("utf-8"))
    assert expected.exists(), "no expected.md: write it with --rewrite-goldens and read it"
    assert made == expected.read_bytes().decode("utf-8")


def test_there_are_goldens_and_each_is_named_by_topic_and_case() -> None:
    assert len(CASES) >= 12
    assert all(case.count("--") == 1 for case in CASES)

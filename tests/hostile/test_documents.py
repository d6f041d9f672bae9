"""Hostile documents, in small counts; `make hostile` has the full ones."""

from __future__ import annotations

from tests.hostile.pdf_mutants import check


def test_mutated_pdf_files_give_a_page_or_a_typed_result() -> None:
    assert check(30, with_bombs=False).total() == 30

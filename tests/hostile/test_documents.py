"""Hostile documents, in small counts; `make hostile` has the full ones."""

from __future__ import annotations

import pytest

from tests.hostile.document_mutants import check
from tests.hostile.documents import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files_give_a_page_or_a_typed_result(kind: str) -> None:
    assert check(kind, 30, with_bombs=False)[0].total() == 30

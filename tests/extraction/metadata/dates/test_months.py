from __future__ import annotations

import pytest

from pagekeep.extraction.metadata.dates import MONTHS, month_number


@pytest.mark.parametrize(
    ("name", "number"),
    [("March", 3), ("MÄRZ", 3), ("marzo", 3), ("março", 3), ("марта", 3), ("maaliskuuta", 3), ("مارس", 3), ("במרץ", 3),
     ("มีนาคม", 3), ("sept", 9), ("août", 8), ("grudnia", 12), ("listopadu", 11), ("minutes", 0), ("", 0)],
)  # fmt: skip
def test_month_is_known_by_its_name_in_many_languages(name: str, number: int) -> None:
    assert month_number(name) == number


def test_no_name_means_two_months() -> None:
    assert set(MONTHS.values()) == set(range(1, 13))
    assert all(name == name.lower() for name in MONTHS)

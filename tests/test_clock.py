from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep import clock


@pytest.mark.parametrize(
    ("date", "begin", "end"),
    [
        ("2025", "2025-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.000000Z"),
        ("2024-02", "2024-02-01T00:00:00.000000Z", "2024-03-01T00:00:00.000000Z"),
        ("2024-12", "2024-12-01T00:00:00.000000Z", "2025-01-01T00:00:00.000000Z"),
        ("2024-02-29", "2024-02-29T00:00:00.000000Z", "2024-03-01T00:00:00.000000Z"),
        ("9999", "9999-01-01T00:00:00.000000Z", None),
        ("2025-03-19T10:30", "2025-03-19T10:30:00.000000Z", None),
        ("2025-03-19 10:30:05.25-05:30", "2025-03-19T16:00:05.250000Z", None),
        ("2025-03-19T10:30:00+09:00", "2025-03-19T01:30:00.000000Z", None),
    ],
)
def test_a_date_begins_and_ends(date: str, begin: str, end: str | None) -> None:
    assert (clock.begin_of(date), clock.end_of(date)) == (begin, end)


@pytest.mark.parametrize(
    "text",
    [
        *("", "soon", "25", "2025-3", "2025-13", "2025-02-30", "0000", "20250319", "2025-W12", "2025-03-19T24:00"),
        "2025-03-19T10",
        "2025-03-19T10:30+99:00",
        "0001-01-01T00:00+01:00",
        "２０２５",
        "2025 ",
        "2025-03-19T10:30 EST",
    ],
)
def test_other_texts_are_not_dates(text: str) -> None:
    assert (clock.begin_of(text), clock.end_of(text)) == (None, None)


@given(st.one_of(st.text(max_size=50), st.text("0123456789-:TZ+ .", max_size=40)))
def test_no_text_is_a_failure(text: str) -> None:
    begin, end = clock.begin_of(text), clock.end_of(text)
    assert begin is None or len(begin) == len("2025-03-19T10:30:00.000000Z")
    assert end is None or (begin is not None and begin < end)

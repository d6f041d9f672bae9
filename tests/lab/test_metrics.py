from __future__ import annotations

import pytest

from pagekeep_lab.scores import count_snippets, same_author, same_date, same_title


def test_snippets_match_letter_by_letter() -> None:
    assert count_snippets(["log in here", "Log in", "bound, please"], "homeward bound, please log in here") == 2


def test_title_is_right_whatever_its_case_and_punctuation() -> None:
    assert same_title("The ‘Blue’ Door", "the blue door!")
    assert not same_title("The Blue Door | News", "The Blue Door")
    assert not same_title(None, "The Blue Door")


def test_author_is_right_when_one_byline_contains_the_other() -> None:
    assert same_author("Ada Quist", "By Ada Quist and Bo Lind")
    assert same_author("Ada Quist & Bo Lind (staff)", "ada quist bo lind")
    assert not same_author("Bo Lind, Ada Quist", "Ada Quist, Bo Lind")
    assert not same_author("Ada Holm", "Ada Quist")
    assert not same_author(None, "Ada Quist")


@pytest.mark.parametrize(
    ("found", "gold", "right"),
    [
        ("2024-05-06T10:00:00Z", "2024-05-06", True),
        ("2024-05-06", "2024-05-06T23:00:00+02:00", True),
        ("2024-05-06", "2024-05", True),
        ("2024-05", "2024-05-06", False),
        ("2024-05-07", "2024-05-06", False),
        (None, "2024-05-06", False),
        ("soon", "2024-05-06", False),
    ],
)
def test_date_is_right_to_the_day(found: str | None, gold: str, right: bool) -> None:
    assert same_date(found, gold) is right

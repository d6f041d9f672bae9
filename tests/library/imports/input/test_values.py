from __future__ import annotations

import pytest

from pagekeep.library.imports.input.row import (
    RowAnnotation,
    parse_annotations,
    parse_bool,
    parse_names,
    parse_publication_date,
    parse_text,
    parse_time,
)


@pytest.mark.parametrize(
    "value",
    [
        1_300_000_000,
        1_300_000_000.0,
        "1300000000",
        " 1300000000 ",
        1_300_000_000_000,
        "1300000000000000",
        "2011-03-13T07:06:40Z",
        "2011-03-13T07:06:40+0000",
        "2011-03-13 07:06:40+00:00",
        "2011-03-13T08:06:40+01:00",
        "2011-03-13 07:06:40",
        "2011-03-13 07:06:40 UTC",
    ],
)
def test_moments_are_read_in_every_form(value: object) -> None:
    assert parse_time(value) == "2011-03-13T07:06:40.000000Z"


@pytest.mark.parametrize(
    "value",
    [None, "", 0, "0", -5, True, "never", "2011-13-45", "1e400", float("inf"), float("nan"), 10**30, [], {}, "1" * 80],
)
def test_what_is_not_a_moment_is_none(value: object) -> None:
    assert parse_time(value) is None


def test_a_time_beyond_the_calendar_is_none() -> None:
    assert parse_time("9999-12-31T23:59:59-10:00") is None


def test_days_are_read_as_people_write_them() -> None:
    assert {parse_time(said) for said in ("2011-03-13", "03/13/2011", "March 13, 2011", "Mar 13, 2011")} == {
        "2011-03-13T00:00:00.000000Z"
    }


def test_a_published_day_stays_a_day() -> None:
    assert parse_publication_date("2010-01-02T00:00:00.000Z") == "2010-01-02"
    assert parse_publication_date("2010-01-02T10:30:00Z") == "2010-01-02T10:30:00Z"


def test_yes_and_no_come_in_many_words() -> None:
    assert [parse_bool(value) for value in (True, 1, "1", "True", "yes", "x")] == [True] * 6
    assert [parse_bool(value) for value in (False, 0, "0", "False", "no", "", None)] == [False] * 7


@pytest.mark.parametrize(
    ("value", "separator"),
    [
        ("fog, tide tables", ","),
        ("fog|tide tables", "|"),
        ('["fog", "tide tables"]', ","),
        ("['fog', 'tide tables']", ","),
        (["fog", "tide tables", None, 7.5j], ","),
        ([{"name": "fog"}, {"label": "tide tables"}, {}], ","),
    ],
)
def test_tags_are_read_in_every_form(value: object, separator: str) -> None:
    assert parse_names(value, separator) == ("fog", "tide tables")


def test_quotes_in_a_python_list_are_kept() -> None:
    assert parse_names(r"""["it's", 'a \'b\'']""") == ("it's", "a 'b'")


def test_a_list_that_never_ends_does_no_harm() -> None:
    assert parse_names("[" * 40_000 + "]") == ()
    assert parse_names("['" + "\\" * 40_000 + "]") == ()


def test_what_is_not_text_is_empty() -> None:
    assert [parse_text(value) for value in (None, True, [], {}, " a ", 7)] == ["", "", "", "", "a", "7"]


def test_passages_go_by_many_names() -> None:
    given = [
        {"quote": "a", "text": "said", "created_at": "2011-03-13T07:06:40Z"},
        {"content": "b", "note": "n", "color": "blue", "time": 1_300_000_000},
        {"text": "c", "annotation": "m"},
        {"text": ""},
        "no object",
    ]
    when = "2011-03-13T07:06:40.000000Z"
    assert parse_annotations(given) == (
        RowAnnotation("a", "said", when),
        RowAnnotation("b", "n", when, "blue"),
        RowAnnotation("c", "m"),
    )
    assert parse_annotations("nothing") == ()

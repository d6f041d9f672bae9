from __future__ import annotations

from pagekeep.library.imports.input.records import Record, read_columns, read_records
from pagekeep.library.imports.input.row import Fault
from tests.library.imports.conftest import source


def read(text: str) -> list[tuple[int, dict[str, str]]]:
    return [(found.place.line, dict(found.fields)) for found in read_records(source(text)) if isinstance(found, Record)]


def test_records_know_the_line_they_begin_on() -> None:
    assert read('A,b\n1,"two\nlines"\n\n3,4\n') == [(2, {"a": "1", "b": "two\nlines"}), (5, {"a": "3", "b": "4"})]


def test_missing_cells_are_empty_and_spare_ones_passed_over() -> None:
    found = [record for record in read_records(source("a,b\n1\n1,2,3\n")) if isinstance(record, Record)]
    assert [(record["a"], record["b"], record["c"]) for record in found] == [("1", "", ""), ("1", "2", "")]


def test_the_delimiter_is_seen() -> None:
    assert read_columns("URL;Title, with comma;Tags") == ("url", "title, with comma", "tags")
    assert read_columns("url\ttitle\n") == ("url", "title")
    assert read_columns("just one line of text") == ()


def test_a_quote_that_is_never_closed_costs_no_more_than_its_field() -> None:
    rows = "".join(f"{number},{'x' * 100}\n" for number in range(30_000))
    found = list(read_records(source(f'a,b\n1,2\n3,"open\n{rows}')))
    faults = [fault for fault in found if isinstance(fault, Fault)]
    assert [str(fault.place) for fault in faults] == ["line 3, entry 2"]
    assert len(found) > 10_000


def test_a_quote_that_is_never_closed_hides_no_row() -> None:
    found = list(read_records(source('a,b\n1,2\n3,"open\n5,6\n7,8\n')))
    assert [type(each).__name__ for each in found] == ["Record", "Fault", "Record", "Record"]
    assert [str(each.place) for each in found] == [
        "line 2, entry 1",
        "line 3, entry 2",
        "line 4, entry 2",
        "line 5, entry 3",
    ]


def test_a_quote_that_is_closed_by_a_later_row_hides_no_row() -> None:
    found = read('a,b\n1,"open\n5,6\n7,8\n9,"ten, or so"\n')
    assert [fields["a"] for _, fields in found] == ["5", "7", "9"]


def test_nul_and_lone_surrogates_do_no_harm() -> None:
    assert read("a,b\n1\x00,2\ud800\n")[0][0] == 2

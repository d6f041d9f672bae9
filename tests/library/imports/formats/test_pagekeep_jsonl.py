"""Our own lines of JSON as an import: recognised, and every bad line told."""

from __future__ import annotations

import json

from pagekeep.store import Store
from tests.library.exports.making import make_item
from tests.library.imports.conftest import Bring, everything


def line(number: int, **changes: object) -> str:
    from pagekeep.library.exports.jsonl import write_line

    return json.dumps({**json.loads(write_line(make_item(number, "other"))), **changes})


def test_a_file_is_recognised_and_bad_lines_are_told_with_their_number(bring: Bring, library: Store) -> None:
    report = bring(
        "\n".join([line(0), "", '{"pagekeep": 1, "half', line(1), line(2, url="ftp://x"), line(3)]), "library.txt"
    )
    assert (report.added, report.failed, report.formats) == (3, 2, {"pagekeep": 5})
    assert [place for place, _, _ in report.failures] == ["line 3, entry 3", "line 5, entry 5"]
    assert {item.user_id for item in everything(library).values()} == {"keeper"}


def test_an_id_that_is_taken_by_another_page_does_not_touch_it(bring: Bring, library: Store) -> None:
    bring(line(0))
    (first,) = everything(library).values()
    bring(line(1, id=first.id))
    found = everything(library)
    assert len({item.id for item in found.values()}) == 2
    assert found[first.url] == first

"""Our own lines of JSON as an import: recognised, and every bad line reported."""

from __future__ import annotations

import json

from pagekeep.store import Store
from tests.library.exports.making import make_item
from tests.library.imports.conftest import Bring, everything


def line(number: int, **changes: object) -> str:
    from pagekeep.library.exports.jsonl import write_line

    return json.dumps({**json.loads(write_line(make_item(number, "other"))), **changes})


def test_a_file_is_recognised_and_bad_lines_are_reported_with_their_number(bring: Bring, library: Store) -> None:
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


def test_what_the_api_would_refuse_is_not_stored(bring: Bring, library: Store) -> None:
    hostile = {"url_full": "javascript:alert(1)", "title": "t" * 50_000, "published_at": "x" * 5_000}
    report = bring(line(0, **hostile, metadata={"hero_image": "javascript:x", "tags": ["t" * 900] * 2}))
    (item,) = everything(library).values()
    assert (report.added, item.url_full, len(item.title)) == (1, item.url, 10_000)
    assert (item.metadata.hero_image, item.published_at, item.metadata.tags) == (None, None, ("t" * 200,))


def test_times_that_no_calendar_has_are_reported_with_their_line(bring: Bring, library: Store) -> None:
    lines = [line(0, saved_at="9999-12-31T23:59:59-10:00"), line(1, saved_at="0001-01-01T00:00:00+10:00"), line(2)]
    report = bring("\n".join([*lines, line(3, metadata={"x": 7}).replace(": 7", ": 1e999"), line(4, annotations=True)]))
    assert (report.added, report.failed) == (1, 4)

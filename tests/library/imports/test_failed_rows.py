from __future__ import annotations

import io

import pytest

from pagekeep.library.imports.formats import own_files
from pagekeep.library.imports.input.row import Fault, Place, Row, RowAnnotation
from pagekeep.store import Store
from tests.library.imports.conftest import Bring, everything, source

ROW = Row(
    Place(1, 1),
    url="exmaple",
    title="Über \u2028 alles",
    saved_at="2011-03-13T07:06:40.000000Z",
    published_at="2010-01-02",
    opened_at="2012-03-13T07:06:40.000000Z",
    author="Ada",
    description="About",
    language="de",
    image="https://example.com/a.png",
    tags=("a, b", "c"),
    archived=True,
    pinned=True,
    note="Mine",
    annotations=(RowAnnotation("q", "n", "2011-03-13T07:06:40.000000Z", "blue"),),
    content="<p>Words</p>",
    source="wallabag",
)


def test_a_row_comes_back_from_its_line_whole() -> None:
    line = own_files.format_failed(Fault(ROW.place, "No address.", row=ROW), "other")
    assert list(own_files.read_failed(source(line + "\n"))) == [ROW]
    assert "\n" not in line


def test_rows_that_failed_can_be_mended_and_imported(library: Store, bring: Bring) -> None:
    out = io.StringIO()
    report = bring(
        "title,url,time_added,tags,status\nGood,https://example.com/1,1300000000,a,unread\nBad,exmaple/2,1300000000,b,archive\n",
        failed=out,
    )
    assert (report.added, report.failed) == (1, 1)
    assert report.failures[0][0] == "line 3, entry 2"
    again = bring(out.getvalue(), failed=io.StringIO())
    assert (again.failed, again.formats) == (1, {"failed": 1})
    mended = bring(out.getvalue().replace("exmaple/2", "https://example.com/2"))
    assert (mended.added, mended.failed) == (1, 0)
    item = everything(library)["https://example.com/2"]
    assert (item.title, item.source, list(item.metadata.tags)) == ("Bad", "import:pocket", ["b"])
    assert item.metadata.archived is True
    assert item.saved_at.startswith("2011-03-13")


@pytest.mark.parametrize("line", ["{", "[]", "7", "{" * 100_000])
def test_a_line_that_is_not_an_object_is_a_fault(line: str) -> None:
    assert [type(found) for found in own_files.read_failed(source(line))] == [Fault]

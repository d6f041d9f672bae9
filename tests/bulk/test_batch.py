"""Columns in, columns out."""

from __future__ import annotations

import math
import os
import signal
from pathlib import Path

import pytest

from pagekeep import bulk
from tests.bulk.making import page


def test_a_batch_gives_a_row_for_each_page_in_order() -> None:
    urls = ["https://example.com/1", None, math.nan, ""]
    batch = {"url": urls, "html": [page(1), page(2).encode(), None, "<p>Few words."]}
    made = bulk.extract_batch(batch, columns=("url", "title", "error_type"))
    assert list(made) == ["url", "title", "error_type"]
    assert made["title"] == ["Page 1", "Page 2", None, None]
    assert made["url"] == ["https://example.com/1", None, None, None]
    assert made["error_type"] == [None, None, "ParseError", None]


def test_other_names_and_no_addresses_will_do() -> None:
    made = bulk.extract_batch({"raw": [page(3)]}, html="raw", columns=("title",))
    assert made == {"title": ["Page 3"]}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_that_was_forked_has_its_own_child(tmp_path: Path) -> None:
    bulk.extract_batch({"html": [page(1)]}, columns=("title",))
    pid = os.fork()
    if pid == 0:  # the child of the test
        signal.alarm(30)
        made = bulk.extract_batch({"html": [page(2)]}, columns=("title",))
        (tmp_path / "made").write_text(str(made["title"]))
        os._exit(0)
    os.waitpid(pid, 0)
    assert (tmp_path / "made").read_text() == "['Page 2']"
    assert bulk.extract_batch({"html": [page(4)]}, columns=("title",)) == {"title": ["Page 4"]}


def test_a_data_frame_will_do() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"url": ["https://example.com/", None], "html": [page(5), None]})
    made = bulk.extract_batch(frame, columns=("url", "title", "words"))
    assert (made["title"], made["words"][1]) == (["Page 5", None], None)
    assert pandas.DataFrame(made)["url"][0] == "https://example.com/"


def test_an_empty_batch_gives_empty_columns() -> None:
    assert bulk.extract_batch({"url": [], "html": []}, columns=("url", "words")) == {"url": [], "words": []}

"""The files that a crawl writes, as other programs of ours read them."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet

from pagekeep import bulk
from pagekeep.library.crawl.crawls import read_pages
from tests.library.crawl.conftest import Crawled, Write


def test_bulk_reads_the_archive_of_a_crawl(crawled: Crawled, write: Write, tmp_path: Path) -> None:
    archive, out = tmp_path / "crawl.warc.gz", tmp_path / "out"
    written = write(crawled.library, crawled.crawl, "warc", archive)
    report = bulk.run(bulk.Plan(bulk.find_files([str(archive)]), out, workers=1))
    rows = [row for part in sorted(out.glob("part-*.parquet")) for row in pyarrow.parquet.read_table(part).to_pylist()]
    assert report.counts.records == written == len(rows)
    stored = {page.requested: page.content for page in read_pages(crawled.library, crawled.crawl.id)}
    assert {row["url"] for row in rows} == set(stored)
    assert all(row["title"] == stored[row["url"]]["title"] for row in rows)
    assert all(row["markdown"] == stored[row["url"]]["markdown"] for row in rows)

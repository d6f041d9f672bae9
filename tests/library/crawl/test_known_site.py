"""The pages of a crawl, as written with what is known about their site."""

from __future__ import annotations

import json
from pathlib import Path

from pagekeep.library.crawl.crawls import read_pages
from tests.library.crawl.conftest import Crawled, Write

SHARED = "Tell a friend about these pages"


def test_jsonl_leaves_out_what_the_pages_share(crawled: Crawled, write: Write, tmp_path: Path) -> None:
    stored = {page.url: page.content["markdown"] for page in read_pages(crawled.library, crawled.crawl.id)}
    assert write(crawled.library, crawled.crawl, "jsonl", tmp_path / "pages") == len(stored)
    lines = [json.loads(line) for line in (tmp_path / "pages").read_text("utf-8").splitlines()]
    assert [line["url"] for line in lines] == list(stored)
    assert any(SHARED in markdown for markdown in stored.values())
    assert not [line["url"] for line in lines if SHARED in line["markdown"]]
    changed = [line for line in lines if line["markdown"] != stored[line["url"]]]
    assert all(line["title"] and line["breadcrumbs"] is not None for line in changed)

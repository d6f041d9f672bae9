"""Copies of a saved page: made by a real browser, kept by hash, and there when the site has gone."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.errors import NotFound, ParseError, UnsupportedContent
from pagekeep.library.archive.copies import (
    copies_job,
    list_copies,
    make_copies,
    read_copy,
    request_configured,
    request_copies,
)
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.save import save
from pagekeep.store import Store, open_store
from tests.site.fixtures import Shore, article
from tests.store.making import make_item, make_raw


@pytest.mark.usefixtures("a_browser")
def test_all_copies_are_made_and_kept(shore: Shore, settings: Settings, tmp_path: Path) -> None:
    shore.bodies["a"] = article(300, extra="<h2>Tides</h2><script>document.title = 'ran'</script><img src=/page/none>")

    async def run(store: Store) -> str:
        async with Retrieval(settings) as retrieval:
            saved = await save(SaveRequest(Request(shore.url("a"), render="never")), store, retrieval)
            shore.bodies["a"] = "<p>Something else now."
            report = await make_copies(saved.item.id, ("html", "pdf", "screenshot"), store, retrieval)
            assert set(report.made) == {"screenshot", "pdf", "html"}
            assert report.missing == (shore.url("none"),)
            done = await copies_job(request_copies(store, saved.item, ("pdf",)), store, retrieval, lambda _stage: None)
            assert done.report is not None
            assert set(done.report["made"]) == {"pdf"}
            return saved.item.id

    with closing(open_store(tmp_path / "library.db")) as store:
        item_id = asyncio.run(asyncio.wait_for(run(store), 120))
        screenshot, pdf, html = (read_copy(store, item_id, kind) for kind in ("screenshot", "pdf", "html"))
        assert screenshot.startswith(b"\x89PNG")
        assert pdf.startswith(b"%PDF-")
        assert b"/Outlines" in pdf
        assert b"The keeper counts the ships" in html
        assert b"<script" not in html
        assert len(list_copies(store, item_id)) == 3
        assert store.check() == []


def test_settings_ask_for_copies_of_good_pages_once(tmp_path: Path, settings: Settings) -> None:
    wanted = replace(settings, keep=("pdf", "html"))
    with closing(open_store(tmp_path / "library.db")) as store:
        good = store.items.save(make_item(1, quality="article"), make_raw())
        poor = store.items.save(make_item(2, quality="bookmark"), make_raw())
        job = request_configured(store, good, wanted, changed=True)
        assert job is not None
        assert job.options["kinds"] == ["pdf", "html"]
        assert request_configured(store, good, settings, changed=True) is None
        assert request_configured(store, poor, wanted, changed=True) is None


def test_page_without_html_is_refused(tmp_path: Path, settings: Settings) -> None:
    async def run(store: Store, key: str) -> None:
        async with Retrieval(settings) as retrieval:
            await make_copies(key, ("pdf",), store, retrieval)

    with closing(open_store(tmp_path / "library.db")) as store:
        bare = store.items.save(make_item(1), None).id
        plain = store.items.save(make_item(2), replace(make_raw(), content_type="text/plain")).id
        with pytest.raises(NotFound):
            asyncio.run(run(store, bare))
        with pytest.raises(UnsupportedContent):
            asyncio.run(run(store, plain))
        with pytest.raises(NotFound):
            read_copy(store, bare, "html")


def test_unknown_kind_in_the_settings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from pagekeep import config

    with pytest.raises(ParseError):
        config.load({"keep": ["video"]})
    assert config.load({"keep": ["pdf"]}).keep == ("pdf",)

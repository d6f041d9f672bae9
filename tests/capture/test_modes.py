"""Saving by mode: here, by a remote reader, by both, or by the reader where we fail; on real servers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from pagekeep.capture.from_url import Request as Wanted
from pagekeep.capture.from_url import Retrieval
from pagekeep.capture.modes import comparison_summary, latest_comparisons, log_path, read_log
from pagekeep.capture.uploads import sent_page
from pagekeep.config import Settings
from pagekeep.errors import FetchHttpError, ParseError
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.reparse import reparse
from pagekeep.library.saving.save import save
from pagekeep.model import SaveResult
from pagekeep.rules import Rulebook
from pagekeep.store import Store
from tests.site.fixtures import BARE, SENTENCE, Shore, article
from tests.site.server import Reply, Request, Site

TEXT = "\n\n".join([f"## Watch {n}\n\n{SENTENCE * 4}[Log {n}](https://example.com/log/{n})" for n in range(4)])


class Far:
    """A remote reader that knows one text for every page, and what it was asked."""

    def __init__(self, site: Site) -> None:
        self.site, self.pages, self.status, self.text = site, list[str](), 200, TEXT

    @property
    def url(self) -> str:
        return self.site.url("/r/")


@pytest.fixture
def far() -> Iterator[Far]:
    async def answer(request: Request, reply: Reply) -> None:
        page = unquote(request.target.removeprefix("/r/"))
        far.pages.append(page)
        said = f"Title: The far keeper\n\nURL Source: {page}\n\nPublished Time: 2025-03-19T10:30:00Z\n\nMarkdown Content:\n"
        await reply.send(said + far.text, status=far.status, content_type="text/plain; charset=utf-8")

    with Site({"r": answer}) as site:
        far = Far(site)
        yield far


def keep(settings: Settings, library: Store, url: str, **how: object) -> SaveResult:
    async def one() -> SaveResult:
        async with Retrieval(settings, Rulebook(())) as retrieval:
            return await save(SaveRequest(Wanted(url, render="never"), **how), library, retrieval)  # type: ignore[arg-type]

    return asyncio.run(one())


@pytest.fixture
def modes(settings: Settings, far: Far, tmp_path: Path) -> Settings:
    return replace(settings, remote_url=far.url, library=str(tmp_path / "library.db"), retries=0)


def test_in_the_mode_local_a_reader_that_is_configured_is_not_asked(
    modes: Settings, library: Store, shore: Shore, far: Far
) -> None:
    shore.bodies["a"] = BARE
    keep(modes, library, shore.url("a"))
    with pytest.raises(FetchHttpError):
        keep(modes, library, shore.url("gone"))
    assert far.pages == []


@pytest.mark.parametrize("mode", ["remote", "compare", "fallback"])
def test_a_mode_without_a_reader_is_refused_before_anything_is_fetched(
    settings: Settings, library: Store, shore: Shore, mode: str
) -> None:
    shore.bodies["a"] = article(300)
    with pytest.raises(ParseError, match="needs a remote reader"):
        keep(replace(settings, mode=mode), library, shore.url("a"))  # type: ignore[arg-type]
    assert shore.site.asked("/page/a") == 0


def test_in_the_mode_remote_the_readers_markdown_is_stored_under_our_frontmatter(
    modes: Settings, library: Store, shore: Shore, far: Far
) -> None:
    item = keep(replace(modes, mode="remote"), library, shore.url("a"), tags=("harbour",)).item
    assert (item.title, item.source, item.published_at) == ("The far keeper", "remote", "2025-03-19T10:30:00Z")
    assert item.metadata.quality == "simplified"
    assert "title: The far keeper" in item.content
    assert TEXT in item.content
    assert far.pages == [shore.url("a")]
    assert shore.site.asked("/page/a") == 0


def test_what_a_reader_gave_can_be_read_again(modes: Settings, library: Store, shore: Shore, far: Far) -> None:
    item = keep(replace(modes, mode="remote"), library, shore.url("a")).item
    assert [done.outcome for done in reparse(library, [item.id], Rulebook(()))] == ["unchanged"]
    assert library.items.get(item.id).title == "The far keeper"


def test_a_page_that_is_sent_to_us_goes_to_no_reader(modes: Settings, library: Store, far: Far) -> None:
    page = sent_page("https://example.com/private", article(300))
    for mode in ("remote", "compare", "fallback"):
        saved = keep(replace(modes, mode=mode), library, "https://example.com/private", uploaded=page)  # type: ignore[arg-type]
        assert saved.item.source == "html"
    assert far.pages == []


def test_the_fallback_is_asked_only_where_we_fail(modes: Settings, library: Store, shore: Shore, far: Far) -> None:
    fallback = replace(modes, mode="fallback")
    shore.bodies.update(good=article(300), bare=BARE)
    assert keep(fallback, library, shore.url("good")).item.source == "web"
    assert far.pages == []
    by_words = keep(fallback, library, shore.url("bare"))
    by_status = keep(fallback, library, shore.url("gone"))
    assert (by_words.item.source, by_status.item.source) == ("remote", "remote")
    assert by_status.warnings[0].code == "read_remotely"
    assert far.pages == [shore.url("bare"), shore.url("gone")]


def test_when_the_fallback_fails_too_our_own_failure_is_reported(
    modes: Settings, library: Store, shore: Shore, far: Far
) -> None:
    far.status = 500
    fallback = replace(modes, mode="fallback")
    with pytest.raises(FetchHttpError) as error:
        keep(fallback, library, shore.url("gone"))
    assert error.value.status == 404
    assert any("remote reader" in suggestion for suggestion in error.value.suggestions)
    assert error.value.item_id is not None
    shore.bodies["bare"] = BARE
    kept = keep(fallback, library, shore.url("bare"))
    assert (kept.item.source, kept.item.metadata.quality) == ("web", "bookmark")
    assert kept.warnings[0].code == "not_read_remotely"


def test_the_mode_compare_stores_ours_and_logs_both(modes: Settings, library: Store, shore: Shore, far: Far) -> None:
    both = replace(modes, mode="compare")
    shore.bodies["a"] = article(300, extra='<p>See <a href="https://example.com/log/1">the log</a> of the day.</p>')
    item = keep(both, library, shore.url("a")).item
    assert (item.source, item.title) == ("web", "The keeper")
    (entry,) = read_log(log_path(both))
    assert (entry.url, entry.ours.title, entry.theirs.title) == (shore.url("a"), "The keeper", "The far keeper")
    assert entry.theirs.markdown.strip() == TEXT
    assert entry.similarity is not None
    assert 0.5 < entry.similarity < 1
    assert (entry.coverage_links, entry.missing_links, entry.extra_links) == (0.25, 3, 0)
    assert entry.coverage_words is not None
    assert 0.8 < entry.coverage_words < 1


def test_failures_of_either_side_are_logged_and_only_ours_counts(
    modes: Settings, library: Store, shore: Shore, far: Far
) -> None:
    both = replace(modes, mode="compare")
    shore.bodies["a"] = article(300)
    with pytest.raises(FetchHttpError):
        keep(both, library, shore.url("gone"))
    far.status = 500
    assert keep(both, library, shore.url("a")).outcome == "added"
    reported = comparison_summary(latest_comparisons(read_log(log_path(both))))
    assert (reported["pages"], reported["compared"], reported["failed_here"], reported["failed_there"]) == (2, 0, 1, 1)


def test_an_answer_without_content_is_a_failure(modes: Settings, library: Store, shore: Shore, far: Far) -> None:
    far.text = " \n"
    with pytest.raises(ParseError, match="no content"):
        keep(replace(modes, mode="remote"), library, shore.url("a"))

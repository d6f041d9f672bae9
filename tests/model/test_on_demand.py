"""Fields that are made when they are first read."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from pagekeep import Options, TooLarge, extract
from pagekeep.capture.extract import ReadTask
from pagekeep.capture.uploads import sent_page
from pagekeep.config import Settings
from pagekeep.model import MADE_FIELDS, Link, Media, Page, PageWarning, on_demand
from pagekeep.model.on_demand import OnDemand
from pagekeep.workers import PAGE, wire
from pagekeep.workers.task import run_sealed, seal

HTML = (
    "<h1>Tea</h1>" + "<p>Some words on tea, with <a href='/b'>a link</a> and <img src='/c.png' alt='a cup'>.</p>" * 40
)
ADDRESS = "https://example.org/tea"


def held(page: Page, name: str) -> Any:
    """Return what a field holds now, without reading it."""
    return vars(Page)[name].slot.__get__(page)


def test_fields_are_made_when_they_are_read_and_once() -> None:
    page = extract(HTML, ADDRESS)
    assert page.html.startswith("<h1>Tea</h1>")
    assert isinstance(held(page, "links"), OnDemand)
    links = page.links
    assert links == (Link("https://example.org/b", "a link"),)
    assert held(page, "links") is links is page.links
    assert page.media == (Media("image", "https://example.org/c.png", "a cup"),)


def test_copies_and_pickles_are_equal_whether_read_or_not() -> None:
    page = extract(HTML, ADDRESS)
    copies = [page.with_document("x"), pickle.loads(pickle.dumps(page)).with_document("x")]
    assert all(isinstance(held(copied, "links"), OnDemand) for copied in (page, *copies))
    assert copies[0] == copies[1] == replace(page, document="x")
    assert pickle.loads(pickle.dumps(page)) == page


def test_adding_warnings_reads_nothing() -> None:
    page = extract(HTML, ADDRESS).with_warnings(PageWarning("encoding", "a text"))
    assert page.trace.warnings[-1].code == "encoding"
    assert isinstance(held(page, "media"), OnDemand)


def test_links_that_cannot_be_listed_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: Any) -> None:
        raise KeyError("princess")

    page = extract(HTML, ADDRESS)
    monkeypatch.setattr("pagekeep.extraction.output.result_parts.list_links", fail)
    assert page.links == ()
    assert page.media


def test_a_page_can_be_made_with_values() -> None:
    page = replace(extract(HTML, ADDRESS), html="<p>a</p>", links=())
    assert (page.html, page.links) == ("<p>a</p>", ())


def test_only_html_that_is_needed_counts_as_part_of_a_result() -> None:
    page = sent_page(ADDRESS, HTML + f"<pre>{'&' * 500_000}</pre>")
    limits = replace(PAGE, result_bytes=2_500_000)
    text, html = (
        seal(ReadTask(page, Options(saved_at="2025-03-19T10:30:00Z", needs=needs), Settings()), limits)
        for needs in ((), MADE_FIELDS)
    )
    sent = wire.from_pieces(run_sealed(text), wire.codec_of(Page))
    assert len(sent.markdown) > 500_000
    with pytest.raises(RuntimeError, match="must be made in a worker"):
        sent.html  # noqa: B018
    with pytest.raises(TooLarge, match="The result has more than 2 MB"):
        run_sealed(html)


def test_a_field_cannot_be_read_in_a_process_that_refuses_to_make_it(monkeypatch: pytest.MonkeyPatch) -> None:
    page, made = extract(HTML, ADDRESS).make(()), extract(HTML, ADDRESS).make(MADE_FIELDS)
    monkeypatch.setattr(on_demand, "_refused", False)
    on_demand.refuse_to_make()
    assert "a link" in page.with_document("x").markdown
    for name in MADE_FIELDS:
        assert getattr(made, name)
        with pytest.raises(RuntimeError, match="must be made in a worker"):
            getattr(page, name)

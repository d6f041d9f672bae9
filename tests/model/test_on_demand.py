"""Fields that are made when they are first read."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from pagekeep import extract
from pagekeep.model import Link, Media, Page, PageWarning
from pagekeep.model.on_demand import OnDemand

HTML = (
    "<h1>Tea</h1>" + "<p>Some words on tea, with <a href='/b'>a link</a> and <img src='/c.png' alt='a cup'>.</p>" * 40
)
ADDRESS = "https://example.org/tea"


def held(page: Page, name: str) -> Any:
    """Return what a field holds now, without reading it."""
    return vars(Page)[name].slot.__get__(page)


def test_fields_are_made_when_they_are_read_and_once() -> None:
    page = extract(HTML, ADDRESS)
    assert isinstance(held(page, "html"), OnDemand)
    html = page.html
    assert html.startswith("<h1>Tea</h1>")
    assert held(page, "html") is html is page.html
    assert page.links == (Link("https://example.org/b", "a link"),)
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
    monkeypatch.setattr("pagekeep.extraction.output.references.links", fail)
    assert page.links == ()
    assert page.media


def test_a_page_can_be_made_with_values() -> None:
    page = replace(extract(HTML, ADDRESS), html="<p>a</p>", links=())
    assert (page.html, page.links) == ("<p>a</p>", ())

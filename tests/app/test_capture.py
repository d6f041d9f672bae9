"""A page from its address, through the real client and the real browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pagekeep.app.capture import Captured
from pagekeep.config import Settings
from pagekeep.errors import BlockedAddress, FetchHttpError, RenderError
from tests.site.server import Site

Get = Callable[..., Captured]

needs_chromium = pytest.mark.usefixtures("a_browser")


def test_a_static_page_is_fetched_and_read_without_a_browser(get: Get, harbour: Site) -> None:
    captured = get(harbour.url("/article"))
    assert captured.page.metadata.title == "The keeper"
    assert captured.page.quality.level == "article"
    assert not captured.fetched.rendered


def test_the_address_after_redirects_is_the_source(get: Get, harbour: Site) -> None:
    captured = get(harbour.url("/article"))
    assert f"source: {captured.fetched.final_url}" in captured.page.document


@needs_chromium
def test_an_empty_app_is_rendered_once_it_says_so(get: Get, harbour: Site) -> None:
    captured = get(harbour.url("/app"))
    assert captured.fetched.rendered
    assert captured.page.quality.level == "article"
    assert "puts the kettle on" in captured.page.markdown


def test_an_empty_app_is_a_bookmark_when_it_must_not_be_rendered(get: Get, harbour: Site) -> None:
    captured = get(harbour.url("/app"), render="never")
    assert captured.page.strategy == "bookmark"
    assert captured.page.need_render is not None


@needs_chromium
def test_force_renders_a_page_that_does_not_need_it(get: Get, harbour: Site) -> None:
    assert get(harbour.url("/article"), render="force").fetched.rendered


def test_without_a_browser_the_static_page_is_used_and_the_trace_says_why(
    get: Get, harbour: Site, settings: Settings
) -> None:
    captured = get(harbour.url("/app"), using=replace(settings, chromium="/nowhere/chromium"))
    assert captured.page.strategy == "bookmark"
    assert any(note.startswith("not rendered") for note in captured.page.trace.notes)


def test_force_without_a_browser_is_an_error_with_a_next_step(get: Get, harbour: Site, settings: Settings) -> None:
    with pytest.raises(RenderError) as raised:
        get(harbour.url("/app"), render="force", using=replace(settings, chromium="/nowhere/chromium"))
    assert raised.value.suggestions


def test_a_wall_that_came_with_an_error_names_the_next_step(get: Get, harbour: Site) -> None:
    with pytest.raises(FetchHttpError) as raised:
        get(harbour.url("/wall"))
    assert raised.value.status == 403
    assert any("browser" in suggestion.lower() for suggestion in raised.value.suggestions)


def test_plain_text_is_kept_as_it_is(get: Get, harbour: Site) -> None:
    page = get(harbour.url("/plain")).page
    assert page.markdown == "# Log\n\n*wind*   north\n"
    assert page.metadata.title == "Log"
    assert page.strategy == "verbatim"


def test_headers_and_cookies_of_the_caller_are_sent(get: Get, harbour: Site) -> None:
    page = get(harbour.url("/echo"), headers={"X-Harbour": "east"}, cookies={"berth": "seven"}).page
    assert "x-harbour is east" in page.text.lower()
    assert "berth=seven" in page.text


def test_a_private_address_is_refused_unless_the_owner_allows_it(get: Get, harbour: Site, settings: Settings) -> None:
    with pytest.raises(BlockedAddress):
        get(harbour.url("/article"), using=replace(settings, allow_hosts=()))

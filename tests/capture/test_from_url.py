"""A page from its address, through the real client and the real browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pagekeep.capture.from_url import Captured
from pagekeep.config import Settings
from pagekeep.errors import BlockedAddress, FetchHttpError, RenderError, UnsupportedContent
from pagekeep.markdown import write_document
from pagekeep.rules import Rulebook
from pagekeep.rules.rule import DomTrigger, Rendering, Trigger
from tests.capture.documents.samples import PDF, TEXT
from tests.site.fixtures import Shore, book
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
    assert f"source: {captured.fetched.final_url}" in write_document(captured.page)


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
    assert any(warning.code == "not_rendered" for warning in captured.page.trace.warnings)


def test_force_without_a_browser_is_an_error_with_a_next_step(get: Get, harbour: Site, settings: Settings) -> None:
    with pytest.raises(RenderError) as raised:
        get(harbour.url("/app"), render="force", using=replace(settings, chromium="/nowhere/chromium"))
    assert raised.value.suggestions


def test_a_wall_that_came_with_an_error_names_the_next_step(get: Get, harbour: Site) -> None:
    with pytest.raises(FetchHttpError) as raised:
        get(harbour.url("/wall"))
    assert raised.value.status == 403
    assert any("browser" in suggestion.lower() for suggestion in raised.value.suggestions)


@needs_chromium
def test_a_pdf_that_the_browser_does_not_show_is_read_from_its_file(get: Get, shore: Shore) -> None:
    shore.bodies["harbour.pdf"] = PDF
    captured = get(shore.url("harbour.pdf"), render="force")
    assert (captured.page.markdown, captured.fetched.rendered) == (TEXT, False)
    shore.bodies["harbour.bin"] = b"\0\1"
    with pytest.raises(UnsupportedContent):
        get(shore.url("harbour.bin"), render="force")


def test_text_that_is_markdown_is_kept_as_it_is(get: Get, harbour: Site) -> None:
    page = get(harbour.url("/plain")).page
    assert page.markdown == "# Log\n\n*wind*   north\n"
    assert page.metadata.title == "Log"
    assert page.strategy == "document"


def test_headers_and_cookies_of_the_caller_are_sent(get: Get, harbour: Site) -> None:
    page = get(harbour.url("/echo"), headers={"X-Harbour": "east"}, cookies={"berth": "seven"}).page
    assert "x-harbour is east" in page.text.lower()
    assert "berth=seven" in page.text


def test_a_private_address_is_refused_unless_the_owner_allows_it(get: Get, harbour: Site, settings: Settings) -> None:
    with pytest.raises(BlockedAddress):
        get(harbour.url("/article"), using=replace(settings, allow_hosts=()))


# What rules say about rendering.

FORCED = book(rendering=Rendering("force"))
NEVER = book(rendering=Rendering("never"))
BROWSERLESS = "/nowhere/chromium"


@needs_chromium
def test_a_rule_for_the_host_can_force_the_browser(get: Get, harbour: Site) -> None:
    captured = get(harbour.url("/article"), rules=FORCED)
    assert captured.fetched.rendered
    assert captured.page.need_render is None


def test_a_rule_for_the_host_can_forbid_the_browser(get: Get, harbour: Site) -> None:
    captured = get(harbour.url("/app"), rules=NEVER)
    assert not captured.fetched.rendered
    assert captured.page.need_render is None
    assert not any(warning.code == "not_rendered" for warning in captured.page.trace.warnings)


def test_the_caller_wins_over_a_rule_that_forces(get: Get, harbour: Site) -> None:
    assert not get(harbour.url("/article"), rules=FORCED, render="never").fetched.rendered


@needs_chromium
def test_the_caller_wins_over_a_rule_that_forbids(get: Get, harbour: Site) -> None:
    assert get(harbour.url("/article"), rules=NEVER, render="force").fetched.rendered


def test_a_setting_wins_over_a_rule(get: Get, harbour: Site, settings: Settings) -> None:
    assert not get(harbour.url("/article"), rules=FORCED, using=replace(settings, render="never")).fetched.rendered


def test_a_rule_that_wants_a_browser_where_there_is_none_is_not_a_failure(
    get: Get, harbour: Site, settings: Settings
) -> None:
    captured = get(harbour.url("/article"), rules=FORCED, using=replace(settings, chromium=BROWSERLESS))
    assert captured.page.quality.level == "article"
    assert any(warning.code == "not_rendered" for warning in captured.page.trace.warnings)


def test_a_rule_set_off_by_the_static_page_asks_for_the_browser(get: Get, harbour: Site, settings: Settings) -> None:
    wanted = Rendering("force", wait_for="#late", timeout=7_000)
    rules = book(trigger=Trigger(dom=DomTrigger(any=("article",))), rendering=wanted)
    captured = get(harbour.url("/article"), rules=rules, using=replace(settings, chromium=BROWSERLESS))
    need = captured.page.need_render
    assert need is not None
    assert (need.reason, need.wait_for, need.timeout) == ("the rule own asks for it", "#late", 7_000)
    assert any(warning.code == "not_rendered" for warning in captured.page.trace.warnings)


@pytest.mark.parametrize(
    "rules",
    [
        FORCED,
        book(
            trigger=Trigger(dom=DomTrigger(any=("article",))),
            rendering=Rendering("force", wait_for="#late", timeout=7_000),
        ),
    ],
)
def test_what_a_rule_says_of_the_browser_reaches_it(
    get: Get, harbour: Site, monkeypatch: pytest.MonkeyPatch, rules: Rulebook
) -> None:
    reported: list[dict[str, object]] = []

    class Watched:
        async def render(self, url: str, **how: object) -> None:
            reported.append(how)
            raise RenderError("No.")

    async def browser(self: object) -> Watched:
        return Watched()

    monkeypatch.setattr("pagekeep.capture.from_url.Retrieval.browser", browser)
    get(harbour.url("/article"), rules=rules)
    get(harbour.url("/article"), rules=rules, wait_for="main", render_timeout=3.0)
    expected = (None, None) if rules is FORCED else ("#late", 7.0)
    assert [(how["wait_for"], how["timeout"]) for how in reported] == [expected, ("main", 3.0)]

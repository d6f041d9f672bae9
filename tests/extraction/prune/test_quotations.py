"""Quotations of what stands above on the same page."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.prune import quotations

Surveyed = Callable[[str], Survey]

QUESTION = "Does anybody know how to keep the great wheel from freezing when the stream runs low in January?"
ANSWER = "We hang sacks of straw over the axle every evening, and the ice has never reached the bearings since."
ELSEWHERE = "An old almanac says that a wheel which turns one hour in every four will not freeze at all."


def post(*parts: str) -> str:
    return f"<div class='post'>{''.join(parts)}</div>"


def test_a_quotation_of_an_earlier_post_is_named(surveyed: Surveyed) -> None:
    found = surveyed(post(f"<p>{QUESTION}</p>") + post(f"<blockquote>{QUESTION}</blockquote>", f"<p>{ANSWER}</p>"))
    cut = quotations.repeated(found, 0, {})
    assert [found.tag[index] for index in cut] == ["blockquote"]
    assert set(cut.values()) == {"quoted from above"}


def test_a_part_of_a_post_with_its_author_is_a_quotation_of_it(surveyed: Surveyed) -> None:
    quote = f"<blockquote><cite>Miller said:</cite><p>{QUESTION[13:]}</p></blockquote>"
    assert len(quotations.repeated(surveyed(post(f"<p>{QUESTION}</p>") + post(quote, f"<p>{ANSWER}</p>")), 0, {})) == 1


def test_the_one_point_that_is_answered_stays(surveyed: Surveyed) -> None:
    html = post(f"<p>{QUESTION}</p>") + post(
        "<blockquote>when the stream runs low in January</blockquote>", f"<p>{ANSWER}</p>"
    )
    assert quotations.repeated(surveyed(html), 0, {}) == {}


def test_an_aside_named_quote_is_a_quotation(surveyed: Surveyed) -> None:
    html = post(f"<p>{QUESTION}</p>") + post(f"<aside class='quote'>{QUESTION}</aside>", f"<p>{ANSWER}</p>")
    assert len(quotations.repeated(surveyed(html), 0, {})) == 1
    assert quotations.repeated(surveyed(html.replace("quote", "note")), 0, {}) == {}


def test_a_quotation_from_elsewhere_stays_and_is_quoted_once(surveyed: Surveyed) -> None:
    quote = f"<blockquote>{ELSEWHERE}</blockquote>"
    found = surveyed(post(f"<p>{QUESTION}</p>", quote) + post(quote, f"<p>{ANSWER}</p>"))
    _first, second = (index for index, tag in enumerate(found.tag) if tag == "blockquote")
    assert list(quotations.repeated(found, 0, {})) == [second]


def test_what_is_quoted_before_it_is_said_stays(surveyed: Surveyed) -> None:
    html = post(f"<blockquote>{ANSWER}</blockquote>") + post(f"<p>{ANSWER}</p>")
    assert quotations.repeated(surveyed(html), 0, {}) == {}


def test_what_is_dropped_is_neither_a_source_nor_a_quotation(surveyed: Surveyed) -> None:
    found = surveyed(f"<nav>{QUESTION}</nav><blockquote>{QUESTION}</blockquote><blockquote>{QUESTION}</blockquote>")
    nav, _first, second = (index for index, tag in enumerate(found.tag) if tag in {"nav", "blockquote"})
    assert list(quotations.repeated(found, 0, {nav: "navigation"})) == [second]
    assert quotations.repeated(found, 0, {nav: "navigation", second: "hidden"}) == {}


def test_beyond_the_bound_quotations_stay(surveyed: Surveyed, monkeypatch: pytest.MonkeyPatch) -> None:
    found = surveyed(post(f"<p>{QUESTION}</p>") + post(f"<blockquote>{QUESTION}</blockquote>"))
    monkeypatch.setattr(quotations, "_REMEMBERED", 5)
    assert quotations.repeated(found, 0, {}) == {}

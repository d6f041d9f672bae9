"""What worked for a domain, and when it is believed."""

from __future__ import annotations

from dataclasses import replace

from pagekeep import extract
from pagekeep.library.domain_memory import _count, preferred_selectors
from pagekeep.model import Options, Page

NOW = "2025-03-19T10:30:00.000000Z"
LATER = "2026-03-19T10:30:00.000000Z"
PAGE = extract("<title>Log</title><p>Wind from the north.")


def found_by(selector: str | None) -> Page:
    return replace(PAGE, strategy="simplified", selector=selector)


def remembered(*selectors: str | None) -> dict[str, object]:
    memory: dict[str, object] = {}
    for selector in selectors:
        memory = _count(memory, found_by(selector), False, NOW)
    return memory


def test_a_selector_that_always_worked_is_preferred() -> None:
    assert preferred_selectors(remembered(".story-body", ".story-body"), NOW) == (".story-body",)


def test_a_selector_that_failed_once_in_three_is_not() -> None:
    assert ".story-body" not in preferred_selectors(remembered(".story-body", ".story-body", "main"), NOW)


def test_what_worked_long_ago_has_expired() -> None:
    assert preferred_selectors(remembered("main"), LATER) == ()


def test_a_domain_without_memory_prefers_nothing() -> None:
    assert preferred_selectors(None, NOW) == ()


LINES = "".join(f"<li>Berth {number}: free, ask the master of the harbour</li>" for number in range(40))
TWO_PLACES = f"""<title>Berths</title><h1>Berths</h1><main><ul>{LINES}</ul></main>
<div class="harbour-list"><ul>{LINES.replace("Berth", "Mooring")}</ul></div>"""


def test_a_remembered_selector_is_tried_first_and_a_broken_one_is_passed_over() -> None:
    url = "https://harbour.example/blog/berths"
    assert extract(TWO_PLACES, url).selector == "main"
    told = extract(TWO_PLACES, url, options=Options(remembered=("[[", ".harbour-list")))
    assert told.selector == ".harbour-list"
    assert "Mooring 7" in told.text

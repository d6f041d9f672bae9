"""What is known of one capture."""

from __future__ import annotations

from asyncio import CancelledError
from contextlib import suppress

import pytest

from pagekeep import extract
from pagekeep.capture.measure import EXTRACTING, FETCHING, RENDERING, STORING, Capture, measure
from pagekeep.errors import FetchTimeout


def test_stages_are_shown_and_measured_under_stable_names() -> None:
    shown: list[str] = []
    ended: list[Capture] = []
    with measure("https://example.com/private?letter=1", shown.append, ended.append) as capture:
        for stage in (FETCHING, EXTRACTING, RENDERING, EXTRACTING, STORING):
            capture.progress(stage)
        capture.outcome = "added"
    assert shown == ["Fetching", "Extracting", "Rendering", "Extracting", "Storing"]
    assert ended == [capture]
    assert list(capture.fields()["ms"]) == ["fetch", "extract", "render", "store"]
    assert (capture.fields()["host"], capture.fields()["outcome"]) == ("example.com", "added")
    assert "private" not in str(capture.fields())


def test_a_failure_is_named_and_raised() -> None:
    ended: list[Capture] = []

    def fail() -> None:
        with measure("nowhere", lambda _stage: None, ended.append) as capture:
            capture.progress(FETCHING)
            raise FetchTimeout("slow")

    with pytest.raises(FetchTimeout):
        fail()
    assert (ended[0].outcome, ended[0].error, ended[0].host) == ("failed", "FetchTimeout", "")


def log_line(
    caplog: pytest.LogCaptureFixture, html: str | None, error: BaseException | None = None
) -> tuple[str, object]:
    """Return the level and the size in the line of a capture of this page, or of one that raised."""
    caplog.clear()
    with (
        caplog.at_level("INFO", "pagekeep.captures"),
        suppress(FetchTimeout, CancelledError),
        measure("https://example.com/a", lambda _stage: None) as capture,
    ):
        if error:
            raise error
        assert html is not None
        capture.page, capture.page_bytes = extract(html), len(html)
    (record,) = caplog.records
    return record.levelname, vars(record)["fields"].get("bytes")


ARTICLE = "<title>Tide</title><article>" + "".join(
    f"<p>On day {day} the tide came in before noon, and {day + 3} boats rose with it, one after the other, until the quay was full.</p>"
    for day in range(12)
)


def test_the_log_level_shows_failures_and_strategies_that_fell_back(caplog: pytest.LogCaptureFixture) -> None:
    assert log_line(caplog, ARTICLE) == ("INFO", len(ARTICLE))
    assert log_line(caplog, "<title>Tide</title><p>Soon.") == ("WARNING", 27)
    assert log_line(caplog, None, FetchTimeout("slow")) == ("ERROR", None)
    assert log_line(caplog, None, CancelledError()) == ("INFO", None)

"""What is known of one capture."""

from __future__ import annotations

import pytest

from pagekeep.capture.measure import Capture, measure
from pagekeep.errors import FetchTimeout


def test_stages_are_shown_and_measured_under_stable_names() -> None:
    shown: list[str] = []
    ended: list[Capture] = []
    with measure("https://example.com/private?letter=1", shown.append, ended.append) as capture:
        for stage in ("Fetching", "Extracting", "Rendering", "Extracting", "Storing"):
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
            capture.progress("Fetching")
            raise FetchTimeout("slow")

    with pytest.raises(FetchTimeout):
        fail()
    assert (ended[0].outcome, ended[0].error, ended[0].host) == ("failed", "FetchTimeout", "")

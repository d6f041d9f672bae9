"""The levels in their order, their budgets and what is recorded of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pagekeep.extraction.locate.page_facts import Content, Measure, Reading
from pagekeep.extraction.locate.strategies import chain
from pagekeep.extraction.locate.strategies.chain import Level
from pagekeep.model import Strategy

ReadAs = Callable[..., Reading]


def level(strategy: Strategy, fault: str | None = None, *, finds: bool = True, seconds: float = 1.0) -> Level:
    def decide(reading: Reading) -> Content | None:
        return Content(0, reading.dropped) if finds else None

    def judge(_reading: Reading, _measured: Measure) -> str | None:
        return fault

    return Level(strategy, decide, judge, seconds)


@pytest.fixture
def reading(read_as: ReadAs) -> Reading:
    return read_as("<p>three words here</p>")


def set_levels(monkeypatch: pytest.MonkeyPatch, *levels: Level) -> None:
    monkeypatch.setattr(chain, "LEVELS", levels)


def test_the_levels_stand_in_the_order_they_are_tried() -> None:
    assert [level.strategy for level in chain.LEVELS] == ["readability", "simplified", "full_page"]


def test_the_first_good_level_wins_and_the_rest_is_not_asked(monkeypatch: pytest.MonkeyPatch, reading: Reading) -> None:
    def never(_reading: Reading) -> Content | None:
        pytest.fail("asked after a success")

    unasked = Level("full_page", never, lambda *_: None, 1.0)
    set_levels(monkeypatch, level("readability", "too short"), level("simplified"), unasked)
    outcome = chain.run(reading, None)
    assert outcome.strategy == "simplified"
    assert outcome.content is not None
    assert [(attempt.strategy, attempt.passed) for attempt in outcome.attempts] == [
        ("readability", False),
        ("simplified", True),
    ]


def test_a_fault_is_recorded_in_its_own_words(monkeypatch: pytest.MonkeyPatch, reading: Reading) -> None:
    set_levels(monkeypatch, level("readability", "too short"), level("simplified", finds=False))
    outcome = chain.run(reading, None)
    assert [attempt.reason for attempt in outcome.attempts[:2]] == ["too short", "found no candidate"]


def test_an_attempt_tells_how_many_words_it_would_keep(monkeypatch: pytest.MonkeyPatch, reading: Reading) -> None:
    set_levels(monkeypatch, level("readability"))
    assert chain.run(reading, None).attempts[0].words == 3


def test_when_all_fail_the_outcome_is_a_bookmark_without_content(
    monkeypatch: pytest.MonkeyPatch, reading: Reading
) -> None:
    set_levels(monkeypatch, level("readability", "no"), level("simplified", "no"), level("full_page", "no"))
    outcome = chain.run(reading, None)
    assert outcome.strategy == "bookmark"
    assert outcome.content is None
    assert outcome.attempts[-1].strategy == "bookmark"
    assert outcome.attempts[-1].passed


def test_a_level_over_its_budget_fails_though_its_result_is_good(
    monkeypatch: pytest.MonkeyPatch, reading: Reading
) -> None:
    set_levels(monkeypatch, level("readability", seconds=5), level("simplified", seconds=3))
    moments = iter([0.0, 5.5, 5.5, 8.5])
    outcome = chain.run(reading, lambda: next(moments))
    assert outcome.strategy == "simplified"
    assert [attempt.seconds for attempt in outcome.attempts] == [5.5, 3.0]
    assert "longer than its 5 s" in outcome.attempts[0].reason


def test_without_a_timer_nothing_is_timed(monkeypatch: pytest.MonkeyPatch, reading: Reading) -> None:
    set_levels(monkeypatch, level("readability", "no", seconds=0))
    assert [attempt.seconds for attempt in chain.run(reading, None).attempts] == [None, None]

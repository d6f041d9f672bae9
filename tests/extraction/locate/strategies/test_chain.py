"""The strategies in their order, their time limits and what is recorded of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pagekeep.extraction.locate.page_facts import Content, Measure, PageFacts
from pagekeep.extraction.locate.strategies import chain
from pagekeep.extraction.locate.strategies.chain import ContentStrategy
from pagekeep.extraction.prune import prune
from pagekeep.model import Strategy

FactsOf = Callable[..., PageFacts]


def strategy(name: Strategy, fault: str | None = None, *, finds: bool = True, seconds: float = 1.0) -> ContentStrategy:
    def locate(facts: PageFacts) -> Content | None:
        return Content(0, facts.excluded) if finds else None

    def judge(_facts: PageFacts, _measured: Measure) -> str | None:
        return fault

    return ContentStrategy(name, locate, judge, seconds)


@pytest.fixture
def facts(facts_of: FactsOf) -> PageFacts:
    return facts_of("<p>three words here</p>")


def set_strategies(monkeypatch: pytest.MonkeyPatch, *strategies: ContentStrategy) -> None:
    monkeypatch.setattr(chain, "STRATEGIES", strategies)


def test_the_strategies_are_listed_in_the_order_they_are_tried() -> None:
    assert [strategy.name for strategy in chain.STRATEGIES] == ["readability", "simplified", "full_page"]


def test_the_first_good_strategy_wins_and_the_rest_is_not_tried(
    monkeypatch: pytest.MonkeyPatch, facts: PageFacts
) -> None:
    def never(_facts: PageFacts) -> Content | None:
        pytest.fail("tried after a success")

    unused = ContentStrategy("full_page", never, lambda *_: None, 1.0)
    set_strategies(monkeypatch, strategy("readability", "too short"), strategy("simplified"), unused)
    outcome = chain.run(facts, prune)
    assert outcome.strategy == "simplified"
    assert outcome.content is not None
    assert [(attempt.strategy, attempt.passed) for attempt in outcome.attempts] == [
        ("readability", False),
        ("simplified", True),
    ]


def test_a_fault_is_recorded_in_its_own_words(monkeypatch: pytest.MonkeyPatch, facts: PageFacts) -> None:
    set_strategies(monkeypatch, strategy("readability", "too short"), strategy("simplified", finds=False))
    outcome = chain.run(facts, prune)
    assert [attempt.reason for attempt in outcome.attempts[:2]] == ["too short", "found no candidate"]


def test_an_attempt_has_the_number_of_words_it_would_keep(monkeypatch: pytest.MonkeyPatch, facts: PageFacts) -> None:
    set_strategies(monkeypatch, strategy("readability"))
    assert chain.run(facts, prune).attempts[0].words == 3


def test_when_all_fail_the_outcome_is_a_bookmark_without_content(
    monkeypatch: pytest.MonkeyPatch, facts: PageFacts
) -> None:
    set_strategies(
        monkeypatch, strategy("readability", "no"), strategy("simplified", "no"), strategy("full_page", "no")
    )
    outcome = chain.run(facts, prune)
    assert outcome.strategy == "bookmark"
    assert outcome.content is None
    assert outcome.attempts[-1].strategy == "bookmark"
    assert outcome.attempts[-1].passed


def test_a_strategy_over_its_time_limit_fails_though_its_result_is_good(
    monkeypatch: pytest.MonkeyPatch, facts: PageFacts
) -> None:
    set_strategies(monkeypatch, strategy("readability", seconds=5), strategy("simplified", seconds=3))
    times = iter([0.0, 5.5, 5.5, 8.5])
    outcome = chain.run(facts, prune, lambda: next(times))
    assert outcome.strategy == "simplified"
    assert [attempt.seconds for attempt in outcome.attempts] == [5.5, 3.0]
    assert "longer than its 5 s" in outcome.attempts[0].reason


def test_without_a_timer_nothing_is_timed(monkeypatch: pytest.MonkeyPatch, facts: PageFacts) -> None:
    set_strategies(monkeypatch, strategy("readability", "no", seconds=0))
    assert [attempt.seconds for attempt in chain.run(facts, prune).attempts] == [None, None]

"""The strategies in their order, their time limits and what is recorded of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pagekeep import dom, extract
from pagekeep.extraction.locate import strategies as chain
from pagekeep.extraction.locate.page_facts import Content, Measure, OutOfTime, PageFacts
from pagekeep.extraction.locate.strategies import ContentStrategy
from pagekeep.extraction.prune import prune
from pagekeep.extraction.steps import Step
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


@pytest.fixture
def long(facts_of: FactsOf) -> PageFacts:
    return facts_of("<p>" + "The miller counted the sacks until the tide turned. " * 80 + "</p>")


@pytest.fixture
def parts(facts_of: FactsOf) -> PageFacts:
    """A page of three texts, which score too low, low and well."""
    sentence = "The miller counted the sacks until the tide turned. "
    low = "".join(f"<p>{sentence * 2}</p>" for _ in range(6))
    return facts_of(
        f"<div id=bad>Nine words</div><div id=low>{low}</div><div id=good>{f'<p>{sentence * 9}</p>' * 12}</div>"
    )


def picks(name: Strategy, element: str) -> ContentStrategy:
    """A strategy that finds the element with this id, and has no complaint about it."""

    def locate(facts: PageFacts) -> Content | None:
        ids = [node.attr("id") if isinstance(node, dom.Element) else None for node in facts.survey.nodes]
        return Content(ids.index(element), facts.excluded)

    return ContentStrategy(name, locate, lambda *_: None, 1.0)


def set_strategies(monkeypatch: pytest.MonkeyPatch, *strategies: ContentStrategy) -> None:
    monkeypatch.setattr(chain, "STRATEGIES", strategies)


def test_the_strategies_are_listed_in_the_order_they_are_tried() -> None:
    assert [strategy.name for strategy in chain.STRATEGIES] == ["readability", "simplified", "full_page"]


def test_the_first_good_strategy_wins_and_the_rest_is_not_tried(
    monkeypatch: pytest.MonkeyPatch, long: PageFacts
) -> None:
    def never(_facts: PageFacts) -> Content | None:
        pytest.fail("tried after a success")

    unused = ContentStrategy("full_page", never, lambda *_: None, 1.0)
    set_strategies(monkeypatch, strategy("readability", "too short"), strategy("simplified"), unused)
    outcome = chain.run(long, prune)
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


class Clock:
    """A timer that moves only on request."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_strategy_is_stopped_as_soon_as_its_time_is_over(monkeypatch: pytest.MonkeyPatch, long: PageFacts) -> None:
    clock, done = Clock(), []

    def locate(facts: PageFacts) -> Content | None:
        for second in range(12):
            done.append(second)
            clock.now += 1
            facts.check_time()
        return Content(0, facts.excluded)

    slow = ContentStrategy("readability", locate, lambda *_: None, 5.0)
    set_strategies(monkeypatch, slow, strategy("simplified", seconds=3))
    outcome = chain.run(long, prune, clock)
    assert done == [0, 1, 2, 3, 4, 5]
    assert outcome.strategy == "simplified"
    assert [attempt.seconds for attempt in outcome.attempts] == [6.0, 0.0]
    assert outcome.attempts[0].reason == "stopped after its 5 s"


def test_pruning_is_stopped_between_two_of_its_steps(monkeypatch: pytest.MonkeyPatch, long: PageFacts) -> None:
    clock, steps = Clock(), []

    def slow_step(_state: object) -> None:
        steps.append(len(steps))
        clock.now += 4

    monkeypatch.setattr("pagekeep.extraction.prune.STEPS", [Step(f"slow-{number}", slow_step) for number in range(9)])
    pruned = replace(strategy("readability", seconds=5), prunes=True)
    set_strategies(monkeypatch, pruned, strategy("simplified", seconds=3))
    assert chain.run(long, prune, clock).strategy == "simplified"
    assert steps == [0, 1]


def test_a_complete_result_is_kept_however_long_it_took(monkeypatch: pytest.MonkeyPatch, long: PageFacts) -> None:
    clock = Clock()

    def locate(facts: PageFacts) -> Content | None:
        clock.now += 12
        return Content(0, facts.excluded)

    set_strategies(monkeypatch, ContentStrategy("readability", locate, lambda *_: None, 5.0), strategy("simplified"))
    outcome = chain.run(long, prune, clock)
    assert outcome.strategy == "readability"
    assert outcome.attempts[0].seconds == 12.0


@pytest.mark.parametrize("name", ["readability", "simplified", "full_page"])
def test_every_strategy_checks_its_time(facts_of: FactsOf, name: str) -> None:
    def over() -> None:
        raise OutOfTime

    real = next(strategy for strategy in chain.STRATEGIES if strategy.name == name)
    facts = facts_of("<article>" + "<p>The miller counted the sacks until the tide turned. </p>" * 60 + "</article>")
    with pytest.raises(OutOfTime):
        real.locate(replace(facts, check_time=over))


def test_a_result_that_scores_under_30_is_refused(monkeypatch: pytest.MonkeyPatch, parts: PageFacts) -> None:
    set_strategies(monkeypatch, picks("readability", "bad"), picks("simplified", "low"))
    outcome = chain.run(parts, prune)
    assert outcome.strategy == "simplified"
    assert outcome.attempts[0].reason == "a score of 0, under 30"


def test_what_a_rule_chose_is_right_at_any_score(monkeypatch: pytest.MonkeyPatch, parts: PageFacts) -> None:
    set_strategies(monkeypatch, picks("readability", "bad"))
    assert chain.run(replace(parts, scope="article"), prune).strategy == "readability"


def test_after_a_score_under_60_the_next_strategy_is_tried_and_the_better_one_kept(
    monkeypatch: pytest.MonkeyPatch, parts: PageFacts
) -> None:
    set_strategies(monkeypatch, picks("readability", "low"), picks("simplified", "good"), picks("full_page", "bad"))
    outcome = chain.run(parts, prune)
    assert [(attempt.strategy, attempt.passed) for attempt in outcome.attempts] == [
        ("readability", False),
        ("simplified", True),
    ]
    assert "simplified is better" in outcome.attempts[0].reason


def test_of_two_low_scores_the_first_is_kept(monkeypatch: pytest.MonkeyPatch, parts: PageFacts) -> None:
    set_strategies(monkeypatch, picks("readability", "low"), picks("simplified", "low"), picks("full_page", "bad"))
    outcome = chain.run(parts, prune)
    assert outcome.strategy == "readability"
    assert len(outcome.attempts) == 3
    fallen = chain.fall_back_to_bookmark(outcome, "a wall")
    assert [attempt.reason for attempt in fallen.attempts if attempt.strategy == "readability"] == ["a wall"]


def test_without_a_timer_nothing_is_timed(monkeypatch: pytest.MonkeyPatch, facts: PageFacts) -> None:
    set_strategies(monkeypatch, strategy("readability", "no", seconds=0))
    assert [attempt.seconds for attempt in chain.run(facts, prune).attempts] == [None, None]


def test_a_later_result_with_a_few_more_words_is_not_better() -> None:
    sentence = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still. "
    note = f"<div class=story><p>{sentence * 4}</p><p>{sentence * 2}</p></div>"
    around = "".join(f"<div>Sieves and bags {i}.</div>" for i in range(8))
    page = extract(f"<title>Notice</title><div>{around}</div><h1>Notice</h1>{note}", "https://mill.example/notice")
    assert page.strategy == "readability"
    assert "Sieves" not in page.text

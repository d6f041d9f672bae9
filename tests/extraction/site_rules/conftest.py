"""Rules for tests: a rulebook in which every rule is for every page, as long as its phase is right."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal

import pytest

from pagekeep import dom
from pagekeep.rules.rule import HostTrigger, Rule, Trigger
from pagekeep.rules.rulebook import Matched, Names, Rulebook


class _EveryPage(Rulebook):
    """Matches whatever the page: what is under test is what rules do."""

    def match(
        self,
        phase: Literal["pre", "post"],
        url: str | None,
        root: dom.Node,
        names: Names | None = None,
        platform: Collection[str] = (),
    ) -> tuple[Matched, ...]:
        return tuple(Matched(rule, "always") for rule in self.rules if rule.phase in (phase, "both"))


@pytest.fixture
def rule() -> Callable[..., Rule]:
    """A rule for the raw page unless it says otherwise."""

    def make(rule_id: str = "test", **fields: Any) -> Rule:
        return Rule(**{"id": rule_id, "phase": "pre", "trigger": Trigger(HostTrigger(("example.com",))), **fields})

    return make


@pytest.fixture
def book() -> Callable[..., Rulebook]:
    """A rulebook of rules that match every page."""
    return lambda *rules: _EveryPage(rules)


@pytest.fixture
def article() -> Callable[..., str]:
    """A page with an article long enough for the first level, furniture around it."""

    def make(inside: str = "", around: str = "", head: str = "") -> str:
        said = "".join(f"<p>Paragraph {number} of the tale of the mill says {SENTENCE}</p>" for number in range(1, 7))
        return (
            f"<!doctype html><html><head><title>The mill</title>{head}</head><body><main><h1>The mill</h1>"
            f"{said}{inside}</main>{around}</body></html>"
        )

    return make


SENTENCE = "that the wheel turned slowly through the long dry summer, and that the miller waited for rain every day."

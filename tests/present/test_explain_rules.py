"""What explanations show of rules."""

from __future__ import annotations

import pytest

from pagekeep.model import RuleEffect, RuleMatch
from pagekeep.present.explain import rule_lines


@pytest.mark.parametrize(
    ("effect", "line"),
    [
        (RuleEffect("retag", ".x", 2, 1), "retag .x: 2 elements with 1 word."),
        (
            RuleEffect("move", ".x", 1, 4, "target not found, ignored"),
            "move .x: 1 element with 4 words, target not found, ignored.",
        ),
        (RuleEffect("scope", "#x", 0, 0, "matched nothing, ignored"), "scope #x: matched nothing, ignored."),
        (RuleEffect("metadata", ".by", 1, 0, "author: Bo Lind"), "metadata .by: author: Bo Lind."),
        (RuleEffect("discard", "", 1, 0), "discard."),
        (RuleEffect("quality", "", 0, 0, "at least 5 words"), "quality: at least 5 words."),
        (RuleEffect("rendering", "#late", 0, 0, "force"), "rendering #late: force."),
    ],
)
def test_each_effect_is_a_sentence(effect: RuleEffect, line: str) -> None:
    assert list(rule_lines([RuleMatch("x", "post", "found .y", (effect,))], verbose=True)) == [
        "x, on the extracted content: found .y.",
        f"  {line}",
    ]


def test_a_rule_that_found_nothing_is_only_counted_unless_verbose() -> None:
    idle = RuleMatch("idle", "pre", "found .y", (RuleEffect("remove", ".x", 0, 0),))
    assert list(rule_lines([idle, idle])) == ["Not shown: 2 rules that found nothing."]
    assert list(rule_lines([idle], verbose=True)) == [
        "idle, before extraction: found .y.",
        "  remove .x: found nothing.",
    ]

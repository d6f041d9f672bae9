"""Which rules are in force, and how a change of them shows."""

from __future__ import annotations

from dataclasses import replace

from pagekeep.app.rulebook import fingerprint
from pagekeep.rules import Rulebook
from pagekeep.rules.rule import Rule, Source
from tests.app.conftest import HERE

RULE = Rule("own", "pre", HERE, remove=(".x",))


def test_any_change_of_a_rule_shows() -> None:
    books = [
        Rulebook(),
        Rulebook((RULE,)),
        Rulebook((replace(RULE, remove=(".y",)),)),
        Rulebook((replace(RULE, priority=51),)),
        Rulebook((RULE, replace(RULE, id="other"))),
    ]
    assert len({fingerprint(book) for book in books}) == len(books)


def test_the_same_rules_have_the_same_fingerprint_wherever_they_are_written() -> None:
    here = replace(RULE, source=Source("a.yaml", 1, False))
    there = replace(RULE, source=Source("b.yaml", 9, True))
    assert fingerprint(Rulebook((here,))) == fingerprint(Rulebook((there,)))

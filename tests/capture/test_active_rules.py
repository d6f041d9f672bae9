"""Which rules are in force, and how a change of them shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep.capture.active_rules import add_draft, fingerprint, load_active, parse_draft, remove_draft, save_rules
from pagekeep.config import Settings
from pagekeep.errors import RuleError
from pagekeep.rules import Rulebook
from pagekeep.rules.rule import Rule, Source
from tests.site.fixtures import HERE

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


YAML = "- id: mine\n  phase: pre\n  trigger:\n    host:\n      equals: e.example\n  remove: [.x]\n"


def ids(settings: Settings) -> set[str]:
    return {rule.id for rule in load_active(settings).rules}


def test_a_rule_that_is_kept_is_in_force_and_gone_with_its_file(tmp_path: Path) -> None:
    settings = Settings(rules=str(tmp_path / "rules"))
    assert "mine" not in ids(settings)
    assert save_rules(settings, YAML) == "mine.yaml"
    assert "mine" in ids(settings)
    assert load_active(settings) is load_active(settings)
    save_rules(settings, YAML.replace(".x", ".other"))
    assert [rule.remove for rule in load_active(settings).rules if rule.id == "mine"] == [(".other",)]
    (tmp_path / "rules" / "mine.yaml").unlink()
    assert "mine" not in ids(settings)


@pytest.mark.parametrize("yaml", ["", "- id: x\n  nonsense: 1\n", "not a list", "- id: ../../x\n"])
def test_rules_with_faults_are_not_kept(tmp_path: Path, yaml: str) -> None:
    with pytest.raises(RuleError):
        save_rules(Settings(rules=str(tmp_path / "rules")), yaml)
    assert not (tmp_path / "rules").exists()


def test_an_id_of_another_file_of_the_owner_is_refused(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(YAML)
    with pytest.raises(RuleError, match="fault"):
        save_rules(Settings(rules=str(tmp_path)), YAML)


def test_tried_rules_replace_those_of_the_same_id() -> None:
    rules = add_draft(Rulebook(parse_draft(YAML).rules), parse_draft(YAML.replace(".x", ".y")))
    assert [rule.remove for rule in rules.rules] == [(".y",)]


def test_a_rule_that_is_tried_as_it_is_leaves_the_others_to_compare_with() -> None:
    rules = Rulebook((*parse_draft(YAML).rules, RULE))
    left, same = remove_draft(rules, parse_draft(YAML))
    assert (left.rules, same) == ((RULE,), (parse_draft(YAML).rules[0].id,))
    assert remove_draft(rules, parse_draft(YAML.replace(".x", ".y"))) == (rules, ())

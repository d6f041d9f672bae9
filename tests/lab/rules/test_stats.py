"""What rules are worth on a corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pagekeep.lab.rules import stats
from pagekeep.lab.rules.stats import RuleEffect, RuleStats
from pagekeep.rules import shipped
from tests.lab.rules.test_cases import PAGE, PROSE

RULES = """\
- {id: helps, phase: pre, trigger: {dom: {any: .plug}}, remove: .plug}
- {id: harms, phase: pre, trigger: {host: {equals: b.example}}, remove: "p:nth-of-type(-n+6)"}
- {id: idle, phase: pre, trigger: {dom: {any: .never-there}}, remove: .plug}
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    text = PROSE.replace("<p>", "").replace("</p>", "\n")
    for name in ("a", "b"):
        (folder / f"{name}.html").write_text(PAGE)
        (folder / f"{name}.json").write_text(
            json.dumps({"url": f"https://{name}.example/", "kind": "article", "text": text})
        )
    return folder


def test_each_rule_is_measured_on_the_pages_it_matches(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(RULES)
    found = {entry.rule: entry for entry in stats.measure_rules(corpus, tmp_path)}
    assert (found["helps"].pages, found["harms"].pages, found["idle"].pages) == (2, 1, 0)
    assert found["helps"].gain > 0 > found["harms"].gain
    assert found["harms"].worst == "b"
    assert found["idle"] == RuleStats("idle", 0, 0.0, 0.0, "")


def test_without_a_folder_the_shipped_rules_are_measured(corpus: Path) -> None:
    assert {entry.rule for entry in stats.measure_rules(corpus)} == {rule.id for rule in shipped().rules}


def test_the_most_harmful_rule_comes_first_and_idle_ones_last() -> None:
    differences = [
        RuleEffect("good", "1", 0.9, 0.8),
        RuleEffect("bad", "1", 0.5, 0.6),
        RuleEffect("bad", "2", 0.5, 0.9),
    ]
    found = stats.summarise_effects(["idle", "good", "bad"], differences)
    assert [entry.rule for entry in found] == ["bad", "good", "idle"]
    assert found[0].worst == "2"
    assert found[0].gain == pytest.approx(-0.25)

"""What rules are worth on a corpus."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pagekeep.rules import shipped
from pagekeep_lab import rule_stats
from pagekeep_lab.rule_stats import Gain, RuleEffect, RuleStats
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
    found = {entry.rule: entry for entry in rule_stats.measure_rules([corpus], tmp_path)}
    assert [found[rule].total.pages for rule in ("helps", "harms", "idle")] == [2, 1, 0]
    assert found["helps"].total.gain > 0 > found["harms"].total.gain
    assert found["harms"].total.worst == "b"
    assert found["idle"] == RuleStats("idle")


def test_pages_that_rules_were_written_with_are_counted_apart(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(RULES)
    old = corpus.rename(tmp_path / "wcxb")
    new = Path(shutil.copytree(old, tmp_path / "letters"))
    found = {entry.rule: entry for entry in rule_stats.measure_rules([old, new], tmp_path)}
    assert found["harms"].written_with.worst == "wcxb/b"
    assert found["harms"].new.worst == "letters/b"
    assert found["helps"].written_with[:2] == found["helps"].new[:2] == (2, 2)
    assert found["helps"].total.pages == 4


def test_markdown_cases_are_measured_by_what_agrees(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(RULES)
    folder = tmp_path / "markdown"
    folder.mkdir()
    (folder / "a.html").write_text(PAGE)
    (folder / "a.md").write_text(PROSE.replace("<p>", "").replace("</p>", "\n\n"))
    found = {entry.rule: entry for entry in rule_stats.measure_rules([folder], tmp_path)}
    assert found["helps"].written_with.pages == 1
    assert found["helps"].written_with.gain > 0


def test_a_change_that_no_reference_looks_at_is_counted(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(RULES)
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "a.html").write_text(PAGE)
    (folder / "a.json").write_text(json.dumps({"url": "https://a.example/", "with": ["On day 1 the harbour master"]}))
    found = {entry.rule: entry for entry in rule_stats.measure_rules([folder], tmp_path)}
    assert (found["helps"].new.changed, found["helps"].new.gain) == (1, 0.0)


def test_a_rule_that_finds_nothing_changes_no_page(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("- {id: blank, phase: pre, trigger: {dom: {any: .plug}}, remove: .never-there}")
    found = {entry.rule: entry for entry in rule_stats.measure_rules([corpus], tmp_path)}
    assert (found["blank"].total.pages, found["blank"].total.changed, found["blank"].total.gain) == (2, 0, 0.0)


def test_without_a_folder_the_shipped_rules_are_measured(corpus: Path) -> None:
    found = {entry.rule: entry.basis for entry in rule_stats.measure_rules([corpus])}
    assert found == {rule.id: rule.basis for rule in shipped().rules}


def test_the_most_harmful_rule_comes_first_and_idle_ones_last() -> None:
    effects = [
        RuleEffect("good", "1", 0.9, 0.8),
        RuleEffect("bad", "1", 0.5, 0.6),
        RuleEffect("bad", "2", 0.5, 0.9, is_new=True),
    ]
    found = rule_stats.summarise_effects({"idle": "", "good": "measured", "bad": ""}, effects)
    assert [entry.rule for entry in found] == ["bad", "good", "idle"]
    assert found[0].total.worst == "2"
    assert found[0].total.gain == pytest.approx(-0.25)
    assert found[0].new == Gain(1, 1, 0.5, 0.9, "2")
    assert found[1].basis == "measured"

"""Loading rule files: all faults reported, good rules kept, users' rules over shipped ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekeep import rules
from pagekeep.rules import loading
from pagekeep.rules.rule import Action, DomTrigger, HostTrigger, MetadataSource, Rendering, Scope, Source, Thresholds

WHOLE = """\
- id: everything
  phase: both
  priority: 90
  trigger:
    mode: any
    host: {equals: www.Example.com, equals_www: [www.example.org], ends_with: [münchen.example], etld_plus_one: bbc.co.uk}
    dom: {any: .a, all: [.b, "#c"], any_text_contains: ["⚡ AMP"]}
  rendering: {mode: force, wait_for: .main, timeout: 45000}
  selector_overrides: {wrapper: "#main", article: article}
  remove: .ad
  include: [.pull, table]
  actions:
    - {op: retag, selector: .head, tag: h1}
    - {op: wrap, selector: img, wrapper_tag: figure, class: shot}
    - {op: unwrap, selector: .x}
    - {op: remove_container, selector: .x}
    - {op: remove_children, selector: .x}
    - {op: remove_parent, selector: .x}
    - {op: remove_outer_parent, selector: .x}
    - {op: remove_to_parent, selector: .x, parent: .y}
    - {op: move, selector: .x, target: .y, position: index, index: 2}
    - {op: remove_attrs, selector: .x, attrs: [style, class]}
    - {op: set_attr, selector: a, attr: title, value: ""}
    - {op: replace_with_text, selector: iframe, template: "[Embedded: {src}]"}
    - {op: group_siblings, selector: p.caption, wrapper_tag: div, class: captions}
    - {op: reorder, selector: .x, method: move_to_top}
  metadata:
    author: {selector: .byline, attr: null}
    published: {selector: time, attr: datetime}
  quality: {min_words: 20, max_link_density: 0.8}
  discard: false
"""


def rule(**changes: str) -> str:
    """A file of one rule in which some keys are written otherwise."""
    keys = {"id": "a", "phase": "pre", "trigger": "{host: {equals: a.example}}", "remove": ".x", **changes}
    return "- " + "\n  ".join(f"{key.rstrip('_')}: {value}" for key, value in keys.items() if value != "-")


def faults_of(text: str | bytes) -> list[str]:
    return [str(fault) for fault in loading.read(text, "my.yaml").faults]


def test_every_key_is_read() -> None:
    loaded = loading.read(WHOLE, "my.yaml")
    assert loaded.faults == ()
    (read,) = loaded.rules
    assert read.trigger.host == HostTrigger(
        ("www.example.com",), ("www.example.org",), ("xn--mnchen-3ya.example",), ("bbc.co.uk",)
    )
    assert read.trigger.dom == DomTrigger((".a",), (".b", "#c"), ("⚡ AMP",))
    assert (read.id, read.phase, read.priority, read.trigger.mode) == ("everything", "both", 90, "any")
    assert read.rendering == Rendering("force", ".main", 45000)
    assert read.selector_overrides == Scope("#main", "article")
    assert (read.remove, read.include, read.discard) == ((".ad",), (".pull", "table"), False)
    assert dict(read.metadata) == {
        "author": MetadataSource(".byline"),
        "published": MetadataSource("time", "datetime"),
    }
    assert read.quality == Thresholds(20, 0.8)
    assert read.source == Source("my.yaml", 1, shipped=False)
    assert len(read.actions) == 14
    assert read.actions[1] == Action("wrap", "img", wrapper_tag="figure", class_="shot")
    assert read.actions[8] == Action("move", ".x", target=".y", position="index", index=2)


def test_a_field_may_be_none() -> None:
    (read,) = loading.read(rule(metadata="{author: none}"), "my.yaml").rules
    assert dict(read.metadata) == {"author": "none"}


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "[]", "---\n"])
def test_file_without_rules_is_not_a_fault(text: str) -> None:
    assert loading.read(text, "my.yaml") == ((), ())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (rule(trigger="{host: {equal: a.example}}"), "my.yaml:3: [0].trigger.host.equal: Unknown key. Did you mean `equals`?"),
        (rule(remov=".y"), "my.yaml:5: [0].remov: Unknown key. Did you mean `remove`?"),
        (rule(phase="early"), "my.yaml:2: [0].phase: Expected one of pre, post, both, got `early`."),
        (rule(phase="-"), "my.yaml:1: [0]: The key `phase` is missing."),
        (rule(trigger="-"), "my.yaml:1: [0]: The key `trigger` is missing."),
        (rule(trigger="{}"), "my.yaml:3: [0].trigger: A trigger needs one of: host, dom."),
        (rule(trigger="{mode: any}"), "my.yaml:3: [0].trigger: A trigger needs one of: host, dom."),
        (rule(trigger="{dom: {}}"), "needs one of: any, all, any_text_contains."),
        (rule(trigger="a.example"), "[0].trigger: Expected a mapping (a trigger), got `a.example`."),
        (rule(trigger="{host: {equals: https://a.example/x}}"), "`https://a.example/x` is not a host name. Did you mean `a.example`?"),
        (rule(remove="'a['"), "my.yaml:4: [0].remove: `a[` is not a valid selector: expected an identifier at position 2."),
        (rule(remove="[.a, 'b:nope']"), "[0].remove[1]: `b:nope` is not a valid selector: unknown pseudo-class"),
        (rule(remove="[]"), "[0].remove: This list is empty. Remove the key, or add an item."),
        (rule(remove="#main"), "[0].remove: Expected a string, got nothing. A `#` starts a comment"),
        (rule(remove="12"), '[0].remove: Expected a string, got `12`. Put it in quotes: "12".'),
        (rule(remove="{a: b}"), "[0].remove: Expected a string, got a mapping."),
        (rule(remove="-"), "my.yaml:1: [0]: A rule needs one of: rendering, selector_overrides"),
        (rule(remove="-", discard="false"), "[0]: The rule does nothing."),
        (rule(remove="-", discard="yes"), "[0].discard: Expected true or false, got `yes`. Did you mean `true`?"),
        (rule(priority="high"), "[0].priority: Expected a whole number from -1000 to 1000, got `high`."),
        (rule(priority="5000"), "[0].priority: Expected a whole number from -1000 to 1000"),
        (rule(quality="{max_link_density: 7}"), "[0].quality.max_link_density: Expected a number from 0 to 1"),
        (rule(id="Big Name"), "[0].id: Expected a short lower-case name"),
        (rule(id_="b") + "\n  id: c", "my.yaml:5: [0].id: Duplicate key: already set in line 1."),
        (rule(actions="[{op: retg, selector: a}]"), "[0].actions[0].op: Expected one of retag, wrap,"),
        (rule(actions="[{op: retag, selector: a}]"), "[0].actions[0]: The key `tag` is missing."),
        (rule(actions="[{op: unwrap, selector: a, tag: b}]"), "[0].actions[0].tag: Unknown key."),
        (rule(actions="[{selector: a}]"), "[0].actions[0]: The key `op` is missing."),
        (rule(actions="[{op: retag, selector: a, tag: script}]"), "This element would hide its content."),
        (rule(actions="[{op: move, selector: a, target: b, position: index}]"), "`position: index` and `index` need each other."),
        (rule(actions="{op: unwrap, selector: a}"), "[0].actions: Expected a list, got a mapping."),
        (rule(metadata="{autor: {selector: a}}"), "[0].metadata.autor: Unknown key. Did you mean `author`?"),
        (rule(metadata="{author: #byline\n}"), "[0].metadata.author: Expected a mapping (where the page states the field), got nothing."),
        (rule(metadata="{author: .byline}"), "[0].metadata.author: Expected a mapping (where the page states the field)"),
        (rule(phase="post", selector_overrides="{article: .a}"), "Use `phase: pre` or `phase: both`."),
        ("id: a", "my.yaml:1: A rule file must be a list of rules. Start each rule with `- id: `."),
        ("- just text", "[0]: Expected a mapping (a rule), got `just text`."),
    ],
)  # fmt: skip
def test_fault_is_reported_with_line_key_and_suggestion(text: str, fault: str) -> None:
    faults = faults_of(text)
    assert any(fault in line for line in faults), faults
    assert loading.read(text, "my.yaml").rules == ()


def test_misspelt_key_is_not_also_reported_as_missing() -> None:
    assert len(faults_of(rule(trigger="{host: {equal: a.example}}"))) == 1


def test_all_faults_of_a_file_are_reported_and_good_rules_stay() -> None:
    text = "\n".join([rule(id="one", phase="x", remov=".b"), rule(id="two"), rule(id="three", remove="'['")])
    loaded = loading.read(text, "my.yaml")
    assert [(fault.line, fault.rule) for fault in loaded.faults] == [(2, "one"), (5, "one"), (13, "three")]
    assert [good.id for good in loaded.rules] == ["two"]


def test_duplicate_id_in_a_file_counts_once() -> None:
    loaded = loading.read(rule() + "\n" + rule(), "my.yaml")
    assert [str(fault) for fault in loaded.faults] == [
        "my.yaml:5: [1].id: Duplicate id: line 1 already defines the rule `a`. Give it another id."
    ]
    assert len(loaded.rules) == 1


def test_id_that_is_in_two_files_counts_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(rule(remove=".first"))
    (tmp_path / "b.yaml").write_text(rule(remove=".second"))
    book = rules.load(tmp_path)
    assert [str(fault) for fault in book.faults] == [
        "b.yaml:1: id: Duplicate id: a.yaml, line 1, already defines `a`. Give it another id."
    ]
    assert [own.remove for own in book.rules if own.id == "a"] == [(".first",)]


def test_shipped_rules_have_no_fault_and_are_read_once() -> None:
    assert rules.shipped() is rules.shipped()
    assert all(shipped.source and shipped.source.shipped for shipped in rules.shipped().rules)


def test_folder_that_is_not_there_holds_no_rules(tmp_path: Path) -> None:
    assert rules.load(tmp_path / "nowhere") is rules.shipped()


def test_own_rule_replaces_the_shipped_one_of_its_id(tmp_path: Path) -> None:
    replaced = rules.shipped().rules[0].id
    (tmp_path / "own.yaml").write_text(rule(id=replaced))
    book = rules.load(tmp_path)
    assert [found.remove for found in book.rules if found.id == replaced] == [(".x",)]
    assert len(book.rules) == len(rules.shipped().rules)


def test_own_rule_runs_before_shipped_ones_of_its_priority(tmp_path: Path) -> None:
    priority = rules.shipped().rules[0].priority
    (tmp_path / "own.yaml").write_text(rule(priority=str(priority)))
    assert rules.load(tmp_path).rules[0].id == "a"


def test_broken_own_rule_leaves_all_others_in_force(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(rule(id="good") + "\n" + rule(id="bad", phase="x"))
    (tmp_path / "broken.yaml").write_bytes(b"\xff\xfe[")
    book = rules.load(tmp_path)
    assert [fault.file for fault in book.faults] == ["broken.yaml", "own.yaml"]
    assert "good" in [found.id for found in book.rules]
    assert len(book.rules) == len(rules.shipped().rules) + 1


def test_file_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    assert [fault.message for fault in rules.load(tmp_path).faults] == ["The file cannot be read."]


@pytest.mark.parametrize(
    ("domain", "advice"),
    [("co.uk", "Use a domain below it, or `ends_with`."), ("news.bbc.co.uk", "Did you mean `bbc.co.uk`?")],
)
def test_domain_that_cannot_be_registered_is_a_fault(domain: str, advice: str) -> None:
    checked = loading.check(loading.read(rule(trigger=f"{{host: {{etld_plus_one: {domain}}}}}"), "my.yaml"))
    assert [(fault.rule, fault.suggestion) for fault in checked.faults] == [("a", advice)]
    assert checked.rules == ()


def test_good_rules_pass_and_faults_of_others_stay() -> None:
    good = rule(trigger="{host: {etld_plus_one: bbc.co.uk}}")
    checked = loading.check(loading.read(good + "\n" + rule(id="b", phase="x"), "my.yaml"))
    assert [found.id for found in checked.rules] == ["a"]
    assert [fault.rule for fault in checked.faults] == ["b"]

"""Rules written and read again are the same rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.rules import shipped
from pagekeep.rules.loading import dump_rules, read, rule_data
from pagekeep.rules.rule import Rule
from pagekeep.rules.schema import RULE
from pagekeep.rules.value_types import (
    Cases,
    Choice,
    Group,
    HostName,
    ListOf,
    Nullable,
    OneOrMore,
    Pattern,
    Selector,
    Share,
    Switch,
    Text,
    ValueType,
    Whole,
    WordOr,
)
from tests.rules.test_loading import WHOLE, rule

SELECTORS = st.sampled_from(
    ["p", ".a > b", "#main", "[title='x: y']", "* + p", 'a[href^="http"]', "li:not(.x), td", ".ünal"]
)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(str.strip)
HOSTS = st.sampled_from(["example.com", "www.example.org", "xn--bcher-kva.example", "2001:db8::1", "192.0.2.7"])


def values(value_type: ValueType) -> st.SearchStrategy[Any]:
    """Typed values as the loader would read them for a type of the schema."""
    match value_type:
        case Selector():
            return SELECTORS
        case Text():
            return TEXTS
        case HostName():
            return HOSTS
        case Pattern():
            return st.from_regex(value_type.pattern, fullmatch=True).filter(lambda text: usable(text, value_type))
        case Choice():
            return st.sampled_from(value_type.words)
        case Whole():
            return st.integers(value_type.minimum, value_type.maximum)
        case Share():
            return st.integers(0, 1000).map(lambda number: number / 1000)
        case Switch():
            return st.just(True)
        case Nullable():
            return values(value_type.type)
        case WordOr():
            return st.one_of(st.just(value_type.word), values(value_type.type))
        case OneOrMore() | ListOf():
            return st.lists(values(value_type.type), min_size=1, max_size=3).map(tuple)
        case Cases():
            return st.one_of(*(groups(case) for case in value_type.cases.values()))
        case Group():
            return groups(value_type)
    raise AssertionError(value_type)


def usable(text: str, value_type: Pattern) -> bool:
    return text not in value_type.refused and text.isascii() and text.islower() and "\n" not in text


def groups(group: Group) -> st.SearchStrategy[Any]:
    required = {key.name: values(key.type) for key in group.keys if key.required}
    optional = {key.name: values(key.type) for key in group.keys if not key.required and key.name != "index"}
    made = st.fixed_dictionaries(required, optional=optional)
    if group.needs_one_of:
        made = made.filter(lambda keys: any(name in keys for name in group.needs_one_of))
    return made.filter(lambda keys: keys.get("position") != "index").map(lambda keys: group.make(**keys))


def without_source(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return tuple(replace(each, source=None) for each in rules)


@given(groups(RULE).filter(lambda made: made.phase != "post" or not (made.selector_overrides or made.thread)))
def test_what_is_dumped_loads_as_the_same(made: Rule) -> None:
    text = dump_rules([made])
    loaded = read(text, "dumped.yaml")
    assert loaded.faults == (), text
    assert without_source(loaded.rules) == (made,)


@pytest.mark.parametrize("text", [WHOLE, rule()])
def test_load_dump_load_is_identity(text: str) -> None:
    first = read(text, "my.yaml").rules
    again = read(dump_rules(first), "my.yaml")
    assert again.faults == ()
    assert without_source(again.rules) == without_source(first)
    assert dump_rules(again.rules) == dump_rules(first)


def test_shipped_rules_survive_a_dump() -> None:
    rules = shipped().rules
    assert without_source(read(dump_rules(rules), "shipped.yaml").rules) == without_source(rules)


def test_defaults_are_left_out_and_the_id_comes_first() -> None:
    (read_rule,) = read(rule(), "my.yaml").rules
    assert dump_rules([read_rule]) == (
        "- id: a\n  phase: pre\n  trigger:\n    host:\n      equals: a.example\n  remove: .x\n"
    )


def test_data_has_the_keys_of_the_file() -> None:
    (whole,) = read(WHOLE, "my.yaml").rules
    data = rule_data(whole)
    assert list(data)[:4] == ["id", "phase", "priority", "trigger"]
    assert data["actions"][1] == {"op": "wrap", "selector": "img", "wrapper_tag": "figure", "class": "shot"}


def test_no_rules_are_an_empty_list() -> None:
    assert dump_rules([]) == "[]\n"

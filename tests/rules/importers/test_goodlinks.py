"""The compact rules of GoodLinks."""

from __future__ import annotations

import json
from hashlib import md5
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.rules.loading import read as load
from pagekeep.rules.loading import rule_data
from pagekeep_lab.rule_importers import Imported, goodlinks


def hashed(host: str) -> str:
    return md5(host.encode(), usedforsecurity=False).hexdigest()


def imported(rules: Any, *hosts: str) -> Imported:
    return goodlinks.read("rules.json", json.dumps(rules), hosts)


def effects(body: dict[str, Any]) -> dict[str, Any]:
    """What one rule becomes, without its name and trigger."""
    (rule,) = imported({".page": body}).rules
    return {key: value for key, value in rule_data(rule).items() if key not in ("id", "phase", "trigger")}


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"a": "article"}, {"selector_overrides": {"article": "article"}}),
        ({"we": "#main", "a": ".post"}, {"selector_overrides": {"wrapper": "#main", "article": ".post"}}),
        ({"e": ".related, .footer"}, {"remove": ".related, .footer"}),
        ({"e": [".a", ".b"], "i": ".c"}, {"remove": [".a", ".b"], "include": ".c"}),
        ({"d": True}, {"discard": True}),
        ({"e": ".a", "p": 80}, {"remove": ".a", "priority": 80}),
        ({"m": {"author": ".by"}}, {"metadata": {"author": {"selector": ".by"}}}),
        (
            {"m": {"d": {"s": "time", "a": "datetime"}}},
            {"metadata": {"published": {"selector": "time", "attr": "datetime"}}},
        ),
        ({"a": "article", "ea": True}, {"selector_overrides": {"article": "article"}}),
    ],
)
def test_keys_of_a_rule(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    assert effects(theirs) == ours


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"rt": "H2"}, {"op": "retag", "tag": "h2"}),
        ({"rc": True}, {"op": "remove_container"}),
        ({"rp": 1}, {"op": "remove_parent"}),
        ({"rop": 1}, {"op": "remove_outer_parent"}),
        ({"rtp": ".top"}, {"op": "remove_to_parent", "parent": ".top"}),
        ({"tp": "figure"}, {"op": "move", "target": "figure"}),
        ({"t": "figure", "ts": 2}, {"op": "move", "target": "figure", "position": "index", "index": 2}),
        ({"tp": "figure", "ts": "prepend"}, {"op": "move", "target": "figure", "position": "prepend"}),
        ({"ra": "style"}, {"op": "remove_attrs", "attrs": "style"}),
        ({"ra": ["style", "class"]}, {"op": "remove_attrs", "attrs": ["style", "class"]}),
        ({"g": True}, {"op": "group_siblings", "wrapper_tag": "div"}),
        ({"gs": "ul"}, {"op": "group_siblings", "wrapper_tag": "ul"}),
    ],
)
def test_actions(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    (action,) = effects({"ac": [{"s": ".x", **theirs}]})["actions"]
    assert action == {"selector": ".x", **ours}


def test_actions_of_higher_priority_come_first() -> None:
    made = effects({"ac": [{"s": ".a", "rc": 1}, {"s": ".b", "rc": 1, "p": 5}, {"s": ".c", "rc": 1}]})
    assert [action["selector"] for action in made["actions"]] == [".b", ".a", ".c"]


@pytest.mark.parametrize("host", ["theguardian.com", "www.theguardian.com"])
def test_hash_of_a_well_known_host_is_turned_back(host: str) -> None:
    (rule,) = imported({hashed(host): {"d": True}}).rules
    assert rule.trigger.host is not None
    assert rule.trigger.host.equals == (host,)
    assert rule.id == f"goodlinks-{host}"


def test_hash_is_turned_back_by_a_list_of_hosts_and_by_other_rules() -> None:
    key = hashed("rare.example")
    assert len(imported({key: {"d": True}}, "https://nonsense/", "WWW.rare.example").rules) == 1
    others = load("- {id: a, phase: pre, trigger: {host: {ends_with: rare.example}}, discard: true}", "x").rules
    assert len(goodlinks.read("rules.json", json.dumps({key: {"d": True}}), (), others).rules) == 1


def test_hash_of_an_unknown_host_is_reported() -> None:
    made = imported({hashed("rare.example"): {"d": True}})
    assert made.rules == ()
    assert "unknown host" in str(made.left_out[0])


def test_other_keys_are_signatures() -> None:
    (rule,) = imported({".swiper-slide-duplicate": {"e": ".swiper-slide-duplicate"}}).rules
    assert rule.trigger.dom is not None
    assert rule.trigger.dom.any == (".swiper-slide-duplicate",)
    assert rule.id == "goodlinks-swiper-slide-duplicate"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({".x": {"zz": 1, "d": True}}, "zz: unknown key"),
        ({".x": {"ea": True, "d": True}}, "ea: a rule for the whole page needs a selector"),
        ({".x": {"e": "a["}}, "is not a valid selector"),
        ({".x": {"e": 7}}, "not a selector"),
        ({".x": {}}, "nothing in it could be imported"),
        ({".x": 5}, "not a JSON object"),
        ({"a[": {"d": True}}, "the signature: `a[` is not a valid selector"),
        ({".x": {"m": 5}}, "m: not a JSON object"),
        ({".x": {"m": {"zz": ".a"}}}, "m.zz: unknown field"),
        ({".x": {"ac": [5]}}, "ac[0]: not a JSON object"),
        ({".x": {"ac": [{"s": ".a"}]}}, "ac[0]: no known operation"),
        ({".x": {"ac": [{"rc": 1}]}}, "ac[0].s: not a selector"),
        ({".x": {"ac": [{"s": ".a", "rt": "script"}, {"s": ".b", "rc": 1}]}}, "actions[0].tag"),
        ({".x": {"ac": [{"s": ".a", "rc": 1, "zz": 1}]}}, "ac[0].zz: unknown key"),
        ({".x": {"d": True}, "-x": {"d": True}, "#x": {"d": True}}, "another rule already has this id"),
        ([1], "not a JSON object of rules"),
    ],
)
def test_what_is_left_out_is_reported(rules: Any, expected: str) -> None:
    assert any(expected in str(entry) for entry in imported(rules).left_out), imported(rules).left_out


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\x00"])
def test_invalid_json_is_reported(text: str) -> None:
    why = "neither valid JSON nor JavaScript with the rules as JSON in it"
    assert [entry.why for entry in goodlinks.read("x.json", text).left_out] == [why]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)
)
KEYS = st.sampled_from(["a", "we", "e", "i", "m", "ea", "d", "ac", "p", "zz"])


@given(st.dictionaries(st.text(max_size=5), st.dictionaries(KEYS, VALUES, max_size=4) | VALUES, max_size=3))
def test_any_json_is_imported_or_reported(rules: dict[str, Any]) -> None:
    made = imported(rules)
    assert not rules or made.rules or made.left_out


RULES = {".page": {"e": ".ad"}, "example.com": {"a": "article"}, hashed("cnn.com"): {"e": ".x"}}


@pytest.mark.parametrize(
    "script",
    [
        "const rules = RULES;",
        "(function () { window.ckRules = RULES; })();",
        "// made by hand\nvar o = {};\nmodule.exports = RULES\n",
        "export default RULES;",
        'function get() { return 1 }\nvar CKRules=RULES;get({"a": {}})',
    ],
)
def test_rules_in_a_script_are_read(script: str) -> None:
    found = goodlinks.read("ck-rules.js", script.replace("RULES", json.dumps(RULES)), ())
    assert [rule.id for rule in found.rules] == ["goodlinks-page", "goodlinks-example.com", "goodlinks-cnn.com"]
    assert not found.left_out


@pytest.mark.parametrize("script", ["const rules = {a: 'article'};", "{", "alert(1)", "{" * 5000, '{"a": "article"} x'])
def test_script_without_rules_is_refused(script: str) -> None:
    found = goodlinks.read("ck-rules.js", script, ())
    assert not found.rules
    assert "JSON" in found.left_out[0].why


@pytest.mark.parametrize(
    ("key", "trigger"),
    [
        ("theguardian.com", {"host": {"equals": "theguardian.com"}}),
        ("www.bbc.co.uk", {"host": {"equals": "bbc.co.uk"}}),
        ("Blog.Example.org", {"host": {"equals": "blog.example.org"}}),
        ("article.post", {"dom": {"any": "article.post"}}),
        ("div.page", {"dom": {"any": "div.page"}}),
        ("x-card.tall", {"dom": {"any": "x-card.tall"}}),
        (".medium.com", {"dom": {"any": ".medium.com"}}),
        ("main", {"dom": {"any": "main"}}),
    ],
)
def test_key_is_a_host_or_a_selector(key: str, trigger: dict[str, Any]) -> None:
    (rule,) = imported({key: {"e": ".ad"}}).rules
    assert rule_data(rule)["trigger"] == trigger

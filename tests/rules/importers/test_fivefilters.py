"""Site config files of FiveFilters, every directive and every way to get them wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.rules.loading import rule_data
from pagekeep_lab.rule_importers import Imported, fivefilters

FILES = {file.name: file for file in sorted((Path(__file__).parent / "site-config").glob("*.txt"))}
MAIN = {"selector_overrides": {"article": "main"}}

EXPECTED: dict[str, dict[str, Any] | None] = {
    ".subdomains.example.txt": MAIN,
    "attributes.example.txt": None,
    "axes.example.txt": {
        "remove": ["h2#more ~ *", "hr + *", ':has(> img[class="ad"])', 'figure:has(img[class="ad"])', "div:has(> p)"]
    },
    "bad-xpath.example.txt": {"metadata": {"title": {"selector": "h1"}}},
    "bücher.example.txt": MAIN,
    "deep.example.txt": None,
    "empty-values.example.txt": None,
    "empty.example.txt": None,
    "global.txt": None,
    "headers.example.txt": MAIN,
    "logic.example.txt": {
        "remove": [
            "div:is(#a, #b)",
            "a[href]:not([rel])",
            ":is(aside, nav)",
            'p:not([class="keep"]):is(:has(> em), :has(> strong))',
            "div:has(iframe)",
            'a[href]:not([href="x"])',
        ]
    },
    "login.example.txt": MAIN,
    "malformed.example.txt": MAIN,
    "metadata.example.txt": {
        "selector_overrides": {"article": 'div[class="post-body"]'},
        "metadata": {
            "title": {"selector": 'meta[property="og:title"][content]', "attr": "content"},
            "author": {"selector": 'a[rel="author"]'},
            "published": {"selector": "time[datetime]", "attr": "datetime"},
        },
    },
    "move.example.txt": {"actions": [{"op": "move", "selector": 'div[class="lead"]', "target": "div#story"}]},
    "no host at all.txt": None,
    "nothing.example.txt": None,
    "only-tests.example.txt": None,
    "paging.example.txt": {
        "selector_overrides": {"article": "article"},
        "next_page": 'a[rel="next"]',
        "single_page": 'a[class="print"]',
    },
    "plain.example.txt": {
        "selector_overrides": {"article": "article"},
        "metadata": {"title": {"selector": "h1"}},
    },
    "positions.example.txt": {
        "remove": [
            "article > p:nth-of-type(1)",
            "article > p:nth-last-of-type(1)",
            ':nth-child(2 of div[class="box"])',
            "li:nth-of-type(n+4)",
        ]
    },
    "quotes.example.txt": {
        "remove": ['a[title="it\'s"]', 'a[title="say \\"so\\""]', '[class*="a\\"b"]', '[id*="a\\"b"]']
    },
    "replace.example.txt": {"selector_overrides": {"article": "article"}},
    "several.example.txt": {
        "selector_overrides": {"wrapper": "div#second", "article": "div#first"},
        "metadata": {"title": {"selector": "h1#a"}},
    },
    "strip-attr.example.txt": {
        "actions": [
            {"op": "remove_attrs", "selector": "[style]", "attrs": "style"},
            {"op": "remove_attrs", "selector": "img[srcset]", "attrs": "srcset"},
        ]
    },
    "strip-named.example.txt": {
        "remove": [
            '[class*="sharebar"]',
            '[id*="sharebar"]',
            '[class*="newsletter"]',
            '[id*="newsletter"]',
            'img[src*="/pixel.gif"]',
        ]
    },
    "strip.example.txt": {"remove": ["div#comments", "aside, nav", 'ul[class*="related"] > li', "div.ad"]},
    "switches.example.txt": MAIN,
    "tests.example.txt": MAIN,
    "text.example.txt": {"metadata": {"author": {"selector": 'span[class="by"]'}}},
    "typos.example.txt": MAIN,
    "windows.example.txt": {"selector_overrides": {"article": "main"}, "remove": "aside"},
    "wrap.example.txt": {
        "actions": [
            {"op": "wrap", "selector": 'img[class="hero"]', "wrapper_tag": "figure"},
            {"op": "wrap", "selector": 'div[class="pull"]', "wrapper_tag": "blockquote"},
        ]
    },
    "www.named.example.txt": MAIN,
}


def imported(name: str) -> Imported:
    return fivefilters.read(name, FILES[name].read_bytes().decode("utf-8"))


def left_out(name: str) -> str:
    return "\n".join(map(str, imported(name).left_out))


def test_every_file_has_its_expectation() -> None:
    assert set(FILES) == set(EXPECTED)
    assert len(FILES) >= 30


@pytest.mark.parametrize("name", EXPECTED)
def test_what_can_be_carried_over_is(name: str) -> None:
    rules = [rule_data(rule) for rule in imported(name).rules]
    effects = [{key: data[key] for key in data if key not in ("id", "phase", "trigger")} for data in rules]
    assert effects == ([] if EXPECTED[name] is None else [EXPECTED[name]])


@pytest.mark.parametrize("name", EXPECTED)
def test_every_line_is_imported_or_reported(name: str) -> None:
    written = FILES[name].read_text(encoding="utf-8-sig").splitlines()
    lines = {number for number, line in enumerate(written, 1) if line.strip() and not line.startswith("#")}
    reported_lines = {entry.line for entry in imported(name).left_out}
    whole_file = any(entry.what == "the file" for entry in imported(name).left_out)
    carried = sum(_parts(value) for value in (EXPECTED[name] or {}).values())
    assert reported_lines <= lines | {0}
    assert whole_file or len(lines - reported_lines) <= carried + 1  # one of `wrap` is reported with its action


def _parts(value: Any) -> int:
    return len(value) if isinstance(value, list | dict) else 1


@pytest.mark.parametrize(
    ("name", "form", "host"),
    [
        ("plain.example.txt", "equals", "plain.example"),
        ("www.named.example.txt", "equals", "www.named.example"),
        (".subdomains.example.txt", "ends_with", "subdomains.example"),
        ("bücher.example.txt", "equals", "xn--bcher-kva.example"),
    ],
)
def test_name_of_the_file_says_the_host(name: str, form: str, host: str) -> None:
    (rule,) = imported(name).rules
    assert rule.trigger.host is not None
    assert getattr(rule.trigger.host, form) == (host,)
    assert rule.phase == "pre"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("typos.example.txt", "typos.example.txt:1: titl: //h1: unknown directive; did you mean `title`?"),
        ("typos.example.txt", "did you mean `test_url`?"),
        ("malformed.example.txt", "malformed.example.txt:1: this line says nothing: not a `key: value` line"),
        ("text.example.txt", "CSS cannot match text"),
        ("global.txt", "it applies to all sites"),
        ("no host at all.txt", "its name is not a host name"),
        ("login.example.txt", "logins are not supported"),
        ("replace.example.txt", "replace.example.txt:4: replace_string"),
        ("wrap.example.txt", "actions[2].wrapper_tag: Expected the name of an element that can contain text"),
        ("several.example.txt", "a rule has at most 2 scopes"),
        (".subdomains.example.txt", "the rule also applies to subdomains.example itself"),
        ("empty.example.txt", "nothing in it could be imported"),
    ],
)
def test_what_is_left_out_is_reported_with_its_line_and_why(name: str, expected: str) -> None:
    assert expected in left_out(name)


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from(["body", "strip", "wrap_in(b)", "move_into(//a)"])).map(":[\n".join)
)
def test_any_text_is_a_rule_or_reported(text: str) -> None:
    made = fivefilters.read("any.example.txt", text)
    assert made.rules or made.left_out

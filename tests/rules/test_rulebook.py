"""Which rules match a page, in which order, and why."""

from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.rules import Rulebook
from pagekeep.rules.loading import read

PAGE = dom.parse(
    """<!doctype html><html amp lang=en><head><meta name="generator" content="Ghost 5"><script>"secret handshake"</script>
    </head><body id=Top><div class="Wide sqs-col-4"><p class="lead note">Accelerated <b>Mobile</b> Page</p></div>
    <demo-card data-kind="x">card</demo-card></body></html>"""
)


def book(*triggers: str, phase: str = "pre") -> Rulebook:
    rules = [f"- id: r{n}\n  phase: {phase}\n  trigger: {t}\n  remove: .x" for n, t in enumerate(triggers)]
    loaded = read("\n".join(rules), "my.yaml")
    assert loaded.faults == ()
    return Rulebook(loaded.rules)


def why(trigger: str, url: str | None = "https://www.example.com/post", root: dom.Node = PAGE) -> str | None:
    matched = book(trigger).match("pre", url, root)
    return matched[0].trigger if matched else None


@pytest.mark.parametrize(
    ("trigger", "url", "reason"),
    [
        ("equals: example.com", "https://www.example.com/", "host is example.com"),
        ("equals: www.example.com", "https://example.com/", "host is example.com"),
        ("equals: example.com", "https://blog.example.com/", None),
        ("equals: hatever.org", "https://wwwhatever.org/", None),
        ("equals_www: www.reddit.com", "https://www.reddit.com/", "host is exactly www.reddit.com"),
        ("equals_www: www.reddit.com", "https://reddit.com/", None),
        ("equals_www: www.reddit.com", "https://old.reddit.com/", None),
        ("ends_with: wsj.com", "https://www.wsj.com:443/", "host ends with wsj.com"),
        ("ends_with: wsj.com", "https://wsj.com/", "host ends with wsj.com"),
        ("ends_with: wsj.com", "https://notwsj.com/", None),
        ("ends_with: wsj.com", "https://wsj.com.evil.example/", None),
        ("etld_plus_one: bbc.co.uk", "https://news.bbc.co.uk/", "registered domain is bbc.co.uk"),
        ("etld_plus_one: co.uk", "https://news.bbc.co.uk/", None),
        ("etld_plus_one: github.io", "https://someone.github.io/", None),
        ("equals: bücher.example", "https://xn--bcher-kva.example/", "host is xn--bcher-kva.example"),
        ("equals: xn--bcher-kva.example", "https://BÜCHER.example./", "host is xn--bcher-kva.example"),
        ("equals: '[2001:db8::1]'", "http://[2001:DB8:0::1]:8080/", "host is 2001:db8::1"),
        ("equals: example.com", None, None),
        ("equals: example.com", "example.com", None),
        ("{equals: a.example, ends_with: [b.example, example.com]}", "https://x.example.com", "host ends with example.com"),
    ],
)  # fmt: skip
def test_host_triggers(trigger: str, url: str | None, reason: str | None) -> None:
    assert why(f"{{host: {trigger if trigger.startswith('{') else '{' + trigger + '}'}}}", url) == reason


@pytest.mark.parametrize(
    ("trigger", "reason"),
    [
        ("any: .lead", "found .lead"),
        ("any: [.none, 'div > .lead']", "found div > .lead"),
        ("any: '#Top'", "found #Top"),
        ("any: '#top'", None),
        ("any: .wide", None),
        ("any: 'p, .none'", "found p, .none"),
        ("any: '.none, main'", None),
        ("any: '[class*=\"sqs-col-\"]'", 'found [class*="sqs-col-"]'),
        ("any: '[class^=\"sqs-col-\"]'", None),
        ("any: '[class=\"lead note\"]'", 'found [class="lead note"]'),
        ("any: 'html[amp]'", "found html[amp]"),
        ('any: \'meta[name="generator"][content^="Ghost"]\'', 'found meta[name="generator"][content^="Ghost"]'),
        ("any: 'meta[content^=\"WordPress\"]'", None),
        ("any: demo-card", "found demo-card"),
        ("any: '[data-kind]'", "found [data-kind]"),
        ("any: '[data-kind=y]'", None),
        ("any: 'body:has(.lead)'", "found body:has(.lead)"),
        ("any: ':is(.none, .lead)'", "found :is(.none, .lead)"),
        ("any: '.lead:not(.note)'", None),
        ("any: '.\\00006cead'", "found .\\00006cead"),
        ("all: [.lead, demo-card]", "found .lead and demo-card"),
        ("all: [.lead, .none]", None),
        ("any_text_contains: [nowhere, Mobile Page]", "text contains Mobile Page"),
        ("any_text_contains: secret handshake", None),
        ("any_text_contains: mobile PAGE", "text contains mobile PAGE"),
        ("{any: .lead, all: [b], any_text_contains: card}", "found .lead, found b, text contains card"),
        ("{any: .lead, all: [i], any_text_contains: card}", None),
        ("{any: .lead, any_text_contains: nowhere}", None),
    ],
)
def test_dom_triggers(trigger: str, reason: str | None) -> None:
    assert why(f"{{dom: {trigger if trigger.startswith('{') else '{' + trigger + '}'}}}") == reason


def test_class_case_is_ignored_where_the_page_ignores_it() -> None:
    quirky = dom.parse("<div class=LEAD>text</div>")
    assert why("{dom: {any: .lead}}", root=quirky) == "found .lead"


def test_element_around_the_root_counts_for_selectors() -> None:
    inner = dom.select(PAGE, ".Wide")[0]
    assert why("{dom: {any: '.Wide .lead'}}", root=inner) == "found .Wide .lead"
    assert why("{dom: {any: '#Top .lead'}}", root=inner) == "found #Top .lead"


@pytest.mark.parametrize(
    ("mode", "url", "reason"),
    [
        ("all", "https://example.com", "host is example.com, found .lead"),
        ("all", "https://other.example", None),
        ("any", "https://example.com", "host is example.com"),
        ("any", "https://other.example", "found .lead"),
    ],
)
def test_mode_says_whether_host_and_dom_must_both_hold(mode: str, url: str, reason: str | None) -> None:
    assert why(f"{{mode: {mode}, host: {{equals: example.com}}, dom: {{any: .lead}}}}", url) == reason


def test_host_that_fits_is_not_enough_without_the_dom() -> None:
    assert why("{host: {equals: example.com}, dom: {any: .none}}") is None
    assert why("{mode: any, host: {equals: other.example}, dom: {any: .none}}") is None


def test_rules_run_by_priority_then_in_the_order_of_the_file() -> None:
    text = "\n".join(
        f"- {{id: r{n}, phase: both, priority: {p}, trigger: {{dom: {{any: {s}}}}}, remove: .x}}"
        for n, (p, s) in enumerate([(10, ".lead"), (90, "demo-card"), (10, "p"), (90, "html")])
    )
    rules = Rulebook(read(text, "my.yaml").rules)
    assert [matched.rule.id for matched in rules.match("post", None, PAGE)] == ["r1", "r3", "r0", "r2"]


def test_phase_decides_which_rules_are_asked() -> None:
    trigger = "{dom: {any: .lead}}"
    assert not book(trigger, phase="post").match("pre", None, PAGE)
    assert book(trigger, phase="post").match("post", None, PAGE)
    assert book(trigger, phase="both").match("pre", None, PAGE)


@pytest.mark.parametrize(
    ("trigger", "matches"),
    [
        ("{dom: {all: [demo-card], any: [.gone, .note]}}", True),
        ("{dom: {all: [demo-card], any: [.gone]}}", False),
        ("{dom: {all: [.wide, table], any: [.note]}}", False),
        ("{dom: {all: [.wide], any: [table, demo-card]}}", True),
    ],
)
def test_all_and_any_must_both_hold(trigger: str, matches: bool) -> None:
    quirky = dom.parse("<div class=Wide><p class=note>one</p><demo-card>two</demo-card></div>")
    assert bool(book(trigger).match("pre", None, quirky)) is matches


def test_many_selectors_without_tokens_are_each_found() -> None:
    selectors = ["'[data-kind]'", "demo-card", "'[data-kind=x]'", "'[data-none]'", "'[lang]'", "no-card"]
    found = book(*(f"{{dom: {{any: {selector}}}}}" for selector in selectors)).match("pre", None, PAGE)
    assert [matched.rule.id for matched in found] == ["r0", "r1", "r2", "r4"]


def rendering_book(*modes: str, trigger: str = "{host: {equals: example.com}}") -> Rulebook:
    rules = [
        f"- {{id: r{n}, phase: pre, trigger: {trigger}, rendering: {{mode: {mode}}}}}" for n, mode in enumerate(modes)
    ]
    return Rulebook(read("\n".join(rules), "my.yaml").rules)


@pytest.mark.parametrize(
    ("modes", "expected"),
    [(("auto", "never", "force"), "force"), (("auto", "never"), "never"), (("auto",), "auto")],
)
def test_force_wins_over_never_over_auto(modes: tuple[str, ...], expected: str) -> None:
    rendering = rendering_book(*modes).rendering("https://example.com/x")
    assert rendering is not None
    assert rendering.mode == expected


def test_rendering_is_by_the_host_alone() -> None:
    assert rendering_book("force").rendering("https://other.example") is None
    both = rendering_book("force", trigger="{host: {equals: example.com}, dom: {any: p}}")
    assert both.rendering("https://example.com") is None
    either = rendering_book("force", trigger="{mode: any, host: {equals: example.com}, dom: {any: p}}")
    assert either.rendering("https://example.com") is not None


def test_a_book_without_a_rule_has_all_others() -> None:
    rules = book("{dom: {any: .lead}}", "{dom: {any: p}}")
    assert [rule.id for rule in rules.without("r0").rules] == ["r1"]

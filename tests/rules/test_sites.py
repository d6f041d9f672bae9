"""The shipped rules: each has a page that shows what it does, and does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekeep import dom
from pagekeep.rules import loading, shipped
from pagekeep.rules.rule import Loaded, Rule
from pagekeep_lab import rule_cases

CASES = rule_cases.find_cases(Path(__file__).parent / "sites")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_page_comes_out_as_expected(case: rule_cases.RuleCase) -> None:
    assert rule_cases.run_case(case, shipped()).wrong == ()


@pytest.mark.parametrize("rule", [rule.id for rule in shipped().rules])
def test_every_shipped_rule_has_a_page(rule: str) -> None:
    assert rule in {case.rule for case in CASES}


@pytest.mark.parametrize("rule", shipped().rules, ids=lambda rule: rule.id)
def test_every_shipped_rule_says_why_it_is_there(rule: Rule) -> None:
    assert rule.basis in ("measured", "platform knowledge")


def test_every_page_is_for_a_shipped_rule() -> None:
    assert {case.rule for case in CASES} <= {rule.id for rule in shipped().rules}


COMMENT = '<div class="timeline-comment"><div class="comment-body"><p>Nice.</p></div></div>'


@pytest.mark.parametrize(
    ("rule", "url", "html"),
    [
        ("github-issue", "https://gist.github.com/reed/1", f"<bdi class=js-issue-title></bdi><pre>x</pre>{COMMENT}"),
        ("github-issue", "https://github.com/lake/hulls/commit/1", f"<pre>x</pre>{COMMENT}"),
        ("github-issue", "https://tracker.example/1", f"<bdi class=js-issue-title></bdi>{COMMENT}"),
        (
            "gitlab-issue",
            "https://git.example/c/1",
            "<div class=notes><i class=note-body><b class=note-text>n</b></i></div>",
        ),
        ("consent-managers", "https://a.example/", "<div class='page has-cookie-banner'><p>The whole page</p></div>"),
        ("jetpack-extras", "https://a.example/", "<div id=actionbar><p>The whole page</p></div>"),
        ("mintlify-page", "https://a.example/", "<div id=content-area><div id=content><p>Text</p></div></div>"),
    ],
)
def test_rules_leave_pages_alone_that_only_share_a_name(rule: str, url: str, html: str) -> None:
    assert rule in {one.id for one in shipped().rules}
    assert rule not in {match.rule.id for match in shipped().match("pre", url, dom.parse(html))}


def test_no_shipped_rule_is_of_no_use() -> None:
    assert loading.check(Loaded(shipped().rules, ())).faults == ()

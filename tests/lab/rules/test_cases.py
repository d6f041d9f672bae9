"""Cases of rules: what passes, what fails, and what is wrong with a case itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekeep.errors import NotFound
from pagekeep.rules import Rulebook
from pagekeep.rules.loading import read
from pagekeep_lab import rule_cases

PROSE = "".join(
    f"<p>On day {day} the harbour master wrote down the height of the water, the wind, and who came in late.</p>"
    for day in range(12)
)
PAGE = f"""<!doctype html><title>The log</title><h1>The log</h1><article>{PROSE}
<p class="plug">Subscribe to our harbour letter, it comes every week and it costs nothing at all.</p></article>"""
BOOK = Rulebook(read("- {id: log, phase: both, trigger: {host: {equals: log.example}}, remove: .plug}", "x").rules)


def case(folder: Path, expect: str | None, page: str | None = PAGE) -> rule_cases.RuleCase:
    made = folder / "log--plug"
    made.mkdir()
    if expect is not None:
        (made / "expect.yaml").write_text(expect)
    if page is not None:
        (made / "page.html").write_text(page)
    (found,) = rule_cases.find_cases(folder)
    return found


GOOD = "url: https://log.example/a\nlacks: Subscribe to our\ncontains: [the height of\n  the water]\ntitle: The log\nkind: article\n"


def test_case_that_comes_out_as_expected_passes(tmp_path: Path) -> None:
    outcome = rule_cases.run_case(case(tmp_path, GOOD), BOOK)
    assert outcome.wrong == ()
    assert outcome.passed


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (("log.example", "other.example"), "The rule `log` did not match; matched: none."),
        (("log.example", "other.example"), "Still there: Subscribe to our"),
        (("the water", "the mountain"), "Missing: the height of the mountain"),
        (("title: The log", "title: The book"), "The title is 'The log', not 'The book'."),
        (("kind: article", "kind: forum"), "The kind is article, not forum."),
        (("kind: article", "rules: [log, more]"), "The rule `more` did not match; matched: log."),
        (("kind: article", "kidn: article"), "expect.yaml:6: kidn: Unknown key. Did you mean `kind`?"),
    ],
)
def test_case_that_comes_out_otherwise_fails_and_says_how(tmp_path: Path, change: tuple[str, str], wrong: str) -> None:
    outcome = rule_cases.run_case(case(tmp_path, GOOD.replace(*change)), BOOK)
    assert wrong in outcome.wrong


@pytest.mark.parametrize(
    ("expect", "page", "wrong"),
    [
        (None, PAGE, "The file expect.yaml cannot be read."),
        (GOOD, None, "The file page.html cannot be read."),
        ("", PAGE, "The file is empty."),
        ("[", PAGE, "Invalid YAML"),
        ("url: https://log.example/", PAGE, "needs one of: contains, lacks"),
    ],
)
def test_case_with_a_fault_fails(tmp_path: Path, expect: str | None, page: str | None, wrong: str) -> None:
    outcome = rule_cases.run_case(case(tmp_path, expect, page), BOOK)
    assert len(outcome.wrong) == 1
    assert wrong in outcome.wrong[0]


def test_folder_without_cases_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        rule_cases.find_cases(tmp_path)

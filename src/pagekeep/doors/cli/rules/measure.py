"""`pagekeep rules test` and `rules stats`: run the test cases of rules, and measure what each rule gains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.options import examples, json_option, limit_pages_option, rules_folder_option
from pagekeep.doors.cli.output import report_errors, show_table, write, write_json
from pagekeep.doors.cli.rules.rules import load_rulebook, own_folder
from pagekeep.text import printable

if TYPE_CHECKING:
    from pagekeep.lab.rules.stats import RuleStats

FAILED = 1


@click.command(
    epilog="""\b
Examples:
  pagekeep rules test
  pagekeep rules test my-cases --json

A case is a folder `<rule id>--<name>` with `page.html` and `expect.yaml` (url, rules, contains, lacks, kind, title,
author, published...).

Exit codes: 0 done; 1 a case failed, or an unexpected failure; 2 bad input."""
)
@click.argument("cases", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@rules_folder_option
@json_option
def test(cases: Path | None, folder: str | None, as_json: bool) -> None:
    """Run the test cases in DIR. Default: the folder `tests` in the folder of your own rules."""
    with report_errors(as_json=as_json):
        from pagekeep.lab.rules import cases as rule_cases

        all_cases = rule_cases.find_cases(cases or own_folder(folder) / "tests")
        rules = load_rulebook(folder)
        outcomes = [rule_cases.run_case(case, rules) for case in all_cases]
        failed = [outcome for outcome in outcomes if not outcome.passed]
        if as_json:
            shapes = [
                {"case": outcome.case.name, "passed": outcome.passed, "wrong": outcome.wrong} for outcome in outcomes
            ]
            write_json({"success": not failed, "cases": shapes})
        else:
            for outcome in failed:
                click.echo("\n  ".join([f"Failed: {outcome.case.name}", *map(printable, outcome.wrong)]), err=True)
            write(f"{len(outcomes) - len(failed)} of {len(outcomes)} cases passed.")
    if failed:
        raise click.exceptions.Exit(FAILED)


@click.command(epilog=examples("rules stats tests/corpus", "rules stats tests/corpus --limit 200 --json"))
@click.argument("corpus", metavar="DIR", type=click.Path(path_type=Path))
@limit_pages_option
@rules_folder_option
@json_option
def stats(corpus: Path, limit: int | None, folder: str | None, as_json: bool) -> None:
    """Show for each rule how many pages of a corpus it matches, and their mean F1 score with and without it."""
    with report_errors(as_json=as_json):
        from pagekeep.lab.rules.stats import measure_rules

        load_rulebook(folder)  # prints the faults of the user's own rules
        results = measure_rules(corpus, own_folder(folder), limit=limit)
        if as_json:
            write_json({"rules": [_shape(result) for result in results]})
        else:
            show_table([["rule", "pages", "with", "without", "gain", "worst page"], *map(_row, results)])


def _row(result: RuleStats) -> list[str]:
    if not result.pages:
        return [result.rule, "0", "", "", "", ""]
    numbers = [f"{result.with_rule:.4f}", f"{result.without:.4f}", f"{result.gain:+.4f}"]
    return [result.rule, str(result.pages), *numbers, result.worst]


def _shape(result: RuleStats) -> dict[str, object]:
    is_measured = result.pages > 0
    return {
        "rule": result.rule,
        "pages": result.pages,
        "f1": round(result.with_rule, 6) if is_measured else None,
        "f1_without": round(result.without, 6) if is_measured else None,
        "gain": round(result.gain, 6) if is_measured else None,
        "worst_page": result.worst or None,
    }

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
    from pagekeep.lab.rules.stats import Gain, RuleStats

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


@click.command(epilog=examples("rules stats tests/corpus", "rules stats corpora/* --limit 200 --json"))
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@limit_pages_option
@rules_folder_option
@json_option
def stats(folders: tuple[Path, ...], limit: int | None, folder: str | None, as_json: bool) -> None:
    """Show for each rule how many pages of the corpora it matches and changes, and the mean gain on the pages it matches.

    The gain is in F1, or in the share of snippets and fields that are right. The corpora that shipped rules were written
    with (wcxb, readability, markdown) and all others are counted apart: only the others show what a rule is worth.
    """
    with report_errors(as_json=as_json):
        from pagekeep.lab.rules.stats import measure_rules

        load_rulebook(folder)  # prints the faults of the user's own rules
        results = measure_rules(folders, own_folder(folder), limit=limit)
        if as_json:
            write_json({"rules": [_shape(result) for result in results]})
        else:
            show_table([_HEADER, *map(_row, results)])


_HEADER = ["rule", "basis", "written with", "changed", "gain", "new", "changed", "gain", "worst page"]


def _row(result: RuleStats) -> list[str]:
    groups = [cell for gain in (result.written_with, result.new) for cell in _cells(gain)]
    return [result.rule, result.basis, *groups, result.new.worst or result.total.worst]


def _cells(gain: Gain) -> list[str]:
    return [str(gain.pages), str(gain.changed), f"{gain.gain:+.4f}"] if gain.pages else ["0", "", ""]


def _shape(result: RuleStats) -> dict[str, object]:
    total = result.total
    return {
        "rule": result.rule,
        "pages": total.pages,
        "f1": round(total.with_rule, 6) if total.pages else None,
        "f1_without": round(total.without, 6) if total.pages else None,
        "gain": round(total.gain, 6) if total.pages else None,
        "worst_page": total.worst or None,
        "basis": result.basis or None,
        "written_with": _gain_shape(result.written_with),
        "new": _gain_shape(result.new),
    }


def _gain_shape(gain: Gain) -> dict[str, object]:
    figure = round(gain.gain, 6) if gain.pages else None
    return {"pages": gain.pages, "changed": gain.changed, "gain": figure, "worst_page": gain.worst or None}

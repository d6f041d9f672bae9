"""`pagekeep rules test` and `rules stats`: whether rules do what they should, and whether they are worth it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.open_library import examples
from pagekeep.doors.cli.output import errors_shown, printable, show_table, write, write_json
from pagekeep.doors.cli.rules.rules import own_folder, rulebook

if TYPE_CHECKING:
    from pagekeep.lab.rules.stats import Worth

FAILED = 1

_json_option = click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")
_folder_option = click.option(
    "--rules", "folder", metavar="DIR", help="Folder of your own rules; the setting `rules` without it."
)


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
@_folder_option
@_json_option
def test(cases: Path | None, folder: str | None, as_json: bool) -> None:
    """Run the cases of DIR through the whole pipeline. Without one: `tests` in the folder of your own rules."""
    with errors_shown(as_json=as_json):
        from pagekeep.lab.rules import cases as rule_cases

        found = rule_cases.find(cases or own_folder(folder) / "tests")
        book = rulebook(folder)
        outcomes = [rule_cases.run(case, book) for case in found]
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
@click.option("--limit", type=click.IntRange(min=1), help="Only so many pages.")
@_folder_option
@_json_option
def stats(corpus: Path, limit: int | None, folder: str | None, as_json: bool) -> None:
    """Tell for each rule how many pages of a corpus it matches, and the mean F1 of those with and without it."""
    with errors_shown(as_json=as_json):
        from pagekeep.lab.rules import stats as worth

        rulebook(folder)  # tells what is wrong with one's own
        worths = worth.measure(corpus, own_folder(folder), limit=limit)
        if as_json:
            write_json({"rules": [_shape(found) for found in worths]})
        else:
            show_table([["rule", "pages", "with", "without", "gain", "worst page"], *map(_row, worths)])


def _row(found: Worth) -> list[str]:
    if not found.pages:
        return [found.rule, "0", "", "", "", ""]
    numbers = [f"{found.with_rule:.4f}", f"{found.without:.4f}", f"{found.gain:+.4f}"]
    return [found.rule, str(found.pages), *numbers, found.worst]


def _shape(found: Worth) -> dict[str, object]:
    known = found.pages > 0
    return {
        "rule": found.rule,
        "pages": found.pages,
        "f1": round(found.with_rule, 6) if known else None,
        "f1_without": round(found.without, 6) if known else None,
        "gain": round(found.gain, 6) if known else None,
        "worst_page": found.worst or None,
    }

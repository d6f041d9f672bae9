"""`pagekeep evaluate`: measure extraction on a corpus with known results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.options import json_option, limit_pages_option, report_folder_option
from pagekeep.doors.cli.output import report_errors, show_table, write, write_json

if TYPE_CHECKING:
    from pagekeep.lab import Extractor

GATE_FAILED = 1


@click.command(
    epilog="""\b
Examples:
  pagekeep evaluate tests/corpus
  pagekeep evaluate tests/corpus --limit 100 --out build/eval
  pagekeep evaluate tests/corpus --gate tests/corpus/gate.toml
  pagekeep evaluate FOLDER-OF-HTML-AND-MD

Exit codes: 0 done; 1 a score is below the gate, or an unexpected failure; 2 bad input.""",
)
@click.argument("corpus", metavar="DIR", type=click.Path(path_type=Path))
@limit_pages_option
@report_folder_option
@click.option(
    "--gate",
    "gate_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="TOML file with the lowest allowed scores.",
)
@click.option("--without-rules", is_flag=True, help="Do not apply site rules, to see what they contribute.")
@json_option
def evaluate(
    corpus: Path, limit: int | None, out: Path | None, gate_file: Path | None, without_rules: bool, as_json: bool
) -> None:
    """Measure extraction on the pages of a corpus, or on HTML files with the expected Markdown next to them."""
    with report_errors(as_json=as_json):
        from pagekeep.lab import (
            extract_without_rules,
            find_broken_floors,
            format_table,
            has_markdown_cases,
            pipeline_extract,
            run,
        )
        from pagekeep.model import plain

        extractor = extract_without_rules if without_rules else pipeline_extract
        if has_markdown_cases(corpus):
            _measure_markdown(corpus, limit, gate_file, extractor, as_json)
            return
        report = run(corpus, limit=limit, out=out, extractor=extractor)
        failures = find_broken_floors(report, gate_file) if gate_file else []
        if as_json:
            summary = {kind: plain(row) for kind, row in report.summary.items()}
            write_json({"success": not failures, "summary": summary, "below_gate": failures})
        else:
            show_table(format_table(report))
    for failure in [] if as_json else failures:
        click.echo(f"Below the gate: {failure}", err=True)
    if failures:
        raise click.exceptions.Exit(GATE_FAILED)


def _measure_markdown(
    corpus: Path, limit: int | None, gate_file: Path | None, extractor: Extractor, as_json: bool
) -> None:
    """Compare our Markdown with the expected Markdown of each page, and list the cases that differ."""
    from pagekeep import extras

    extras.require("evaluate", "Measuring Markdown")
    from pagekeep.lab.markdown.cases import format_scores, list_differing, run_cases

    if gate_file:
        raise click.UsageError("--gate does not work with a folder of Markdown.")
    scores = run_cases(corpus, limit, extractor)
    if as_json:
        write_json({"cases": [{"case": score.name, "wrong": list(score.wrong)} for score in scores]})
        return
    show_table(format_scores(scores))
    for line in list_differing(scores):
        write(line)

"""`pagekeep evaluate`: how well extraction does on a corpus with known answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.output import errors_shown, on_terminal, write

if TYPE_CHECKING:
    from pagekeep.lab import Extractor

GATE_BROKEN = 1


@click.command(
    epilog="""\b
Examples:
  pagekeep evaluate tests/corpus
  pagekeep evaluate tests/corpus --limit 100 --out build/eval
  pagekeep evaluate tests/corpus --gate tests/corpus/gate.toml
  pagekeep evaluate DIR-OF-HTML-BESIDE-MD

Exit codes: 0 done; 1 a floor of the gate is broken, or an unexpected failure; 2 bad input.""",
)
@click.argument("corpus", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--limit", type=click.IntRange(min=1), help="Only so many pages.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for summary.csv, history.csv and report.html.")
@click.option("--gate", "gate_file", type=click.Path(path_type=Path), help="TOML file of floors that must hold.")
@click.option("--without-rules", is_flag=True, help="Leave the site rules out, to see what they are worth.")
def evaluate(corpus: Path, limit: int | None, out: Path | None, gate_file: Path | None, without_rules: bool) -> None:
    """Measure extraction on the pages of DIR; where Markdown stands beside them, ours is compared with it."""
    with errors_shown():
        from pagekeep.lab import extract_without_rules, gate, holds_markdown, pipeline_extract, render_table, run

        if holds_markdown(corpus):
            _measure_markdown(corpus, limit, gate_file, extract_without_rules if without_rules else pipeline_extract)
            return
        extractor = extract_without_rules if without_rules else pipeline_extract
        report = run(corpus, limit=limit, out=out, extractor=extractor)
        show_table(render_table(report))
        broken = gate(report, gate_file) if gate_file else []
    for floor in broken:
        click.echo(f"Gate broken: {floor}", err=True)
    if broken:
        raise click.exceptions.Exit(GATE_BROKEN)


def _measure_markdown(corpus: Path, limit: int | None, gate_file: Path | None, extractor: Extractor) -> None:
    """Compare our Markdown with the Markdown beside each page, and name the cases that differ."""
    from pagekeep.lab.markdown.cases import differing, run_cases, table_of

    if gate_file:
        raise click.UsageError("A folder of Markdown has no floors to hold: leave --gate out.")
    scores = run_cases(corpus, limit, extractor)
    show_table(table_of(scores))
    for line in differing(scores):
        write(line)


def show_table(rows: list[list[str]]) -> None:
    """Print rows under their header row: a drawn table on a terminal, tab-separated in a pipe."""
    if not on_terminal():
        write("\n".join("\t".join(row) for row in rows))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*rows[0])
    for row in rows[1:]:
        table.add_row(*row)
    Console().print(table)

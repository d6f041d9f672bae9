"""`pagekeep evaluate`: how well extraction does on a corpus with known answers."""

from __future__ import annotations

from pathlib import Path

import click

from pagekeep.doors.cli.show import errors_shown, on_terminal, write

GATE_BROKEN = 1


@click.command(
    epilog="""\b
Examples:
  pagekeep evaluate tests/corpus
  pagekeep evaluate tests/corpus --limit 100 --out build/eval
  pagekeep evaluate tests/corpus --gate tests/corpus/gate.toml

Exit codes: 0 done; 1 a floor of the gate is broken, or an unexpected failure; 2 bad input.""",
)
@click.argument("corpus", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--limit", type=click.IntRange(min=1), help="Only so many pages.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for summary.csv, history.csv and report.html.")
@click.option("--gate", "gate_file", type=click.Path(path_type=Path), help="TOML file of floors that must hold.")
@click.option("--without-rules", is_flag=True, help="Leave the site rules out, to see what they are worth.")
def evaluate(corpus: Path, limit: int | None, out: Path | None, gate_file: Path | None, without_rules: bool) -> None:
    """Measure extraction on the pages of DIR."""
    with errors_shown():
        from pagekeep.evaluate import extract_without_rules, gate, pipeline_extract, render_table, run

        extractor = extract_without_rules if without_rules else pipeline_extract
        report = run(corpus, limit=limit, out=out, extractor=extractor)
        show_table(render_table(report))
        broken = gate(report, gate_file) if gate_file else []
    for floor in broken:
        click.echo(f"Gate broken: {floor}", err=True)
    if broken:
        raise click.exceptions.Exit(GATE_BROKEN)


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

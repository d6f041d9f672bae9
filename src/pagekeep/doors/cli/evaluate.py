"""`pagekeep evaluate`, `compare` and `compared`: measure extraction, and compare extractors on the same pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.options import (
    examples,
    json_command,
    library_option,
    limit_pages_option,
    report_folder_option,
)
from pagekeep.doors.cli.output import show_bar, show_table, write, write_json
from pagekeep.text import printable

with lazily():
    from pagekeep import config, extras
    from pagekeep.capture.modes import Comparison, comparison_summary, latest_comparisons, log_path, read_log
    from pagekeep.model import plain
    from pagekeep_lab import (
        Extractor,
        extract_without_rules,
        find_broken_floors,
        format_table,
        has_markdown_cases,
        pipeline_extract,
        run,
    )
    from pagekeep_lab.compare import compare as compare_extractors
    from pagekeep_lab.compare import compare_markdown, comparison_to_json, format_comparison, write_report
    from pagekeep_lab.markdown_cases import format_scores, list_differing, run_cases


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
@json_command
def evaluate(
    corpus: Path, limit: int | None, out: Path | None, gate_file: Path | None, without_rules: bool, as_json: bool
) -> None:
    """Measure extraction on the pages of a corpus, or on HTML files with the expected Markdown next to them."""
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
    extras.require("evaluate", "Measuring Markdown")

    if gate_file:
        raise click.UsageError("--gate does not work with a folder of Markdown.")
    scores = run_cases(corpus, limit, extractor)
    if as_json:
        write_json({"cases": [{"case": score.name, "wrong": list(score.wrong)} for score in scores]})
        return
    show_table(format_scores(scores))
    for line in list_differing(scores):
        write(line)


_WORST_SHOWN: Final = 10


@click.command(
    epilog="\b\nA and B are one of:\n"
    "  pagekeep        this version\n"
    "  pagekeep:bare   this version without site rules\n"
    "  rules:FOLDER    this version with other rules\n"
    "  git:REF         Pagekeep at a commit, tag or branch (in a checkout)\n"
    "  trafilatura, readability   if installed\n"
    "  remote          the remote reader of the setting remote_url; the pages are sent to it\n\n"
    + examples(
        "compare git:v0.1.0 pagekeep tests/corpus",
        "compare remote pagekeep saved-pages/ --out build/compare",
        "compare pagekeep rules:my-rules tests/corpus --limit 100",
    )
)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.argument("corpus", metavar="CORPUS", type=click.Path(path_type=Path))
@limit_pages_option
@report_folder_option
@json_command
def compare(a: str, b: str, corpus: Path, limit: int | None, out: Path | None, as_json: bool) -> None:
    """Compare two extractors on the pages of a corpus or a folder of HTML files."""
    with show_bar("Comparing") as progress:
        result = compare_extractors(a, b, corpus, settings=config.load(), limit=limit, out=out, progress=progress)
    if as_json:
        write_json(comparison_to_json(result))
        return
    show_table(format_comparison(result))
    if out:
        write(f"Report: {out / 'report.html'}")


@click.command(epilog=examples("compared", "compared --out build/switch", "compared --json | jq .summary"))
@click.argument("log", required=False, metavar="[LOG]", type=click.Path(path_type=Path))
@library_option
@report_folder_option
@json_command
def compared(log: Path | None, library: str | None, out: Path | None, as_json: bool) -> None:
    """Show how Pagekeep and the remote reader differ on saved pages, from the log that `mode = "compare"` writes.

    Without LOG, the log next to the library is read.
    """
    entries = latest_comparisons(read_log(log or log_path(config.load({"library": library}))))
    if out:
        write_report(out, "compared", ("remote", "local"), [_pair(entry) for entry in entries])
    numbers = comparison_summary(entries)
    if as_json:
        write_json({"summary": numbers, "pages": [_shape(entry) for entry in entries]})
        return
    rows = [[name.replace("_", " "), _format_number(value)] for name, value in numbers.items()]
    show_table([["what", "value"], *rows])
    for entry in sorted(entries, key=lambda entry: entry.similarity or 0.0)[:_WORST_SHOWN]:
        write(_format_entry(entry))


def _format_number(value: Any) -> str:
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else f"{value:,}"


def _shape(entry: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON without the texts."""
    shape: dict[str, Any] = plain(entry)
    for side in ("ours", "theirs"):
        del shape[side]["markdown"]
    return shape


def _format_entry(entry: Comparison) -> str:
    error = entry.ours.error or entry.theirs.error
    detail = printable(error) if error else f"{entry.missing_words} words missing, {entry.extra_words} extra"
    return f"{_format_number(entry.similarity) or '-'}\t{printable(entry.url)}\t{detail}"


def _pair(entry: Comparison) -> Any:
    return compare_markdown(
        entry.url, (entry.theirs.markdown, entry.theirs.error), (entry.ours.markdown, entry.ours.error)
    )

"""`pagekeep compare` and `pagekeep compared`: compare extractors on the same pages, and show the log of comparisons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from pagekeep.doors.cli.options import (
    examples,
    json_option,
    library_option,
    limit_pages_option,
    report_folder_option,
)
from pagekeep.doors.cli.output import report_errors, show_bar, show_table, write, write_json
from pagekeep.text import printable

if TYPE_CHECKING:
    from pagekeep.capture.comparisons import Comparison

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
@json_option
def compare(a: str, b: str, corpus: Path, limit: int | None, out: Path | None, as_json: bool) -> None:
    """Compare two extractors on the pages of a corpus or a folder of HTML files."""
    with report_errors(as_json=as_json), show_bar("Comparing") as progress:
        from pagekeep import config
        from pagekeep.lab.compare import compare as run
        from pagekeep.lab.compare import comparison_to_json, format_comparison

        result = run(a, b, corpus, settings=config.load(), limit=limit, out=out, progress=progress)
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
@json_option
def compared(log: Path | None, library: str | None, out: Path | None, as_json: bool) -> None:
    """Show how Pagekeep and the remote reader differ on saved pages, from the log that `mode = "compare"` writes.

    Without LOG, the log next to the library is read.
    """
    with report_errors(as_json=as_json):
        from pagekeep import config
        from pagekeep.capture.comparisons import latest, log_path, read_log, summary

        entries = latest(read_log(log or log_path(config.load({"library": library}))))
        if out:
            from pagekeep.lab.compare import write_report

            write_report(out, "compared", ("remote", "local"), [_pair(entry) for entry in entries])
        numbers = summary(entries)
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
    from pagekeep.model import plain

    shape: dict[str, Any] = plain(entry)
    for side in ("ours", "theirs"):
        del shape[side]["markdown"]
    return shape


def _format_entry(entry: Comparison) -> str:
    error = entry.ours.error or entry.theirs.error
    detail = printable(error) if error else f"{entry.missing_words} words missing, {entry.extra_words} extra"
    return f"{_format_number(entry.similarity) or '-'}\t{printable(entry.url)}\t{detail}"


def _pair(entry: Comparison) -> Any:
    from pagekeep.lab.compare import compare_markdown

    return compare_markdown(
        entry.url, (entry.theirs.markdown, entry.theirs.error), (entry.ours.markdown, entry.ours.error)
    )

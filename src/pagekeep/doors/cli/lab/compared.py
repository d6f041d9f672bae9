"""`pagekeep compared`: what the mode `compare` has found so far."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.open_library import examples
from pagekeep.doors.cli.output import errors_shown, printable, show_table, write, write_json

if TYPE_CHECKING:
    from pagekeep.capture.comparisons import Comparison

WORST = 10


@click.command(epilog=examples("compared", "compared --out build/switch", "compared --json | jq .summary"))
@click.argument("log", required=False, metavar="[LOG]", type=click.Path(path_type=Path))
@click.option("--library", metavar="PATH|URL", help="The library beside which the log is; the setting without it.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for summary.csv, history.csv and report.html.")
@click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")
def compared(log: Path | None, library: str | None, out: Path | None, as_json: bool) -> None:
    """Tell how our reading of saved pages differs from the remote reader's, by the log of the mode `compare`."""
    with errors_shown(as_json=as_json):
        from pagekeep import config
        from pagekeep.capture.comparisons import latest, log_path, read_log, summary

        entries = latest(read_log(log or log_path(config.load({"library": library}))))
        if out:
            from pagekeep.lab.compare import report_readings

            report_readings(out, "compared", ("remote", "local"), [_pair(entry) for entry in entries])
        told = summary(entries)
        if as_json:
            write_json({"summary": told, "pages": [_line(entry) for entry in entries]})
            return
        show_table([["what", "value"], *([name.replace("_", " "), _shown(value)] for name, value in told.items())])
        for entry in sorted(entries, key=lambda entry: entry.similarity or 0.0)[:WORST]:
            write(_row(entry))


def _shown(value: Any) -> str:
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else f"{value:,}"


def _line(entry: Comparison) -> dict[str, Any]:
    """A comparison without the texts."""
    from pagekeep.model import plain

    shape: dict[str, Any] = plain(entry)
    for side in ("ours", "theirs"):
        del shape[side]["markdown"]
    return shape


def _row(entry: Comparison) -> str:
    failed = entry.ours.error or entry.theirs.error
    said = printable(failed) if failed else f"{entry.missing_words} words missing, {entry.extra_words} extra"
    return f"{_shown(entry.similarity) or '-'}\t{printable(entry.url)}\t{said}"


def _pair(entry: Comparison) -> Any:
    from pagekeep.lab.compare import pair_of_markdown

    return pair_of_markdown(
        entry.url, (entry.theirs.markdown, entry.theirs.error), (entry.ours.markdown, entry.ours.error)
    )

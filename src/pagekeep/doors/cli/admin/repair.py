"""`pagekeep repair`: save what can be read of a damaged library into a new one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.options import examples, json_option
from pagekeep.doors.cli.output import format_count, report_errors, write, write_json
from pagekeep.text import printable

if TYPE_CHECKING:
    from pagekeep.library.open import Salvage

INCOMPLETE = 1
"""Exit code when something is lost."""


@click.command(epilog=examples("repair library.db", "repair library.db --out saved.db"))
@click.argument("library", metavar="LIBRARY", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="NEW", help="The new library. Default: LIBRARY with `.repaired`."
)
@json_option
def repair(library: Path, out: Path | None, as_json: bool) -> None:
    """Save everything that can be read of a damaged library file into a new library, and list what is lost.

    The damaged file is not changed. Stop servers and workers that use it first. The exit code is 0 when nothing is lost,
    1 when something is, and 2 when no item can be read.
    """
    with report_errors(as_json=as_json):
        from pagekeep.library.open import repair as salvage

        target = out or library.with_name(f"{library.stem}.repaired{library.suffix}")
        report = salvage(library, target)
        if as_json:
            write_json(_to_json(report, target))
        else:
            write(_render(report, target))
        if not report.complete:
            raise click.exceptions.Exit(INCOMPLETE)


def _to_json(report: Salvage, target: Path) -> dict[str, object]:
    return {
        "success": report.complete,
        "library": str(target),
        "saved": dict(report.saved),
        "lost_items": list(report.lost_items.values()),
        "notes": report.notes,
    }


def _render(report: Salvage, target: Path) -> str:
    lines = [f"Saved {format_count(report.saved['items'], 'item')} to {target}."]
    if report.complete:
        return "\n".join([*lines, "Nothing is lost."])
    if report.lost_items:
        lines.append(f"Lost {format_count(len(report.lost_items), 'item')}; save those with a URL again:")
        lines += [_render_lost(entry) for entry in report.lost_items.values()]
    if report.notes:
        lines += ["Also lost or incomplete:", *(f"  {printable(note)}" for note in report.notes)]
    return "\n".join(lines)


def _render_lost(entry: dict[str, str | None]) -> str:
    return "  " + "  ".join(printable(text) for text in (entry["id"], entry["title"], entry["url"]) if text)

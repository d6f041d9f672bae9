"""`pagekeep pack`: packs of sites, written by `pagekeep crawl`."""

from __future__ import annotations

from pathlib import Path

import click

from pagekeep.doors.cli.options import examples
from pagekeep.doors.cli.output import report_errors, write, write_json

_MARKS = {"added": "+", "removed": "-", "moved": ">", "changed": "~"}


@click.group(epilog=examples("pack diff manual-1 manual-2", "pack search manual 'tie a bowline'"))
def pack() -> None:
    """Work with packs: folders of Markdown that `pagekeep crawl URL --out folder FOLDER` writes."""


@pack.command(epilog=examples("pack diff manual-1 manual-2", "pack diff manual-1 manual-2 --json"))
@click.argument("older", type=click.Path(path_type=Path))
@click.argument("newer", type=click.Path(path_type=Path))
@click.option("--names", is_flag=True, help="Only name the pages, without the lines that changed.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diff(older: Path, newer: Path, names: bool, as_json: bool) -> None:
    """Show which pages of a site came, went, moved and changed between two packs."""
    with report_errors(as_json=as_json):
        from pagekeep.library.packs.compare import compare_packs
        from pagekeep.present.diff import difference

        changes = compare_packs(older, newer, lambda before, after: tuple(difference(before, after)))
        if as_json:
            shapes = [
                {
                    "change": one.change,
                    "path": one.path,
                    "title": one.title,
                    "url": one.url,
                    "old_path": one.old_path,
                    "lines": list(one.lines),
                }
                for one in changes
            ]
            write_json({"changes": shapes})
            return
        for one in changes:
            write(f"{_MARKS[one.change]} {one.path}" + (f" (was {one.old_path})" if one.old_path else ""))
            for line in () if names else one.lines:
                write(f"    {line}")


@pack.command(epilog=examples("pack search manual 'tie a bowline'"))
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Sections to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def search(folder: Path, query: str, limit: int, as_json: bool) -> None:
    """Search a pack by words, section by section."""
    with report_errors(as_json=as_json):
        from pagekeep.library.packs.search import OpenPack

        opened = OpenPack(folder)
        opened.index(row for task in opened.waiting_tasks() for row in task.run())
        found = opened.search(query, limit)
        if as_json:
            write_json({"sections": [{name: getattr(one, name) for name in type(one).__slots__} for one in found]})
            return
        for one in found:
            write(f"{one.path} {one.number} {one.section or one.title}\n    {one.snippet}")

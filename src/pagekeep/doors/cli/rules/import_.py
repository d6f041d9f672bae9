"""`pagekeep rules import`: convert the rules of other programs to YAML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.options import examples, json_option
from pagekeep.doors.cli.output import format_count, report_errors, write, write_json
from pagekeep.errors import NotFound
from pagekeep.text import printable

if TYPE_CHECKING:
    from pagekeep.rules.importers import Imported


@click.command(
    "import",
    epilog=examples(
        "rules import fivefilters site-config/ > ~/.config/pagekeep/rules/fivefilters.yaml",
        "rules import fivefilters example.com.txt",
        "rules import goodlinks ck-rules.js --hosts hosts.txt",
    ),
)
@click.argument("program", metavar="fivefilters|goodlinks", type=click.Choice(["fivefilters", "goodlinks"]))
@click.argument("paths", metavar="FILE|DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--hosts",
    "hosts_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File of host names, one per line: GoodLinks stores only their hashes.",
)
@json_option
def import_rules(program: str, paths: tuple[Path, ...], hosts_file: Path | None, as_json: bool) -> None:
    """Convert FiveFilters site configs or GoodLinks rules to rules on stdout. What cannot be converted goes to stderr."""
    with report_errors(as_json=as_json):
        from pagekeep.rules.dumping import dump, rule_data

        hosts = read_text(hosts_file).split() if hosts_file else []
        imported = _convert(program, paths, hosts)
        if as_json:
            left_out = [entry._asdict() for entry in imported.left_out]
            write_json({"rules": [rule_data(rule) for rule in imported.rules], "left_out": left_out})
            return
        for entry in imported.left_out:
            click.echo(f"Not converted: {printable(str(entry))}", err=True)
        click.echo(f"{format_count(len(imported.rules), 'rule')}, {len(imported.left_out):,} not converted.", err=True)
        write(dump(imported.rules))


def _convert(program: str, paths: Iterable[Path], hosts: list[str]) -> Imported:
    from pagekeep.rules import shipped
    from pagekeep.rules.importers import Imported, fivefilters, goodlinks

    if program == "fivefilters":
        return Imported.merge(fivefilters.read(path.name, read_text(path)) for path in _find_files(paths, "*.txt"))
    return Imported.merge(
        goodlinks.read(path.name, read_text(path), hosts, shipped().rules)
        for path in _find_files(paths, "*.json", "*.js")
    )


def _find_files(paths: Iterable[Path], *patterns: str) -> Iterator[Path]:
    for path in paths:
        yield from sorted(file for name in patterns for file in path.glob(name)) if path.is_dir() else [path]


def read_text(path: Path) -> str:
    """Return the text of a file; raise `NotFound` when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        raise NotFound(f"Cannot read the file {path}.", suggestions=("Check the path and its permissions.",)) from None

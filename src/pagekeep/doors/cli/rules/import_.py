"""`pagekeep rules import`: rules of other programs as YAML, with a report of what was not carried over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.open_library import examples
from pagekeep.doors.cli.output import errors_shown, printable, write, write_json
from pagekeep.errors import NotFound

if TYPE_CHECKING:
    from pagekeep.rules.importers import Imported


@click.command(
    "import",
    epilog=examples(
        "rules import fivefilters site-config/ > ~/.config/pagekeep/rules/fivefilters.yaml",
        "rules import fivefilters example.com.txt",
        "rules import goodlinks rules.json --hosts hosts.txt",
    ),
)
@click.argument("form", metavar="fivefilters|goodlinks", type=click.Choice(["fivefilters", "goodlinks"]))
@click.argument("paths", metavar="FILE|DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--hosts",
    "hosts_file",
    type=click.Path(path_type=Path),
    help="File of hosts, one a line: GoodLinks keeps only their hashes.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")
def import_rules(form: str, paths: tuple[Path, ...], hosts_file: Path | None, as_json: bool) -> None:
    """Turn site config of FiveFilters, or rules of GoodLinks, into rules on stdout; the report goes to stderr."""
    with errors_shown(as_json=as_json):
        from pagekeep.rules.dumping import dump, rule_data

        known = text_of(hosts_file).split() if hosts_file else []
        imported = _imported(form, paths, known)
        if as_json:
            left_out = [entry._asdict() for entry in imported.left_out]
            write_json({"rules": [rule_data(rule) for rule in imported.rules], "left_out": left_out})
            return
        for entry in imported.left_out:
            click.echo(f"Not carried over: {printable(str(entry))}", err=True)
        click.echo(f"{len(imported.rules)} rules, {len(imported.left_out)} things not carried over.", err=True)
        write(dump(imported.rules))


def _imported(form: str, paths: Iterable[Path], known: list[str]) -> Imported:
    from pagekeep.rules import shipped
    from pagekeep.rules.importers import Imported, fivefilters, goodlinks

    if form == "fivefilters":
        return Imported.merge(fivefilters.read(path.name, text_of(path)) for path in _files(paths, "*.txt"))
    return Imported.merge(
        goodlinks.read(path.name, text_of(path), known, shipped().rules) for path in _files(paths, "*.json")
    )


def _files(paths: Iterable[Path], pattern: str) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.glob(pattern)) if path.is_dir() else [path]


def text_of(path: Path) -> str:
    """A file's text; `NotFound` when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        raise NotFound(f"The file {path} cannot be read.") from None

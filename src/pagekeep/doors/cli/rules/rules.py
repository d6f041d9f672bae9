"""`pagekeep rules`: what is known about sites and platforms, one's own knowledge included."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from pagekeep.doors.cli.lazy import LazyGroup
from pagekeep.doors.cli.open_library import EXIT_CODES, examples
from pagekeep.doors.cli.output import BAD_INPUT, counted, errors_shown, printable, show_table, write, write_json
from pagekeep.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pagekeep.model import RuleFault
    from pagekeep.rules import Rulebook
    from pagekeep.rules.rule import Rule

COMMANDS: Final = {
    "list": "rules.rules:list_rules",
    "show": "rules.rules:show",
    "check": "rules.rules:check",
    "schema": "rules.rules:schema",
    "explain": "rules.explain:explain",
    "test": "rules.measure:test",
    "stats": "rules.measure:stats",
    "import": "rules.import_:import_rules",
}
"""Name to module and function, in the order of the help."""

_json_option = click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")
_folder_option = click.option(
    "--rules", "folder", metavar="DIR", help="Folder of your own rules; the setting `rules` without it."
)


@click.group(cls=LazyGroup, table=COMMANDS, epilog=EXIT_CODES)
def rules() -> None:
    """See, check and test the rules for sites and platforms."""


def own_folder(folder: str | None) -> Path:
    """The folder of the user's own rules."""
    from pagekeep import config

    return config.rules_folder(config.load({"rules": folder}))


def rulebook(folder: str | None) -> Rulebook:
    """All rules in force; what is wrong with the user's own goes to stderr."""
    from pagekeep.rules import load

    book = load(own_folder(folder))
    tell_faults(book.faults)
    return book


def tell_faults(faults: Iterable[RuleFault]) -> None:
    """Say on stderr what is wrong with rules that were left out."""
    for fault in faults:
        click.echo(f"Rule left out: {printable(str(fault))}", err=True)


@click.command("list", epilog=examples("rules list", "rules list --own", "rules list --json"))
@click.option("--own", is_flag=True, help="Only your own rules.")
@_folder_option
@_json_option
def list_rules(own: bool, folder: str | None, as_json: bool) -> None:
    """List the rules in force, in the order they run."""
    with errors_shown(as_json=as_json):
        found = [rule for rule in rulebook(folder).rules if not (own and rule.source and rule.source.shipped)]
        if as_json:
            from pagekeep.present.json_shapes import rule_shape

            write_json({"rules": [rule_shape(rule) for rule in found]})
        elif found:
            rows = [[rule.id, rule.phase, str(rule.priority), told(rule), _origin(rule)] for rule in found]
            show_table([["id", "phase", "priority", "for", "from"], *rows])


@click.command(epilog=examples("rules show swiper-carousel", "rules show swiper-carousel --json"))
@click.argument("rule_id", metavar="ID")
@_folder_option
@_json_option
def show(rule_id: str, folder: str | None, as_json: bool) -> None:
    """Show one rule as YAML, ready to be changed and kept as your own."""
    with errors_shown(as_json=as_json):
        from pagekeep.rules.dumping import dump

        rule = find(rulebook(folder), rule_id)
        if as_json:
            from pagekeep.present.json_shapes import rule_shape

            write_json(rule_shape(rule))
        else:
            write(f"# {_origin(rule)}\n{dump([rule])}")


def find(book: Rulebook, rule_id: str) -> Rule:
    """The rule of that id; `NotFound` with the nearest one otherwise."""
    from pagekeep.rules.faults import nearest

    known = {rule.id: rule for rule in book.rules}
    if rule_id in known:
        return known[rule_id]
    near = nearest(rule_id, known)
    advice = f"Did you mean `{near}`?" if near else "List them: pagekeep rules list"
    raise NotFound(f"There is no rule `{printable(rule_id)[:80]}`.", suggestions=(advice,))


@click.command(epilog=examples("rules check", "rules check my-site.yaml", "rules check ~/rules --json"))
@click.argument("paths", metavar="[FILE|DIR]...", nargs=-1, type=click.Path(path_type=Path))
@_folder_option
@_json_option
def check(paths: tuple[Path, ...], folder: str | None, as_json: bool) -> None:
    """Tell every fault of rule files, with line, key and what to write instead. Without a path: your own."""
    with errors_shown(as_json=as_json):
        from pagekeep.rules import loading

        files = _files(paths or (own_folder(folder),), named=bool(paths))
        checked = loading.check(loading.read_files(files))
        if as_json:
            from pagekeep.present.json_shapes import fault_shape

            faults = [fault_shape(fault) for fault in checked.faults]
            write_json({"success": not faults, "files": len(files), "rules": len(checked.rules), "faults": faults})
        else:
            for fault in checked.faults:
                click.echo(printable(str(fault)), err=True)
            write(
                f"{counted(len(checked.rules), 'good rule')} in {counted(len(files), 'file')}, "
                f"{counted(len(checked.faults), 'fault')}."
            )
    if checked.faults:
        raise click.exceptions.Exit(BAD_INPUT)


def _files(paths: Iterable[Path], *, named: bool) -> list[Path]:
    """The files that were named, and the `*.yaml` of folders."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += sorted(path.glob("*.yaml"))
        elif path.exists():
            files.append(path)
        elif named:
            raise NotFound(f"There is no file or folder {path}.")
    return files


@click.command(epilog=examples("rules schema", "rules schema > rules.schema.json"))
def schema() -> None:
    """Print the JSON Schema of rule files, for editors."""
    with errors_shown():
        from pagekeep.rules.schema import schema as made

        write_json(made())


def told(rule: Rule) -> str:
    """What the rule is for, in a few words."""
    trigger, said = rule.trigger, []
    if trigger.host:
        host = trigger.host
        names = [*host.equals, *host.equals_www, *(f"*.{name}" for name in (*host.ends_with, *host.etld_plus_one))]
        said.append(" or ".join(names))
    if trigger.dom:
        dom = trigger.dom
        parts = [
            " or ".join(dom.any),
            " and ".join(dom.all),
            " or ".join(f'"{text}"' for text in dom.any_text_contains),
        ]
        said.append("pages with " + " and ".join(filter(None, parts)))
    return (" and " if trigger.mode == "all" else " or ").join(said)


def _origin(rule: Rule) -> str:
    if rule.source is None:
        return ""
    return "shipped" if rule.source.shipped else f"{rule.source.name}:{rule.source.line}"

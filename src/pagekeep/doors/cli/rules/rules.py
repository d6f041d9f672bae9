"""`pagekeep rules`: list, show and check the rules for sites and platforms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from pagekeep.doors.cli.lazy import LazyGroup
from pagekeep.doors.cli.open_library import report_faults
from pagekeep.doors.cli.options import EXIT_CODES, examples, json_option, rules_folder_option
from pagekeep.doors.cli.output import BAD_INPUT, format_count, report_errors, show_table, write, write_json
from pagekeep.errors import NotFound
from pagekeep.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pagekeep.rules import Rulebook
    from pagekeep.rules.rule import Rule

COMMANDS: Final = {
    "list": ("rules.rules:list_rules", "List the rules, in the order they run."),
    "show": ("rules.rules:show", "Show a rule as YAML, which you can change and save as your own."),
    "check": (
        "rules.rules:check",
        "Check rule files, by default your own, and show every fault with its line, key and fix.",
    ),
    "schema": (
        "rules.rules:schema",
        "Print the JSON Schema of rule files, for use in an editor; with --json, under the key `schema`.",
    ),
    "explain": (
        "rules.explain:explain",
        "Show which rules matched a page and why, and what each removed, moved or found.",
    ),
    "test": ("rules.measure:test", "Run the test cases in DIR."),
    "stats": (
        "rules.measure:stats",
        "Show for each rule how many pages of the corpora it matches and changes, and the mean gain on the pages it matches.",
    ),
    "import": ("rules.import_:import_rules", "Convert FiveFilters site configs or GoodLinks rules to rules on stdout."),
}
"""Command name to module and function, in the order of the help."""
_MAX_ID_SHOWN: Final = 80
"""Characters of an unknown id that an error repeats."""


@click.group(cls=LazyGroup, sections={"Commands": COMMANDS}, epilog=EXIT_CODES)
def rules() -> None:
    """List, check and test the rules for sites and platforms."""


def own_folder(folder: str | None) -> Path:
    """Return the folder of the user's own rules."""
    from pagekeep import config

    return config.rules_folder(config.load({"rules": folder}))


def load_rulebook(folder: str | None) -> Rulebook:
    """Load all rules; what is wrong with the user's own is printed to stderr."""
    from pagekeep.rules import load

    book = load(own_folder(folder))
    report_faults(book.faults)
    return book


@click.command("list", epilog=examples("rules list", "rules list --own", "rules list --json"))
@click.option("--own", is_flag=True, help="Only your own rules.")
@rules_folder_option
@json_option
def list_rules(own: bool, folder: str | None, as_json: bool) -> None:
    """List the rules, in the order they run."""
    with report_errors(as_json=as_json):
        rules = [rule for rule in load_rulebook(folder).rules if not (own and rule.source and rule.source.shipped)]
        if as_json:
            from pagekeep.present.json_shapes import rule_shape

            write_json({"rules": [rule_shape(rule) for rule in rules]})
        elif rules:
            rows = [
                [rule.id, rule.phase, str(rule.priority), describe_trigger(rule), _rule_source(rule)] for rule in rules
            ]
            show_table([["id", "phase", "priority", "for", "from"], *rows])


@click.command(epilog=examples("rules show swiper-carousel", "rules show swiper-carousel --json"))
@click.argument("rule_id", metavar="ID")
@rules_folder_option
@json_option
def show(rule_id: str, folder: str | None, as_json: bool) -> None:
    """Show a rule as YAML, which you can change and save as your own."""
    with report_errors(as_json=as_json):
        from pagekeep.rules.dumping import dump

        rule = find(load_rulebook(folder), rule_id)
        if as_json:
            from pagekeep.present.json_shapes import rule_shape

            write_json(rule_shape(rule))
        else:
            write(f"# {_rule_source(rule)}\n{dump([rule])}")


def find(book: Rulebook, rule_id: str) -> Rule:
    """Return the rule with this id; else raise `NotFound` with the most similar id."""
    from pagekeep.rules.faults import nearest

    known = {rule.id: rule for rule in book.rules}
    if rule_id in known:
        return known[rule_id]
    near = nearest(rule_id, known)
    hint = f"Did you mean `{near}`?" if near else "To list all rules: pagekeep rules list"
    raise NotFound(f"There is no rule `{printable(rule_id)[:_MAX_ID_SHOWN]}`.", suggestions=(hint,))


@click.command(epilog=examples("rules check", "rules check my-site.yaml", "rules check ~/rules --json"))
@click.argument("paths", metavar="[FILE|DIR]...", nargs=-1, type=click.Path(path_type=Path))
@rules_folder_option
@json_option
def check(paths: tuple[Path, ...], folder: str | None, as_json: bool) -> None:
    """Check rule files, by default your own, and show every fault with its line, key and fix."""
    with report_errors(as_json=as_json):
        from pagekeep.rules import loading

        files = _find_files(paths or (own_folder(folder),), required=bool(paths))
        checked = loading.check(loading.read_files(files))
        if as_json:
            from pagekeep.present.json_shapes import fault_shape

            faults = [fault_shape(fault) for fault in checked.faults]
            write_json({"success": not faults, "files": len(files), "rules": len(checked.rules), "faults": faults})
        else:
            for fault in checked.faults:
                click.echo(printable(str(fault)), err=True)
            write(
                f"{format_count(len(checked.rules), 'valid rule')} in {format_count(len(files), 'file')}, "
                f"{format_count(len(checked.faults), 'fault')}."
            )
    if checked.faults:
        raise click.exceptions.Exit(BAD_INPUT)


def _find_files(paths: Iterable[Path], *, required: bool) -> list[Path]:
    """Return the files named and the `*.yaml` files of folders named."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += sorted(path.glob("*.yaml"))
        elif path.exists():
            files.append(path)
        elif required:
            raise NotFound(f"File or folder not found: {path}", suggestions=("Check the path.",))
    return files


@click.command(epilog=examples("rules schema", "rules schema > rules.schema.json"))
@json_option
def schema(as_json: bool) -> None:
    """Print the JSON Schema of rule files, for use in an editor; with --json, under the key `schema`."""
    with report_errors(as_json=as_json):
        from pagekeep.rules import schema as rule_schema

        if as_json:
            write_json({"schema": rule_schema.schema()})
        else:
            write(json.dumps(rule_schema.schema(), ensure_ascii=False, indent=2))


def describe_trigger(rule: Rule) -> str:
    """Return in a few words which pages the rule is for."""
    trigger, conditions = rule.trigger, []
    if trigger.host:
        host = trigger.host
        names = [*host.equals, *host.equals_www, *(f"*.{name}" for name in (*host.ends_with, *host.etld_plus_one))]
        conditions.append(" or ".join(names))
    if trigger.dom:
        dom = trigger.dom
        parts = [
            " or ".join(dom.any),
            " and ".join(dom.all),
            " or ".join(f'"{text}"' for text in dom.any_text_contains),
        ]
        conditions.append("pages with " + " and ".join(filter(None, parts)))
    return (" and " if trigger.mode == "all" else " or ").join(conditions)


def _rule_source(rule: Rule) -> str:
    if rule.source is None:
        return ""
    return "built-in" if rule.source.shipped else f"{rule.source.name}:{rule.source.line}"

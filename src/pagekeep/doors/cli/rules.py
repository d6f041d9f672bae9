"""`pagekeep rules`: list, show, check, test, measure and convert the rules for sites and platforms."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import click

from pagekeep.doors.cli.lazy import LazyGroup, lazily
from pagekeep.doors.cli.open_library import report_faults
from pagekeep.doors.cli.options import (
    EXIT_CODES,
    examples,
    json_command,
    limit_pages_option,
    rules_folder_option,
)
from pagekeep.doors.cli.output import BAD_INPUT, format_count, show_table, write, write_json
from pagekeep.errors import NotFound
from pagekeep.text import printable

with lazily():
    from pagekeep import config
    from pagekeep.present import json_shapes
    from pagekeep.present.json_shapes import rule_shape, to_json
    from pagekeep.rules import Rulebook, load, loading, shipped
    from pagekeep.rules import schema as rule_schema
    from pagekeep.rules.loading import dump_rules, rule_data
    from pagekeep.rules.rule import Rule
    from pagekeep.rules.value_types import nearest
    from pagekeep_lab import rule_cases
    from pagekeep_lab.rule_importers import Imported, fivefilters, goodlinks
    from pagekeep_lab.rule_stats import Gain, RuleStats, measure_rules


COMMANDS: Final = {
    "list": ("rules:list_rules", "List the rules, in the order they run."),
    "show": ("rules:show", "Show a rule as YAML, which you can change and save as your own."),
    "check": (
        "rules:check",
        "Check rule files, by default your own, and show every fault with its line, key and fix.",
    ),
    "schema": (
        "rules:schema",
        "Print the JSON Schema of rule files, for use in an editor; with --json, under the key `schema`.",
    ),
    "explain": (
        "explain:explain_rules",
        "Show which rules matched a page and why, and what each removed, moved or found.",
    ),
    "test": ("rules:test", "Run the test cases in DIR."),
    "stats": (
        "rules:stats",
        "Show for each rule how many pages of the corpora it matches and changes, and the mean gain on the pages it matches.",
    ),
    "import": ("rules:import_rules", "Convert FiveFilters site configs or GoodLinks rules to rules on stdout."),
}
"""Command name to module and function, in the order of the help."""
_MAX_ID_SHOWN: Final = 80
"""Characters of an unknown id that an error repeats."""


@click.group(cls=LazyGroup, sections={"Commands": COMMANDS}, epilog=EXIT_CODES)
def rules() -> None:
    """List, check and test the rules for sites and platforms."""


def own_folder(folder: str | None) -> Path:
    """Return the folder of the user's own rules."""
    return config.rules_folder(config.load({"rules": folder}))


def load_rulebook(folder: str | None) -> Rulebook:
    """Load all rules; what is wrong with the user's own is printed to stderr."""
    book = load(own_folder(folder))
    report_faults(book.faults)
    return book


@click.command("list", epilog=examples("rules list", "rules list --own", "rules list --json"))
@click.option("--own", is_flag=True, help="Only your own rules.")
@rules_folder_option
@json_command
def list_rules(own: bool, folder: str | None, as_json: bool) -> None:
    """List the rules, in the order they run."""
    rules = [rule for rule in load_rulebook(folder).rules if not (own and rule.source and rule.source.shipped)]
    if as_json:
        write_json({"rules": [rule_shape(rule) for rule in rules]})
    elif rules:
        rows = [[rule.id, rule.phase, str(rule.priority), describe_trigger(rule), _rule_source(rule)] for rule in rules]
        show_table([["id", "phase", "priority", "for", "from"], *rows])


@click.command(epilog=examples("rules show swiper-carousel", "rules show swiper-carousel --json"))
@click.argument("rule_id", metavar="ID")
@rules_folder_option
@json_command
def show(rule_id: str, folder: str | None, as_json: bool) -> None:
    """Show a rule as YAML, which you can change and save as your own."""
    rule = find(load_rulebook(folder), rule_id)
    if as_json:
        write_json(rule_shape(rule))
    else:
        write(f"# {_rule_source(rule)}\n{dump_rules([rule])}")


def find(book: Rulebook, rule_id: str) -> Rule:
    """Return the rule with this id; else raise `NotFound` with the most similar id."""
    known = {rule.id: rule for rule in book.rules}
    if rule_id in known:
        return known[rule_id]
    near = nearest(rule_id, known)
    hint = f"Did you mean `{near}`?" if near else "To list all rules: pagekeep rules list"
    raise NotFound(f"There is no rule `{printable(rule_id)[:_MAX_ID_SHOWN]}`.", suggestions=(hint,))


@click.command(epilog=examples("rules check", "rules check my-site.yaml", "rules check ~/rules --json"))
@click.argument("paths", metavar="[FILE|DIR]...", nargs=-1, type=click.Path(path_type=Path))
@rules_folder_option
@json_command
def check(paths: tuple[Path, ...], folder: str | None, as_json: bool) -> None:
    """Check rule files, by default your own, and show every fault with its line, key and fix."""
    files = _find_files(paths or (own_folder(folder),), required=bool(paths))
    checked = loading.check(loading.read_files(files))
    if as_json:
        faults = [to_json(json_shapes.Fault, fault) for fault in checked.faults]
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
@json_command
def schema(as_json: bool) -> None:
    """Print the JSON Schema of rule files, for use in an editor; with --json, under the key `schema`."""
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


FAILED = 1


@click.command(
    epilog="""\b
Examples:
  pagekeep rules test
  pagekeep rules test my-cases --json

A case is a folder `<rule id>--<name>` with `page.html` and `expect.yaml` (url, rules, contains, lacks, kind, title,
author, published...).

Exit codes: 0 done; 1 a case failed, or an unexpected failure; 2 bad input."""
)
@click.argument("cases", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@rules_folder_option
@json_command
def test(cases: Path | None, folder: str | None, as_json: bool) -> None:
    """Run the test cases in DIR. Default: the folder `tests` in the folder of your own rules."""
    all_cases = rule_cases.find_cases(cases or own_folder(folder) / "tests")
    rules = load_rulebook(folder)
    outcomes = [rule_cases.run_case(case, rules) for case in all_cases]
    failed = [outcome for outcome in outcomes if not outcome.passed]
    if as_json:
        shapes = [{"case": outcome.case.name, "passed": outcome.passed, "wrong": outcome.wrong} for outcome in outcomes]
        write_json({"success": not failed, "cases": shapes})
    else:
        for outcome in failed:
            click.echo("\n  ".join([f"Failed: {outcome.case.name}", *map(printable, outcome.wrong)]), err=True)
        write(f"{len(outcomes) - len(failed)} of {len(outcomes)} cases passed.")
    if failed:
        raise click.exceptions.Exit(FAILED)


@click.command(epilog=examples("rules stats tests/corpus", "rules stats corpora/* --limit 200 --json"))
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@limit_pages_option
@rules_folder_option
@json_command
def stats(folders: tuple[Path, ...], limit: int | None, folder: str | None, as_json: bool) -> None:
    """Show for each rule how many pages of the corpora it matches and changes, and the mean gain on the pages it matches.

    The gain is in F1, or in the share of snippets and fields that are right. The corpora that shipped rules were written
    with (wcxb, readability, markdown) and all others are counted apart: only the others show what a rule is worth.
    """
    load_rulebook(folder)  # prints the faults of the user's own rules
    results = measure_rules(folders, own_folder(folder), limit=limit)
    if as_json:
        write_json({"rules": [_shape(result) for result in results]})
    else:
        show_table([_HEADER, *map(_row, results)])


_HEADER = ["rule", "basis", "written with", "changed", "gain", "new", "changed", "gain", "worst page"]


def _row(result: RuleStats) -> list[str]:
    groups = [cell for gain in (result.written_with, result.new) for cell in _cells(gain)]
    return [result.rule, result.basis, *groups, result.new.worst or result.total.worst]


def _cells(gain: Gain) -> list[str]:
    return [str(gain.pages), str(gain.changed), f"{gain.gain:+.4f}"] if gain.pages else ["0", "", ""]


def _shape(result: RuleStats) -> dict[str, object]:
    total = result.total
    return {
        "rule": result.rule,
        "pages": total.pages,
        "f1": round(total.with_rule, 6) if total.pages else None,
        "f1_without": round(total.without, 6) if total.pages else None,
        "gain": round(total.gain, 6) if total.pages else None,
        "worst_page": total.worst or None,
        "basis": result.basis or None,
        "written_with": _gain_shape(result.written_with),
        "new": _gain_shape(result.new),
    }


def _gain_shape(gain: Gain) -> dict[str, object]:
    figure = round(gain.gain, 6) if gain.pages else None
    return {"pages": gain.pages, "changed": gain.changed, "gain": figure, "worst_page": gain.worst or None}


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
@json_command
def import_rules(program: str, paths: tuple[Path, ...], hosts_file: Path | None, as_json: bool) -> None:
    """Convert FiveFilters site configs or GoodLinks rules to rules on stdout. What cannot be converted goes to stderr."""
    hosts = read_text(hosts_file).split() if hosts_file else []
    imported = _convert(program, paths, hosts)
    if as_json:
        left_out = [entry._asdict() for entry in imported.left_out]
        write_json({"rules": [rule_data(rule) for rule in imported.rules], "left_out": left_out})
        return
    for entry in imported.left_out:
        click.echo(f"Not converted: {printable(str(entry))}", err=True)
    click.echo(f"{format_count(len(imported.rules), 'rule')}, {len(imported.left_out):,} not converted.", err=True)
    write(dump_rules(imported.rules))


def _convert(program: str, paths: Iterable[Path], hosts: list[str]) -> Imported:
    if program == "fivefilters":
        return Imported.merge(
            fivefilters.read(path.name, read_text(path)) for path in _find_foreign_files(paths, "*.txt")
        )
    return Imported.merge(
        goodlinks.read(path.name, read_text(path), hosts, shipped().rules)
        for path in _find_foreign_files(paths, "*.json", "*.js")
    )


def _find_foreign_files(paths: Iterable[Path], *patterns: str) -> Iterator[Path]:
    for path in paths:
        yield from sorted(file for name in patterns for file in path.glob(name)) if path.is_dir() else [path]


def read_text(path: Path) -> str:
    """Return the text of a file; raise `NotFound` when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        raise NotFound(f"Cannot read the file {path}.", suggestions=("Check the path and its permissions.",)) from None

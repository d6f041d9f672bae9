"""`pagekeep rules explain`: show which rules match a page, and what each did."""

from __future__ import annotations

import click

from pagekeep.doors.cli.options import examples, library_options, rules_folder_option, verbose_option
from pagekeep.doors.cli.output import report_errors, write, write_json
from pagekeep.doors.cli.pages.explain import find_page
from pagekeep.present.explain_rules import match_shape, rule_lines
from pagekeep.text import printable


@click.command(
    epilog=examples(
        "rules explain https://example.com/post",
        "rules explain 3f2a",
        "rules explain page.html --url https://example.com/post",
    )
)
@click.argument("source", metavar="ID|URL|FILE|-")
@click.option("--url", help="URL of a page in a file. Rules for a site need it.")
@verbose_option
@rules_folder_option
@library_options
def explain(
    source: str,
    url: str | None,
    verbose: bool,
    folder: str | None,
    library: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Show which rules matched a page and why, and what each removed, moved or found.

    A saved page is read from the library; any other URL is downloaded.
    """
    with report_errors(as_json=as_json):
        from pagekeep import Options

        page = find_page(source, Options(), url=url, as_json=as_json, library=library, user=user, rules=folder)
        if as_json:
            shape = {"url": page.url, "title": page.metadata.title, "quality": page.quality.level}
            rules = [match_shape(match) for match in page.trace.rules]
            write_json({**shape, "word_count": page.word_count, "rules": rules})
            return
        lines = [printable(line) for line in rule_lines(page.trace.rules, verbose=verbose)] or [
            "No rule matches this page."
        ]
        write("\n".join([*lines, "", f"{page.quality.message}."]))

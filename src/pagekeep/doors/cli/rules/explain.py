"""`pagekeep rules explain`: which rules are for a page, and what each did to it."""

from __future__ import annotations

import click

from pagekeep.doors.cli.open_library import examples, library_options
from pagekeep.doors.cli.output import errors_shown, printable, write, write_json
from pagekeep.doors.cli.pages.explain import page_of
from pagekeep.present.explain_rules import match_shape, rule_lines


@click.command(
    epilog=examples(
        "rules explain https://example.com/post",
        "rules explain 3f2a",
        "rules explain page.html --url https://example.com/post",
    )
)
@click.argument("source", metavar="ID|URL|FILE|-")
@click.option("--url", help="Address of a page from a file: rules for a site need it.")
@click.option("--rules", "folder", metavar="DIR", help="Folder of your own rules; the setting `rules` without it.")
@library_options
def explain(
    source: str, url: str | None, folder: str | None, library: str | None, user: str | None, as_json: bool
) -> None:
    """Tell which rules matched a page, what set each off, and what it removed, moved or found.

    A saved page is read as it was stored; an address that is not in the library is fetched.
    """
    with errors_shown(as_json=as_json):
        from pagekeep import Options

        page = page_of(source, Options(), url=url, as_json=as_json, library=library, user=user, rules=folder)
        if as_json:
            shape = {"url": page.url, "title": page.metadata.title, "quality": page.quality.level}
            rules = [match_shape(match) for match in page.trace.rules]
            write_json({**shape, "word_count": page.word_count, "rules": rules})
            return
        lines = [printable(line) for line in rule_lines(page.trace.rules)] or ["No rule is for this page."]
        write("\n".join([*lines, "", f"{page.quality.message}."]))

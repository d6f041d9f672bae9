"""`llms.txt` and `llms-full.txt`: a site for language models, and reading the list that a site itself offers.

The format is that of llmstxt.org: a title, a quoted summary, and lists of links under headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from pagekeep.extraction.site.navigation import NavigationEntry
from pagekeep.library.packs.pack import PackPage

_LINK: Final = re.compile(r"\s*[-*+] \[([^\]\n]{1,500})\]\((https?://[^\s)]{1,2000})\)")
_HEADING: Final = re.compile(r"##+ +(.{1,300})")
_MAX_LINES: Final = 20_000
_OPTIONAL: Final = "Pages"
"""The heading of pages that are under none."""


def write_llms(title: str, summary: str, pages: Iterable[PackPage], *, links: bool = True) -> Iterator[str]:
    """Yield the lines of `llms.txt`: a link to each page, under the headings of the navigation.

    The links lead to the site or, without `links`, to the files of the pack.
    """
    yield f"# {_line(title)}\n"
    if summary:
        yield f"\n> {_line(summary)}\n"
    section: str | None = None
    for one in pages:
        heading = " / ".join(one.section) or _OPTIONAL
        if heading != section:
            section = heading
            yield f"\n## {_line(heading)}\n\n"
        about = f": {_line(one.page.description)}" if one.page.description else ""
        yield f"- [{_escape(one.title)}]({one.url if links else one.path}){about}\n"


def write_llms_full(title: str, summary: str, pages: Iterable[PackPage]) -> Iterator[str]:
    """Yield the parts of `llms-full.txt`: every page with its address, headings one level down."""
    yield f"# {_line(title)}\n"
    if summary:
        yield f"\n> {_line(summary)}\n"
    for one in pages:
        yield f"\n---\n\n# {_line(one.title)}\n\nSource: {one.url}\n\n"
        yield f"{_without_title(one.page.markdown, one.title).strip()}\n"


def read_llms(text: str) -> list[NavigationEntry]:
    """Return the pages that a site's own `llms.txt` lists, with its headings."""
    entries: list[NavigationEntry] = []
    for line in text.splitlines()[:_MAX_LINES]:
        if link := _LINK.match(line):
            level = 1 if any(entry.url is None for entry in entries) else 0
            entries.append(NavigationEntry(" ".join(link[1].split()), link[2].partition("#")[0], level))
        elif heading := _HEADING.match(line):
            entries.append(NavigationEntry(" ".join(heading[1].split()), None, 0))
    return entries


def _without_title(markdown: str, title: str) -> str:
    """Return the text without its first heading if that is the title."""
    first, _, rest = markdown.lstrip().partition("\n")
    return rest if first.startswith("# ") and first[2:].strip() == title.strip() else markdown


def _line(text: str) -> str:
    return " ".join(text.split())


def _escape(text: str) -> str:
    return _line(text).replace("[", "(").replace("]", ")")

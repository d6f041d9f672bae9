"""Rows held to what every other way into the library allows: addresses, tags and lengths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from pagekeep.errors import PagekeepError
from pagekeep.library import normal_url
from pagekeep.library.imports.input.row import Fault, Highlight, Row
from pagekeep.library.items import clean_tag

LONGEST_URL: Final = 8_192
LONGEST_TITLE: Final = 1_000
LONGEST_TAG: Final = 200
MOST_TAGS: Final = 100
LONGEST_NOTE: Final = 100_000
LONGEST_QUOTE: Final = 20_000
MOST_HIGHLIGHTS: Final = 2_000
_LONGEST_NAME: Final = 500
_INTERNAL: Final = "A page of the browser itself is left out"
_NO_PAGES: Final = {
    "javascript": "A bookmarklet is no page",
    "place": "A search among bookmarks is no page",
    **dict.fromkeys(("about", "chrome", "edge"), _INTERNAL),
}
"""Schemes of bookmarks that browsers make, and what such a bookmark is."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A row that may go into the library."""

    row: Row
    url: str
    """Normalised."""
    domain: str


def why_left_out(row: Row) -> str | None:
    """Why the row is no page by its nature; nobody could mend it."""
    scheme, colon, _ = row.url.lstrip().partition(":")
    reason = _NO_PAGES.get(scheme.lower()) if colon else None
    return reason and f"{reason}: {_one_line(row.title or row.url)[:200]}"


def checked(row: Row, now: str) -> Checked | Fault:
    """The row in order, or why it cannot be had. A moment that is still to come becomes `now`."""
    if not row.url:
        return Fault(row.place, "It has no address.", row.title[:500], row)
    if len(row.url) > LONGEST_URL:
        return Fault(row.place, "The address is too long.", row.url[:500], row)
    try:
        url = normal_url.normalise(row.url)
        domain = normal_url.domain(url)
    except PagekeepError as error:
        return Fault(row.place, error.message, row.url[:500], row)
    return Checked(_in_bounds(row, now), url, domain)


def _in_bounds(row: Row, now: str) -> Row:
    return replace(
        row,
        url=row.url.strip(),
        title=_one_line(row.title)[:LONGEST_TITLE],
        author=_one_line(row.author)[:_LONGEST_NAME],
        description=row.description[:LONGEST_NOTE],
        language=row.language if len(row.language) <= 35 and row.language.isascii() else "",
        image=row.image if row.image.startswith(("https://", "http://")) else "",
        saved_at=_past(row.saved_at, now),
        opened_at=_past(row.opened_at, now),
        tags=_tags(row.tags),
        note=row.note[:LONGEST_NOTE],
        highlights=tuple(map(_short, row.highlights[:MOST_HIGHLIGHTS])),
    )


def _one_line(text: str) -> str:
    return text if text.isprintable() else " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _past(moment: str | None, now: str) -> str | None:
    return min(moment, now) if moment else None


def _tags(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Each once, whatever its case."""
    found: dict[str, str] = {}
    for tag in wanted[:1_000]:
        clean = clean_tag(tag)[:LONGEST_TAG].strip()
        if clean:
            found.setdefault(clean.casefold(), clean)
    return tuple(found.values())[:MOST_TAGS]


def _short(mark: Highlight) -> Highlight:
    colour = mark.colour if mark.colour and len(mark.colour) <= 30 and mark.colour.isprintable() else None
    return replace(mark, quote=mark.quote[:LONGEST_QUOTE], note=mark.note[:LONGEST_NOTE], colour=colour)

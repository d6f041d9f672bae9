"""Export the library as a Netscape bookmark file, which every browser and most services can import."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from html import escape

from pagekeep.model import Item

_HEAD = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
"""


def format_bookmarks(items: Iterable[Item]) -> Iterator[str]:
    """Yield the file in pieces: one link per item, with its dates, tags and description. Archived items count as read."""
    yield _HEAD
    for item in items:
        yield _format_link(item)
    yield "</DL><p>\n"


def _format_link(item: Item) -> str:
    known = item.metadata
    tags = ",".join(" ".join(tag.replace(",", " ").split()) for tag in known.tags)
    attributes = {
        # An address that an older import did not check may be a script, which a browser would keep as a bookmarklet.
        "HREF": item.url_full if item.url_full.startswith(("http://", "https://")) else item.url,
        "ADD_DATE": _timestamp(item.saved_at),
        "LAST_MODIFIED": _timestamp(item.updated_at),
        "PRIVATE": "1",
        "TOREAD": "0" if known.archived else "1",
        "TAGS": tags,
    }
    html = " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items() if value)
    line = f"    <DT><A {html}>{escape(_one_line(item.title))}</A>\n"
    description = _one_line(known.description or "")
    return line + (f"    <DD>{escape(description)}\n" if description else "")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _timestamp(time: str) -> str:
    try:
        return str(int(datetime.fromisoformat(time).astimezone(UTC).timestamp()))
    except ValueError:
        return ""

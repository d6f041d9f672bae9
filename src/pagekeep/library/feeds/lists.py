"""Lists of feeds as other readers exchange them (OPML): import and export."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import PagekeepError
from pagekeep.library.feeds.parse.tasks import ReadOpml
from pagekeep.library.feeds.parse.values import Outline
from pagekeep.library.feeds.subscriptions import add_feed
from pagekeep.model import Feed
from pagekeep.store import Store


@dataclass(frozen=True, slots=True)
class ImportedFeeds:
    """What became of the feeds of a list."""

    added: int
    known: int
    failed: tuple[tuple[str, str], ...]
    """Addresses that are not valid, and why."""


async def read_list(body: bytes, retrieval: Retrieval) -> list[Outline]:
    """Return the feeds of an OPML file, read in a worker; `UnsupportedContent` when it is not one."""
    return await retrieval.run(ReadOpml(body))


def import_list(store: Store, outlines: Sequence[Outline]) -> ImportedFeeds:
    """Subscribe to the feeds of a list; those that exist stay as they are."""
    added, failed = 0, list[tuple[str, str]]()
    for outline in outlines:
        try:
            _, is_new = add_feed(store, outline.address, title=outline.title, site=outline.site, folder=outline.folder)
        except PagekeepError as error:
            failed.append((outline.address, error.message))
            continue
        added += is_new
    return ImportedFeeds(added, len(outlines) - added - len(failed), tuple(failed))


def export_list(store: Store) -> str:
    """Return all web feeds as OPML."""
    return write_opml(store.feeds(), clock.to_the_second(clock.now()))


def write_opml(feeds: Sequence[Feed], created: str) -> str:
    """Return the web feeds as OPML 2.0, in their folders."""
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<opml version="2.0">',
        f"<head><title>Feeds</title><dateCreated>{_xml(created)}</dateCreated></head>",
        "<body>",
        *_write_folder([feed for feed in feeds if feed.kind == "web"], ()),
        "</body>",
        "</opml>",
    ]
    return "\n".join(lines) + "\n"


def _write_folder(feeds: Sequence[Feed], path: tuple[str, ...]) -> Iterator[str]:
    indent, inner = "  " * (len(path) + 1), dict[str, list[Feed]]()
    for feed in feeds:
        folders = tuple(feed.folder.split("/")) if feed.folder else ()
        if len(folders) > len(path):
            inner.setdefault(folders[len(path)], []).append(feed)
        else:
            site = f' htmlUrl="{_xml(feed.site)}"' if feed.site else ""
            label = _xml(feed.label)
            yield f'{indent}<outline type="rss" text="{label}" title="{label}" xmlUrl="{_xml(feed.address)}"{site}/>'
    for name, members in inner.items():
        yield f'{indent}<outline text="{_xml(name)}" title="{_xml(name)}">'
        yield from _write_folder(members, (*path, name))
        yield f"{indent}</outline>"


def _xml(text: str) -> str:
    return escape("".join(char for char in text if char >= " " and char not in "\ufffe\uffff"))

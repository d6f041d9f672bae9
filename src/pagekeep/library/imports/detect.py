"""The formats that can be imported, and detecting which one a file has.

To add a format:

1. A list in JSON or a CSV table: write a function in `formats/json_exports.py` or `formats/csv_exports.py` that makes a `Row`
   of an entry. Other files: write `formats/NAME.py` with `matches(sample)`, which recognises a file by its beginning, and
   `read(source)`, which yields a `Row` for every page. Helpers for JSON, CSV, times and tags are in `input/`.
2. Add one line to `FORMATS` below. A format that is a whole folder or archive goes into `TREE_FORMATS` as well.
3. Add the name to `FORMATS` in `doors/cli/import_.py`, and a sample file to `tests/library/imports/samples.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import Final

from pagekeep.errors import UnsupportedContent
from pagekeep.library.imports.formats import (
    bookmark_files,
    csv_exports,
    documents,
    json_exports,
    karakeep,
    mailboxes,
    omnivore,
    own_files,
    pocket,
    web_archive,
)
from pagekeep.library.imports.input.records import JsonObject, Record, Sample, read_objects, read_records
from pagekeep.library.imports.input.row import Fault, ParsedRow, Place
from pagekeep.library.imports.input.source import Source, Tree


@dataclass(frozen=True, slots=True)
class Format:
    """A file format. Several may have one name: the kinds of files that one program writes."""

    name: str
    """The value of `--format`."""
    matches: Callable[[Sample], bool]
    """Returns whether a file has this format, by its beginning. It must not match files of other formats below it."""
    read: Callable[[Source], Iterator[ParsedRow]]
    """Yields every entry of a file, one at a time: files may be larger than the memory.

    An entry that cannot be read is a `Fault`. It raises `PagekeepError` only where nothing after can be read."""


@dataclass(frozen=True, slots=True)
class TreeFormat:
    """A folder or archive whose files belong together."""

    name: str
    matches: Callable[[list[str]], bool]
    """Returns whether a folder has this format, by the paths of its files."""
    read: Callable[[Tree], Iterator[ParsedRow]]


def _list(
    name: str, keys: Set[str], make_row: Callable[[Place, JsonObject], ParsedRow], none_of: Set[str] = frozenset()
) -> Format:
    """Return the format of a JSON list whose first entry has these keys, which only one program writes."""

    def matches(sample: Sample) -> bool:
        return keys <= sample.first.keys() and not none_of & sample.first.keys()

    return Format(name, matches, lambda source: read_objects(source, make_row))


def _table(
    name: str, columns: Set[str], make_row: Callable[[Record], ParsedRow], any_of: Set[str] = frozenset()
) -> Format:
    """Return the format of a CSV table with these columns, which only one program writes."""

    def matches(sample: Sample) -> bool:
        return columns <= sample.columns and (not any_of or bool(any_of & sample.columns))

    def read(source: Source) -> Iterator[ParsedRow]:
        return (one if isinstance(one, Fault) else make_row(one) for one in read_records(source))

    return Format(name, matches, read)


FORMATS: Final = (
    Format("warc", web_archive.matches, web_archive.read),  # binary, so it is recognised before any text is looked at
    Format("document", documents.matches, documents.read),  # PDF and others, also binary
    Format("mail", mailboxes.matches, mailboxes.read),
    Format("failed", own_files.matches_failed, own_files.read_failed),
    Format("pagekeep", own_files.matches_jsonl, own_files.read_jsonl),
    Format("markdown", own_files.matches_markdown, own_files.read_markdown),
    Format("netscape", bookmark_files.matches_netscape, bookmark_files.read_netscape),
    _table("pocket", {"url", "time_added"}, pocket.csv_row),
    Format("pocket", pocket.matches_html, pocket.read_html),
    _list("omnivore", {"slug", "savedAt", "url"}, omnivore.make_row),  # one list without its folder
    _list("wallabag", {"url", "is_archived"}, json_exports.wallabag_row),
    _table("instapaper", {"url", "title", "selection", "folder"}, csv_exports.instapaper_row),
    _table("readwise", {"url", "document tags", "saved date"}, csv_exports.readwise_row),
    _list("goodlinks", {"url", "addedAt"}, json_exports.goodlinks_row),
    _table("matter", {"url", "in queue", "last interaction date"}, csv_exports.matter_row),
    _table("raindrop", {"url", "folder"}, csv_exports.raindrop_row, any_of={"excerpt", "note", "cover", "highlights"}),
    Format("karakeep", karakeep.matches, karakeep.read),
    Format("linkwarden", json_exports.matches_linkwarden, json_exports.read_linkwarden),
    _list("pinboard", {"href", "description"}, json_exports.pinboard_row),
    _list("pocket", {"url", "highlights"}, pocket.annotations_row, none_of={"addedAt", "is_archived"}),
    Format("list", bookmark_files.matches_list, bookmark_files.read_list),  # OneTab, or plain addresses
)
"""The first that matches is used, so special formats come before general ones."""

TREE_FORMATS: Final = (
    TreeFormat("wacz", web_archive.matches_tree, web_archive.read_tree),
    TreeFormat("omnivore", omnivore.matches_tree, omnivore.read_tree),
    TreeFormat("karakeep", karakeep.matches_tree, karakeep.read_tree),
    TreeFormat("mail", mailboxes.matches_tree, mailboxes.read_tree),
    TreeFormat("markdown", own_files.matches_tree, own_files.read_tree),
)

FORMAT_NAMES: Final = tuple(dict.fromkeys(format_.name for format_ in (*FORMATS, *TREE_FORMATS)))


def detect_format(source: Source, name: str | None = None) -> Format:
    """Return the format of a file; with a name, only formats of that name are considered, and one is always returned.

    Raises `UnsupportedContent` when no format matches.
    """
    sample = Sample(source)
    candidates = [format_ for format_ in FORMATS if name in (None, format_.name)]
    detected = next((format_ for format_ in candidates if format_.matches(sample)), None)
    if detected is not None:
        return detected
    if name is not None and candidates:
        return candidates[0]
    raise UnsupportedContent(
        f"The format of {source.part or source.name} is not known.",
        suggestions=(f"Supported formats: {', '.join(FORMAT_NAMES)}.",),
    )


def detect_tree_format(tree: Tree, name: str | None = None) -> TreeFormat | None:
    """Return the format of a folder or archive as a whole, or `None` when each file is an export by itself."""
    names = tree.names()
    candidates = (format_ for format_ in TREE_FORMATS if name in (None, format_.name))
    return next((format_ for format_ in candidates if format_.matches(names)), None)

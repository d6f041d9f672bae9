"""Read and check the rows of an export. Files of others are read by a worker process (`reader.py`), never by a server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, BinaryIO, Final, cast

from pagekeep import clock
from pagekeep.errors import NotFound, PagekeepError, UnsupportedContent
from pagekeep.library import normal_url
from pagekeep.library.imports.detect import detect_format, detect_tree_format
from pagekeep.library.imports.formats.documents import find_type
from pagekeep.library.imports.input.row import CompleteItem, Fault, ParsedRow, Place, Row, RowAnnotation, SkippedRow
from pagekeep.library.imports.input.source import Archive, Folder, Source, Tree, is_archive, source_from_stream
from pagekeep.model import Item
from pagekeep.model.tags import clean_tags


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """A row that may be stored."""

    row: Row
    url: str
    """The normalised address."""
    domain: str


ReadyRow = CheckedRow | CompleteItem | Fault | SkippedRow
"""A row within the limits, or why there is none."""
NamedRow = tuple[str, ReadyRow]
"""The name of the format, and what it read."""


def read_stream(file: IO[bytes], filename: str, format: str | None) -> Iterator[NamedRow]:
    """Yield the rows of an open, seekable file; raise `UnsupportedContent` when its format is not known."""
    stream = cast("BinaryIO", file)
    source = source_from_stream(stream, filename)
    if is_archive(stream) and find_type(source) is None:  # DOCX and EPUB files are archives too
        rows = _read_tree(Archive(stream, filename), format)
    else:
        rows = _read_file(source, format)
    return ((name, _check(row)) for name, row in rows)


def read_folder(path: Path, format: str | None) -> Iterator[NamedRow]:
    """Yield the rows of all exports in a folder."""
    return ((name, _check(row)) for name, row in _read_tree(Folder(path), format))


def _read_file(source: Source, name: str | None) -> Iterator[tuple[str, ParsedRow]]:
    detected = detect_format(source, name)
    try:
        for row in detected.read(source):
            yield detected.name, row
    except PagekeepError as error:
        yield detected.name, Fault(Place(0, 0, source.part or source.name), error.message)


def _read_tree(tree: Tree, name: str | None) -> Iterator[tuple[str, ParsedRow]]:
    detected = detect_tree_format(tree, name)
    if detected is not None:
        for row in detected.read(tree):
            yield detected.name, row
        return
    rows = 0
    for part in tree.names():
        try:
            for named_row in _read_file(tree.source(part), name):
                rows += 1
                yield named_row
        except (UnsupportedContent, NotFound) as error:
            yield "", SkippedRow(Place(0, 0, part), error.message)
        except PagekeepError as error:
            yield "", Fault(Place(0, 0, part), error.message)
    if not rows:
        raise UnsupportedContent(f"{tree.name} does not contain an export in a known format.")


def _check(row: ParsedRow) -> ReadyRow:
    if isinstance(row, CompleteItem):
        return _check_item(row)
    if not isinstance(row, Row):
        return row
    if reason := skip_reason(row):
        return SkippedRow(row.place, reason)
    return check_row(row, clock.now())


def _check_item(row: CompleteItem) -> CompleteItem | Fault:
    try:
        url = normal_url.normalise(row.item.url)
    except PagekeepError as error:
        return Fault(row.place, error.message, row.item.url[:500])
    return replace(row, item=limit_item(replace(row.item, url=url, domain=normal_url.domain(url))))


MAX_URL_CHARS: Final = 8_192
MAX_TITLE_CHARS: Final = 1_000
MAX_TAGS: Final = 100
MAX_NOTE_CHARS: Final = 100_000
MAX_QUOTE_CHARS: Final = 20_000
MAX_ANNOTATIONS: Final = 2_000
_MAX_AUTHOR_CHARS: Final = 500
_MAX_LANGUAGE_CHARS: Final = 35
"""The longest language tag that RFC 5646 says a program must accept."""
_MAX_COLOUR_CHARS: Final = 30
_MAX_ITEM_TITLE_CHARS: Final = 10_000
_MAX_DATE_CHARS: Final = 64
"""PostgreSQL can index no text of more than 2,700 bytes."""
_MAX_RAW_TAGS: Final = 1_000
"""How many tags of a row are cleaned before `MAX_TAGS` applies."""
_EXCERPT_CHARS: Final = 500
_BROWSER_PAGE: Final = "A page of the browser itself is left out"
_NOT_PAGES: Final = {
    "javascript": "A bookmarklet is not a page",
    "place": "A search among bookmarks is not a page",
    **dict.fromkeys(("about", "chrome", "edge"), _BROWSER_PAGE),
}
"""URL schemes of bookmarks that browsers create, and the reason to skip them."""


def skip_reason(row: Row) -> str | None:
    """Return why the row can never be a page, or `None` when it can."""
    scheme, colon, _ = row.url.lstrip().partition(":")
    reason = _NOT_PAGES.get(scheme.lower()) if colon else None
    return reason and f"{reason}: {_one_line(row.title or row.url)[:200]}"


def check_row(row: Row, now: str) -> CheckedRow | Fault:
    """Return the row within the limits, or a fault that says what is wrong with it. Times in the future become `now`."""
    if not row.url:
        return Fault(row.place, "It has no address.", row.title[:_EXCERPT_CHARS], row)
    if len(row.url) > MAX_URL_CHARS:
        reason = f"The address is too long: the limit is {MAX_URL_CHARS:,} characters."
        return Fault(row.place, reason, row.url[:_EXCERPT_CHARS], row)
    try:
        url = normal_url.normalise(row.url)
        domain = normal_url.domain(url)
    except PagekeepError as error:
        return Fault(row.place, error.message, row.url[:_EXCERPT_CHARS], row)
    return CheckedRow(_limit_row(row, now), url, domain)


def limit_item(item: Item) -> Item:
    """Return an item of another library within the limits; what a user can save is not changed."""
    about, published = item.metadata, item.published_at
    image = about.hero_image if (about.hero_image or "").startswith(("https://", "http://")) else None
    return replace(
        item,
        url_full=item.url_full if item.url_full.startswith(("https://", "http://", "mid:")) else item.url,
        title=item.title[:_MAX_ITEM_TITLE_CHARS],
        author=item.author[:_MAX_ITEM_TITLE_CHARS] if item.author else item.author,
        published_at=published if published and len(published) <= _MAX_DATE_CHARS else None,
        metadata=replace(about, tags=_limit_tags(about.tags), hero_image=image),
    )


def _limit_row(row: Row, now: str) -> Row:
    return replace(
        row,
        url=row.url.strip(),
        title=_one_line(row.title)[:MAX_TITLE_CHARS],
        author=_one_line(row.author)[:_MAX_AUTHOR_CHARS],
        description=row.description[:MAX_NOTE_CHARS],
        language=row.language if len(row.language) <= _MAX_LANGUAGE_CHARS and row.language.isascii() else "",
        image=row.image if row.image.startswith(("https://", "http://")) else "",
        saved_at=_not_after(row.saved_at, now),
        opened_at=_not_after(row.opened_at, now),
        tags=_limit_tags(row.tags),
        note=row.note[:MAX_NOTE_CHARS],
        annotations=tuple(map(_limit_annotation, row.annotations[:MAX_ANNOTATIONS])),
    )


def _one_line(text: str) -> str:
    return text if text.isprintable() else " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _not_after(time: str | None, now: str) -> str | None:
    return min(time, now) if time else None


def _limit_tags(raw_tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tags as they are stored, each once."""
    return clean_tags(raw_tags[:_MAX_RAW_TAGS])[:MAX_TAGS]


def _limit_annotation(annotation: RowAnnotation) -> RowAnnotation:
    colour = annotation.colour or ""
    return replace(
        annotation,
        quote=annotation.quote[:MAX_QUOTE_CHARS],
        note=annotation.note[:MAX_NOTE_CHARS],
        colour=colour if colour and len(colour) <= _MAX_COLOUR_CHARS and colour.isprintable() else None,
    )

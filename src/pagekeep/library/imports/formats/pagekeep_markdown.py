"""Our own Markdown files, one a page, by either profile; and others that say in their frontmatter where they are from."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from pagekeep import clock
from pagekeep.errors import PagekeepError, ParseError
from pagekeep.library import normal_url
from pagekeep.library.exports import markdown_files
from pagekeep.library.exports.annotations_block import Marked
from pagekeep.library.exports.markdown_files import Document
from pagekeep.library.exports.pictures import moved
from pagekeep.library.imports.input.row import Fault, Found, Place, Whole
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source, Tree
from pagekeep.markdown.frontmatter import write_frontmatter
from pagekeep.model import Annotation, Item, ItemMetadata
from pagekeep.store.metadata_json import metadata_from_json
from pagekeep.text import count_words, reading_time

SOURCES: Final = "images/sources.json"
"""In a folder with pictures: where each is from."""
LARGEST: Final = 20_000_000
_NAME: Final = re.compile(r".+ [0-9a-f]{8}\.md")
_FROM: Final = re.compile(r"^(?:source|url): *[\"']?https?://", re.M)
_LEVELS: Final = ("article", "simplified", "bookmark", "discarded")
_BOOKMARK_WORDS: Final = 50
"""Fewer are not taken for the page."""
_DERIVED: Final = ("site_name", "language", "hero_image", "description", "reason", "discarded")


def knows(sample: Sample) -> bool:
    """By frontmatter that tells an address."""
    head = sample.head.replace("\r\n", "\n")
    return head.startswith("---\n") and _FROM.search(head.partition("\n---\n")[0]) is not None


def knows_tree(names: list[str]) -> bool:
    """By the names that we give files."""
    pages = [name.rpartition("/")[2] for name in names if name.endswith(".md")]
    return len([name for name in pages if _NAME.fullmatch(name)]) * 2 > len(pages)


def rows(source: Source) -> Iterator[Found]:
    """The page in a file."""
    yield _row(source, {})


def tree_rows(tree: Tree) -> Iterator[Found]:
    """The pages in a folder, their pictures at their old addresses again."""
    names = tree.names()
    pictures = _pictures(tree) if SOURCES in names else {}
    for name in names:
        if name.endswith(".md"):
            yield _row(tree.source(name), pictures)


def _pictures(tree: Tree) -> dict[str, str]:
    try:
        with tree.source(SOURCES).text() as stream:
            told = json.loads(stream.read(LARGEST))
    except (PagekeepError, ValueError, RecursionError):
        return {}
    if not isinstance(told, dict):
        return {}
    return {
        str(name): url for name, url in told.items() if isinstance(url, str) and url.startswith(("http://", "https://"))
    }


def _row(source: Source, pictures: Mapping[str, str]) -> Found:
    place = Place(1, 1, source.part)
    with source.text() as stream:
        text = stream.read(LARGEST + 1)
    if len(text) > LARGEST:
        return Fault(place, "The file is too large.")
    try:
        found = markdown_files.read(moved(text, pictures) if pictures else text)
        return whole(found, place, clock.now())
    except PagekeepError as error:
        return Fault(place, error.message, text[:500])


def whole(found: Document, place: Place, now: str) -> Whole:
    """The item that a file tells; `ParseError` when it does not say where the page is from."""
    fields = _own_names(found.fields)
    address = fields.get("url") or fields.get("source")
    if not isinstance(address, str):
        raise ParseError("The file does not say where the page is from.", suggestions=("Give it a `source`.",))
    url = normal_url.normalise(address)
    kept = {name: value for name, value in fields.items() if name not in markdown_files.OWN}
    saved_at = _moment(fields.get("saved_at")) or now
    item_id = _id(found.id, url)
    item = Item(
        id=item_id,
        user_id="",
        url=url,
        url_full=str(fields.get("source") or url),
        domain=normal_url.domain(url),
        title=" ".join(str(fields.get("title") or "").split()) or url,
        content=write_frontmatter(kept) + ("\n" if found.body else "") + found.body,
        source="markdown",
        author=_text(fields.get("author")),
        saved_at=min(saved_at, now),
        published_at=_text(fields.get("published_date")),
        metadata=_metadata(found, fields),
        created_at=now,
        updated_at=now,
    )
    return Whole(place, item, None, tuple(_annotations(found.marked, item)))


def _own_names(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields by our names, where they have Obsidian's."""
    own = dict(fields)
    for theirs, ours in (("published", "published_date"), ("created", "saved_at")):
        if theirs in own and ours not in own:
            own[ours] = own.pop(theirs)
    if isinstance(own.get("author"), list):
        own["author"] = ", ".join(str(name) for name in own["author"] if name)
    return own


def _metadata(found: Document, fields: Mapping[str, Any]) -> ItemMetadata:
    words = count_words(found.body)
    said = fields.get("quality")
    quality = said if said in _LEVELS else "article" if words >= _BOOKMARK_WORDS else "bookmark"
    flags = {name: True for name in ("pinned", "archived", "edited") if found.flag(name)}
    derived = {name: fields[name] for name in _DERIVED if isinstance(fields.get(name), (str, bool))}
    notes = {"notes": fields["notes"]} if isinstance(fields.get("notes"), str) else {}
    count = fields.get("word_count")
    count = count if isinstance(count, int) and not isinstance(count, bool) else words
    own = {"tags": list(found.tags), "quality": quality, "strategy": "verbatim", "word_count": count}
    return metadata_from_json({**own, "reading_time": reading_time(count), **derived, **flags, **notes})


def _annotations(marked: tuple[Marked, ...], item: Item) -> Iterator[Annotation]:
    """In the order of the file, which is by the moment of marking."""
    for number, one in enumerate(marked):
        moment = clock.after(item.saved_at, number / 1_000_000)
        yield Annotation(one.id, item.id, one.quote, "", "", one.note, None, moment, moment)


def _id(told: str | None, url: str) -> str:
    """Without one of its own, always the same for the same page."""
    try:
        return str(uuid.UUID(told)) if told else str(uuid.uuid5(uuid.NAMESPACE_URL, url))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, url))


def _text(value: object) -> str | None:
    return " ".join(str(value).split()) or None if isinstance(value, str) else None


def _moment(value: object) -> str | None:
    """A day or a moment, in UTC; nothing when it is neither."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return clock.written(found if found.tzinfo else found.replace(tzinfo=UTC))

"""What is put into the library for a row: a bookmark, or the page that the export carries."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from typing import Final

from pagekeep import markdown
from pagekeep.errors import PagekeepError
from pagekeep.library import build_item
from pagekeep.library.imports.check import Checked
from pagekeep.library.imports.input.row import Highlight, Row
from pagekeep.model import (
    PARSER_VERSION,
    Annotation,
    Entry,
    Fetched,
    Item,
    ItemMetadata,
    Metadata,
    Options,
    Page,
    Quality,
)
from pagekeep.text import count_words, reading_time

ReadPage = Callable[[Fetched, Options], Page]

NOT_FETCHED: Final = "The page was imported and not fetched yet."
_SUGGESTION: Final = "Retry it, or wait for its turn when it is queued."
_BOOKMARK: Final = Quality(0, "bookmark", "orange", "Saved as bookmark", (), NOT_FETCHED)
_WHOLE: Final = re.compile(r"<(?:html|body|!doctype)\b", re.IGNORECASE)
_HEAD: Final = 2_000
_CONTEXT: Final = 40
"""Characters before and behind a passage, by which it is told from equal ones."""
_SIGNS: Final = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>#|~$"})


def bookmark(found: Checked, source: str, user_id: str, now: str) -> Entry:
    """The row without content: what the export says about the page."""
    row, saved_at = found.row, found.row.saved_at or now
    about = Metadata(
        title=row.title or None,
        author=row.author or None,
        published=row.published_at,
        description=row.description or None,
        hero_image=row.image or None,
        language=row.language.lower() or None,
        tags=row.tags,
    )
    words = count_words(row.description)
    stamp = f"{saved_at[:19]}Z"
    fields = markdown.page_fields(about, _BOOKMARK, url=row.url, word_count=words, saved_at=stamp)
    content = markdown.join_document(markdown.write_frontmatter(fields), about, row.description.translate(_SIGNS))
    derived = ItemMetadata(
        parser_version=PARSER_VERSION,
        quality="bookmark",
        score=0,
        strategy="bookmark",
        word_count=words,
        reading_time=reading_time(words),
        language=about.language,
        description=about.description,
        hero_image=about.hero_image,
        reason=NOT_FETCHED,
        suggestion=_SUGGESTION,
    )
    item = Item(
        id=str(uuid.uuid4()),
        user_id=user_id,
        url=found.url,
        url_full=row.url,
        domain=found.domain,
        title=row.title or found.url,
        content=content,
        source=f"import:{row.source or source}",
        author=about.author,
        saved_at=saved_at,
        published_at=row.published_at,
        metadata=_with_own(derived, row),
        created_at=now,
        updated_at=now,
        last_opened_at=row.opened_at,
    )
    return Entry(item, None, tuple(_annotations(row, found.url, now, "")))


def carried(found: Checked, source: str, user_id: str, now: str, rules_hash: str, read: ReadPage) -> Entry:
    """The row with the page that the export carries, read as if it had been fetched. `PagekeepError` when it is none."""
    row, plain = found.row, bookmark(found, source, user_id, now)
    body = _document(row).encode("utf-8", "replace")
    fetched = Fetched(row.url, found.url, 200, {}, body, encoding="utf-8")
    page = read(fetched, Options())
    item = build_item.new_item(
        page,
        fetched,
        url=found.url,
        url_full=row.url,
        user_id=user_id,
        now=now,
        saved_at=plain.item.saved_at,
        tags=row.tags,
        rules_hash=rules_hash,
    )
    if page.quality.level in ("bookmark", "discarded"):
        raise PagekeepError(page.quality.reason or "There is no content in it.")
    item = replace(
        item,
        source=plain.item.source,
        title=row.title or item.title,
        author=item.author or plain.item.author,
        published_at=item.published_at or row.published_at,
        last_opened_at=row.opened_at,
        metadata=_with_own(item.metadata, row),
    )
    return Entry(item, build_item.raw_page(fetched, now), tuple(_annotations(row, found.url, now, page.text)))


def _with_own(metadata: ItemMetadata, row: Row) -> ItemMetadata:
    """Add what the user has set in the other program."""
    return replace(
        metadata,
        tags=row.tags,
        imported=True,
        archived=True if row.archived else metadata.archived,
        pinned=True if row.pinned else metadata.pinned,
    )


def _document(row: Row) -> str:
    """The page to read: as it is when it is whole, else with a head that says what the export knows."""
    if _WHOLE.search(row.content[:_HEAD]):
        return row.content
    language = f' lang="{escape(row.language.replace("_", "-"))}"' if row.language else ""
    return (
        f'<!DOCTYPE html><html{language}><head><meta charset="utf-8">{"".join(_head(row))}</head>'
        f"<body><article>{row.content}</article></body></html>"
    )


def _head(row: Row) -> Iterator[str]:
    if row.title:
        yield f"<title>{escape(row.title)}</title>"
    for kind, name, value in (
        ("name", "author", row.author),
        ("name", "description", row.description),
        ("property", "article:published_time", row.published_at),
        ("property", "og:image", row.image),
    ):
        if value:
            yield f'<meta {kind}="{name}" content="{escape(value)}">'


def _annotations(row: Row, url: str, now: str, text: str) -> Iterator[Annotation]:
    notes = (Highlight("", row.note),) if row.note else ()
    flat = " ".join(text.split()) if row.highlights else ""
    for mark in (*notes, *row.highlights):
        if not (mark.quote or mark.note):
            continue
        before, after = _around(mark.quote, flat)
        moment = min(mark.created_at or row.saved_at or now, now)
        # The same passage of the same page has the same id, so that it is never there twice.
        name = str(
            uuid.uuid5(uuid.NAMESPACE_URL, "\n".join((url, mark.quote, mark.note)).encode("utf-8", "replace").decode())
        )
        yield Annotation(name, "", mark.quote, before, after, mark.note, mark.colour, moment, moment)


def _around(quote: str, flat: str) -> tuple[str, str]:
    """The words before and behind the passage; nothing where it is not found."""
    wanted = " ".join(quote.split())
    at = flat.find(wanted) if wanted else -1
    if at < 0:
        return "", ""
    before, after = flat[:at].strip()[-_CONTEXT:], flat[at + len(wanted) :].strip()[:_CONTEXT]
    # Whole words alone.
    if len(before) == _CONTEXT:
        before = before.partition(" ")[2] or before
    if len(after) == _CONTEXT:
        after = after.rpartition(" ")[0] or after
    return before, after

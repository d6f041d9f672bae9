"""Build the item for a row: a bookmark, or the page whose content the export contains."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from typing import Final

from pagekeep.errors import PagekeepError
from pagekeep.library import build_item
from pagekeep.library.imports.check import CheckedRow
from pagekeep.library.imports.input.row import Row, RowAnnotation
from pagekeep.model import (
    Annotation,
    Fetched,
    ItemMetadata,
    Metadata,
    NewItem,
    Options,
    Page,
)

ReadPage = Callable[[Fetched, Options], Page]

NOT_FETCHED: Final = "The page was imported and not fetched yet."
_SUGGESTION: Final = "Retry it, or wait until the queue reaches it."
_DOCUMENT_START: Final = re.compile(r"<(?:html|body|!doctype)\b", re.IGNORECASE)
_DOCUMENT_START_CHARS: Final = 2_000
"""How far to look for the tags that begin a whole document: comments may come before them."""
_CONTEXT_CHARS: Final = 40
"""How much text before and after a quote is stored, to find the right one of several equal quotes."""


def build_bookmark(checked: CheckedRow, source: str, user_id: str, now: str) -> NewItem:
    """Return an item without content: only what the export says about the page."""
    row, saved_at = checked.row, checked.row.saved_at or now
    about = Metadata(
        title=row.title or None,
        author=row.author or None,
        published=row.published_at,
        description=row.description or None,
        hero_image=row.image or None,
        language=row.language.lower() or None,
    )
    item = build_item.new_bookmark(
        about,
        url=checked.url,
        url_full=row.url,
        user_id=user_id,
        now=now,
        saved_at=saved_at,
        reason=NOT_FETCHED,
        suggestion=_SUGGESTION,
        source=f"import:{row.source or source}",
    )
    item = replace(item, last_opened_at=row.opened_at, metadata=_with_user_fields(item.metadata, row))
    return NewItem(item, None, tuple(_build_annotations(row, checked.url, now, "")))


def build_from_content(
    checked: CheckedRow,
    source: str,
    user_id: str,
    now: str,
    rules_hash: str,
    read: Callable[[Fetched], Page],
    *,
    options: Options,
    auto_tags: bool = False,
) -> NewItem:
    """Return an item from the export's copy of the page, built as if it had been fetched.

    The export's title, author and date are used where the page has none. Raises `PagekeepError` when the copy has no content;
    a document that cannot be read is kept with its file.
    """
    row, plain = checked.row, build_bookmark(checked, source, user_id, now)
    fetched = build_item.to_fetched(row.page) if row.page else _fetched_html(row)
    page = _with_row_metadata(read(fetched), row)
    if page.quality.level in ("bookmark", "discarded") and not page.file_type:
        raise PagekeepError(page.quality.reason or "It has no content.")
    item = build_item.new_item(
        page,
        fetched,
        url=checked.url,
        url_full=row.url,
        user_id=user_id,
        now=now,
        saved_at=plain.item.saved_at,
        tags=build_item.first_tags(page, None, row.tags, auto_tags=auto_tags),
        rules_hash=rules_hash,
        options=options,
        source=plain.item.source,
    )
    item = replace(item, last_opened_at=row.opened_at, metadata=_with_user_fields(item.metadata, row))
    annotations = tuple(_build_annotations(row, checked.url, now, page.text))
    return NewItem(item, row.page or build_item.to_raw_page(fetched, now), annotations)


def _fetched_html(row: Row) -> Fetched:
    """Return the export's copy of the page as if it had been fetched."""
    body = _html_document(row).encode("utf-8", "replace")
    return Fetched(row.url, row.url, 200, {}, body, encoding="utf-8")


def _with_row_metadata(page: Page, row: Row) -> Page:
    """Return the page with what only the export knows; of a part of a page, the export also knows the title."""
    about = page.metadata
    titles = (about.title, row.title) if _is_whole(row) else (row.title, about.title)
    return page.copy_with(
        metadata=replace(
            about,
            title=titles[0] or titles[1] or None,
            author=about.author or row.author or None,
            published=about.published or row.published_at,
        ),
    )


def _with_user_fields(metadata: ItemMetadata, row: Row) -> ItemMetadata:
    """Return the metadata with what the user has set in the other program."""
    return replace(
        metadata,
        tags=metadata.tags or row.tags,
        imported=True,
        archived=True if row.archived else metadata.archived,
        pinned=True if row.pinned else metadata.pinned,
    )


def _is_whole(row: Row) -> bool:
    return row.page is not None or _DOCUMENT_START.search(row.content[:_DOCUMENT_START_CHARS]) is not None


def _html_document(row: Row) -> str:
    """Return the content if it is a whole document, else a document around it with the export's metadata in its head."""
    if _is_whole(row):
        return row.content
    language = f' lang="{escape(row.language.replace("_", "-"))}"' if row.language else ""
    return (
        f'<!DOCTYPE html><html{language}><head><meta charset="utf-8">{"".join(_head_elements(row))}</head>'
        f"<body><article>{row.content}</article></body></html>"
    )


def _head_elements(row: Row) -> Iterator[str]:
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


def _build_annotations(row: Row, url: str, now: str, text: str) -> Iterator[Annotation]:
    notes = (RowAnnotation("", row.note),) if row.note else ()
    flat_text = " ".join(text.split()) if row.annotations else ""
    for annotation in (*notes, *row.annotations):
        quote, note = annotation.quote, annotation.note
        if not (quote or note):
            continue
        before, after = _find_context(quote, flat_text)
        time = min(annotation.created_at or row.saved_at or now, now)
        # The same annotation of the same page has the same id, so that importing it again adds nothing.
        identity = "\n".join((url, quote, note)).encode("utf-8", "replace").decode()
        annotation_id = str(uuid.uuid5(uuid.NAMESPACE_URL, identity))
        yield Annotation(annotation_id, "", quote, before, after, note, annotation.colour, time, time)


def _find_context(quote: str, flat_text: str) -> tuple[str, str]:
    """Return the words before and after a quote, or two empty texts when the page does not contain it."""
    flat_quote = " ".join(quote.split())
    at = flat_text.find(flat_quote) if flat_quote else -1
    if at < 0:
        return "", ""
    end = at + len(flat_quote)
    before = flat_text[max(0, at - _CONTEXT_CHARS - 1) : at].strip()[-_CONTEXT_CHARS:]
    after = flat_text[end : end + _CONTEXT_CHARS + 1].strip()[:_CONTEXT_CHARS]
    # Drop a word that the limit has cut.
    if len(before) == _CONTEXT_CHARS:
        before = before.partition(" ")[2] or before
    if len(after) == _CONTEXT_CHARS:
        after = after.rpartition(" ")[0] or after
    return before, after

"""Build the item for a row, and merge it with the item that the library already has."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from typing import Final

from pagekeep import clock
from pagekeep.errors import PagekeepError, StoreError
from pagekeep.library.imports.input.row import Row, RowAnnotation
from pagekeep.library.imports.rows import CheckedRow
from pagekeep.library.items import build_item
from pagekeep.model import Annotation, Fetched, Item, ItemMetadata, Metadata, NewItem, Options, Page, RawPage
from pagekeep.model.lists import carry_edits
from pagekeep.store import Store

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


def has_content(item: Item) -> bool:
    """Return whether the item is more than a bookmark."""
    return item.metadata.quality in ("article", "simplified") or item.metadata.edited


def was_fetched(item: Item) -> bool:
    """Return whether the live page was ever fetched, even if it was worse than the imported one."""
    failure = item.metadata.last_error
    was_worse = failure is not None and failure.get("type") == "Worse"
    return was_worse or not (item.source.startswith("import:") or item.metadata.fetch_again is not None)


def merge_items(old: Item, new: Item) -> Item:
    """Return both items as one: tags of both, the earlier save time, archived and pinned if either is.

    The old content stays unless only the import has content. A deleted item is restored. Returns `old` itself when
    nothing changes.
    """
    base = _choose_content(old, new)
    metadata = replace(
        base.metadata,
        tags=build_item.merge_tags(old, new),
        archived=True if old.metadata.archived or new.metadata.archived else base.metadata.archived,
        pinned=True if old.metadata.pinned or new.metadata.pinned else base.metadata.pinned,
    )
    result = replace(
        base,
        id=old.id,
        created_at=old.created_at,
        updated_at=old.updated_at,
        saved_at=min(old.saved_at, new.saved_at),
        last_opened_at=max(filter(None, (old.last_opened_at, new.last_opened_at)), default=None),
        deleted_at=None,
        metadata=metadata,
    )
    return old if result == old else replace(result, updated_at=new.updated_at)


def _choose_content(old: Item, new: Item) -> Item:
    """Return the item whose title, content and derived metadata are kept."""
    if has_content(old) or (was_fetched(old) and not has_content(new)):
        return old
    if has_content(new):
        return _with_notes(new, old)
    only_new_has_title = old.title == old.url != new.title
    return _with_notes(new, old) if only_new_has_title else old


def _with_notes(new: Item, old: Item) -> Item:
    notes = old.metadata.notes if new.metadata.notes is None else new.metadata.notes
    refused = old.metadata.refused_tags or new.metadata.refused_tags
    merged = replace(new, metadata=replace(new.metadata, notes=notes, refused_tags=refused))
    return carry_edits(old, merged) if old.metadata.edits else merged


def add_newer(
    stored: Item, raw: RawPage | None, store: Store, read: Callable[[Fetched], Page], rules_hash: str, options: Options
) -> Item | None:
    """Store an imported raw page as the newest version of its item, and return the item; `None` when it is not one.

    It must be newer than what is stored, as good, and have other content, as the same parser makes it of both.
    """
    if raw is None or not has_content(stored) or stored.metadata.edited:
        return None
    versions = store.snapshots.list(stored.id)
    known = {version.hash for version in versions}
    if not versions or raw.fetched_at <= versions[-1].fetched_at or hashlib.sha256(raw.body).hexdigest() in known:
        return None
    fetched = build_item.to_fetched(raw)
    try:
        before = read(build_item.to_fetched(store.snapshots.raw(stored.id, versions[-1].number)))
        page = read(fetched)
    except StoreError:
        raise
    except PagekeepError:
        return None
    new = build_item.new_item(
        page,
        fetched,
        url=stored.url,
        url_full=stored.url_full,
        user_id=stored.user_id,
        now=clock.now(),
        saved_at=stored.saved_at,
        tags=(),
        rules_hash=rules_hash,
        options=options,
        source=stored.source,
    )
    if page.markdown == before.markdown or build_item.why_worse(new.metadata, stored.metadata):
        return None
    return store.items.save(replace(new, id=stored.id), raw, versions="add", version_source="import")

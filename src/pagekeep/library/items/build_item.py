"""Build an item from a captured page, and compare it with the stored one."""

from __future__ import annotations

import hashlib
import re
import uuid
from dataclasses import replace
from typing import Final
from urllib.parse import unquote

from pagekeep import clock
from pagekeep.capture.joined_file import PAGES_TYPE, first_page
from pagekeep.capture.uploads import FILE_HOST
from pagekeep.fetch.headers import keep_headers
from pagekeep.library import normal_url
from pagekeep.model import PARSER_VERSION, Fetched, Item, ItemMetadata, Metadata, Options, Page, QualityLevel, RawPage
from pagekeep.model.tags import unique_tags
from pagekeep.text import count_words, reading_time

_HEADING_PAGE: Final = re.compile(r'<h[1-6][^>]* data-page="(\d{1,5})"')


def new_item(
    page: Page,
    fetched: Fetched,
    *,
    url: str,
    url_full: str,
    user_id: str,
    now: str,
    saved_at: str | None = None,
    tags: tuple[str, ...],
    rules_hash: str | None = None,
    options: Options | None = None,
    source: str = "web",
) -> Item:
    """Return the item for a page; `url` is its normalised address, `url_full` the one the user gave.

    `saved_at` is when the page was first saved, if before `now`: the frontmatter shows it, as the item does. `options` are
    those of the extraction.
    """
    from pagekeep.markdown import write_document  # it loads the parser

    saved_at = saved_at or now
    metadata = derive_metadata(page, rendered=fetched.rendered, rules_hash=rules_hash)
    metadata = replace(metadata, tags=tags, raw_hash=hashlib.sha256(fetched.body).hexdigest())
    if options is not None:
        metadata = replace(metadata, options={"max_bytes": options.max_bytes})
    if metadata.discarded:
        metadata = replace(metadata, archived=True)
    return Item(
        id=str(uuid.uuid4()),
        user_id=user_id,
        url=url,
        url_full=url_full,
        domain=normal_url.domain(url),
        title=choose_title(page, url),
        content=write_document(page, saved_at=clock.to_the_second(saved_at)),
        source=source,
        author=page.metadata.author,
        saved_at=saved_at,
        published_at=page.metadata.published,
        metadata=metadata,
        created_at=now,
        updated_at=now,
    )


def make_again(item: Item, page: Page, fetched: Fetched, rules_hash: str, options: Options | None) -> Item:
    """Return an item as a save of its page would make it now, under another id and without tags."""
    return new_item(
        page,
        fetched,
        url=item.url,
        url_full=item.url_full,
        user_id=item.user_id,
        now=item.updated_at,
        saved_at=item.saved_at,
        tags=(),
        rules_hash=rules_hash,
        options=options,
        source=item.source,
    )


def new_bookmark(
    about: Metadata,
    *,
    url: str,
    url_full: str,
    user_id: str,
    now: str,
    saved_at: str | None = None,
    reason: str,
    suggestion: str | None,
    tags: tuple[str, ...] = (),
    source: str = "web",
) -> Item:
    """Return the item for a page that was not fetched: its address, what is known about it, and the reason.

    The reason is not part of the text, so that another failure does not change it; it is added where the item is shown.
    """
    from pagekeep.markdown import write_bookmark  # it loads the parser

    saved_at, words = saved_at or now, count_words(about.description or "")
    metadata = ItemMetadata(
        tags=tags,
        parser_version=PARSER_VERSION,
        quality="bookmark",
        score=0,
        strategy="bookmark",
        word_count=words,
        reading_time=reading_time(words),
        language=about.language,
        description=about.description,
        hero_image=about.hero_image,
        reason=reason,
        suggestion=suggestion,
    )
    return Item(
        id=str(uuid.uuid4()),
        user_id=user_id,
        url=url,
        url_full=url_full,
        domain=normal_url.domain(url),
        title=about.title or url,
        content=write_bookmark(about, url=url_full, saved_at=clock.to_the_second(saved_at)),
        source=source,
        author=about.author,
        saved_at=saved_at,
        published_at=about.published,
        metadata=metadata,
        created_at=now,
        updated_at=now,
    )


def first_tags(
    page: Page, existing: Item | None, requested: tuple[str, ...], *, auto_tags: bool = False
) -> tuple[str, ...]:
    """Return the tags to add at a save: those that the user requested and, with `auto_tags`, the suggested ones.

    The latter are added when the page is extracted for the first time only: one that the user removed must not come back.
    """
    is_first = existing is None or is_unfetched(existing)
    return unique_tags((*requested, *(page.metadata.suggested_tags if auto_tags and is_first else ())))


def is_unfetched(item: Item) -> bool:
    """Return whether the item is only an address, whose page was never fetched."""
    return item.metadata.has_only_address


def merge_tags(old: Item, new: Item) -> tuple[str, ...]:
    """Return the tags of both items, the old ones first, each once."""
    return unique_tags((*old.metadata.tags, *new.metadata.tags))


def choose_title(page: Page, url: str) -> str:
    """Return the item's title: the page's, else its domain; of a file, its name."""
    host = normal_url.domain(url)
    is_file = host == FILE_HOST or (normal_url.is_mail(url) and "/" in url)
    return page.metadata.title or (unquote(url.rpartition("/")[2]) if is_file else host)


def derive_metadata(page: Page, *, rendered: bool, rules_hash: str | None = None) -> ItemMetadata:
    """Return what extraction found, as metadata of the item.

    `rules_hash` is the fingerprint of the rules that were active.
    """
    about = page.metadata
    return ItemMetadata(
        parser_version=PARSER_VERSION,
        rules_hash=rules_hash,
        used_js_rendering=rendered,
        content_hash=hashlib.sha256(page.markdown.encode("utf-8", "surrogatepass")).hexdigest(),
        quality=page.quality.level,
        score=page.quality.score,
        strategy=page.strategy,
        kind=page.kind,
        file_type=page.file_type,
        page_count=page.page_count,
        heading_pages=tuple(map(int, _HEADING_PAGE.findall(page.html))) if page.page_count else (),
        word_count=page.word_count,
        reading_time=page.reading_time,
        language=about.language,
        site_name=about.site_name,
        description=about.description,
        hero_image=about.hero_image,
        favicon=about.favicon,
        suggested_tags=about.suggested_tags,
        reason=page.quality.reason,
        caught=page.caught.kind if page.caught else None,
        suggestion=suggest_next(page),
        discarded=page.quality.level == "discarded",
    )


def suggest_next(page: Page) -> str | None:
    """Return what to do next about a page without content."""
    if page.caught:
        return page.caught.suggestion
    if page.quality.level != "bookmark":
        return None
    return "Retry with the browser." if page.need_render else "Retry later, or with the browser."


def to_raw_page(fetched: Fetched, now: str) -> RawPage:
    """Return the page as it was fetched, to be stored with its item."""
    return RawPage(
        body=fetched.body,
        encoding=fetched.encoding,
        content_type=fetched.content_type,
        final_url=fetched.final_url,
        status=fetched.status,
        rendered=fetched.rendered,
        fetched_at=now,
        etag=fetched.etag,
        last_modified=fetched.last_modified,
        headers=keep_headers(fetched.headers) if fetched.headers else None,
    )


def to_fetched(raw: RawPage) -> Fetched:
    """Return a stored page as if it had just been fetched."""
    return Fetched(
        url=raw.final_url,
        final_url=raw.final_url,
        status=raw.status,
        headers=raw.headers or {},
        body=raw.body,
        encoding=raw.encoding,
        content_type=raw.content_type,
        rendered=raw.rendered,
        etag=raw.etag,
        last_modified=raw.last_modified,
    )


def first_raw_page(raw: RawPage) -> RawPage:
    """Return the first page of an article over several pages as it was fetched; any other page stays as it is."""
    return raw if raw.content_type != PAGES_TYPE else to_raw_page(first_page(to_fetched(raw)), raw.fetched_at)


EDITED: Final = "the text is your own version"
"""Why a text that the user edited is not replaced."""
_RANKS: Final[dict[QualityLevel, int]] = {"discarded": 0, "bookmark": 1, "simplified": 2, "article": 3}


def why_worse(new: ItemMetadata, old: ItemMetadata) -> str | None:
    """Return why a new result must not replace the stored one, by their metadata; `None` when it may.

    A lower quality level is worse; at the same level, fewer than half the words. An item that was never extracted (imported,
    or saved by an older version) is worse than anything.
    """
    had, has = old.quality, new.quality
    if has == had == "bookmark" and old.imported:
        return "the page has no content, and the imported data describes it"
    if had is None or has is None:
        return None
    if has == "discarded" != had:
        return "a rule now discards the page, and the stored version has content"
    if _RANKS[has] != _RANKS[had]:
        return f"the new version is only a {has}, the stored one {had}" if _RANKS[has] < _RANKS[had] else None
    words, before = new.word_count or 0, old.word_count or 0
    return f"the new version has {words:,} words, the stored one {before:,}" if words * 2 < before else None

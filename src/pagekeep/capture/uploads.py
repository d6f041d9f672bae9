"""Turn pages that the user already has into the same value as a fetched page, and a book into one page for each chapter."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote

from pagekeep import dom
from pagekeep.capture.documents.file_types import declared_type, detect
from pagekeep.capture.extract import TEXT_TYPES
from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import InvalidUrl, UnsupportedContent
from pagekeep.fetch.urls import split_url
from pagekeep.model import Fetched
from pagekeep.workers import DOCUMENT

_SAVED_FROM: Final = re.compile(rb"(?:saved from url=\([0-9]{1,6}\)|\burl: )(https?://[^\s\"'<>]{1,2000})")
"""The comment with the URL that browsers and SingleFile write at the top of a saved page."""
_COMMENT_BYTES: Final = 4_000
"""Where that comment is looked for."""
_HEAD_BYTES: Final = 200_000
"""Where the canonical URL is looked for."""
MAIL_TYPE: Final = "message/rfc822"
"""Content type of a message."""
FILE_HOST: Final = "file.invalid"
"""The host in the addresses of files that do not contain their URL."""
_DIGEST_CHARS: Final = 12
"""48 bits: enough to tell the files of one library apart."""


def sent_page(url: str, html: str | bytes, *, rendered: bool = True) -> Fetched:
    """Return the HTML that a user sent as a page, as text or in UTF-8.

    Raises `InvalidUrl` or `InvalidProtocol`. An empty `url` means a page without one.
    """
    if url:
        split_url(url)
    return Fetched(
        url=url,
        final_url=url,
        status=200,
        headers={},
        body=html if isinstance(html, bytes) else html.encode("utf-8", "replace"),
        encoding="utf-8",
        rendered=rendered,
    )


async def sent_selection(page: Fetched, selection: str, retrieval: Retrieval) -> Fetched:
    """Return only the selected part of a page that a user sent, with the head of the page."""
    return replace(page, body=await retrieval.run(_WrapSelection(page.body, selection)))


@dataclass(frozen=True, slots=True)
class _WrapSelection:
    page: bytes
    selection: str

    def run(self) -> bytes:
        """Return the selection as a page, with the head of the whole page for its metadata."""
        head = dom.first(dom.parse(self.page.decode("utf-8", "replace")), "head")
        inner = dom.inner_html(head) if head else ""
        body = f"<body><main><article>{self.selection}</article></main></body>"
        return f"<!doctype html><html><head>{inner}</head>{body}</html>".encode("utf-8", "replace")


async def page_in_file(
    body: bytes,
    name: str,
    retrieval: Retrieval,
    *,
    place: str = "",
    url: str | None = None,
    declared: str | None = None,
) -> Fetched:
    """Return the content of a file as a page, under `url`, or else the URL that it contains; an empty one means none.

    A file that does not contain its URL gets one from its name and its `place`, the whole path, or its content where the
    place is not known: files of the same name are different pages, and saving a file again updates its page. A page
    without a name must have a URL: else `InvalidUrl`; a document needs neither. `declared` is its content type, by default
    that of its name; it counts only where the content cannot decide.
    """
    declared = declared or declared_type(name)
    file_type = detect(body, declared)
    content_type = file_type.content_type if file_type else declared if declared in TEXT_TYPES else "text/html"
    is_html = content_type == "text/html"
    if url:
        split_url(url)
    if url is None and is_html:
        url = _saved_from(body) or await retrieval.run(_FindCanonicalUrl(body[:_HEAD_BYTES]))
    if url is None and content_type == MAIL_TYPE:
        url = await find_mail_address(body, retrieval)
    if file_type and not name:
        name = f"document.{file_type.suffix}"
    if url is None and not name:
        raise InvalidUrl(
            "The page does not name its address.", suggestions=("Name the address that the page came from.",)
        )
    if url is None:
        url = file_url(name, place.encode("utf-8", "surrogateescape") or body)
    return Fetched(
        url=url, final_url=url, status=200, headers={}, body=body, content_type=content_type, rendered=is_html
    )


async def find_mail_address(body: bytes, retrieval: Retrieval, *, on_web: bool = True) -> str:
    """Return the address of a message: the one on the web that it names, or else, or without `on_web`, its `mid:`."""
    from pagekeep.capture.documents.email import FindAddress  # it loads the parser

    return await retrieval.run(FindAddress(body, on_web), DOCUMENT)


def file_url(name: str, identity: bytes) -> str:
    """Return the address of a file that does not contain its URL; nothing can be fetched from there."""
    digest = hashlib.sha256(identity).hexdigest()[:_DIGEST_CHARS]
    return f"https://{FILE_HOST}/{digest}/{quote(name, safe='')}"


def _saved_from(body: bytes) -> str | None:
    match = _SAVED_FROM.search(body[:_COMMENT_BYTES])
    return match[1].decode("ascii", "ignore") if match else None


@dataclass(frozen=True, slots=True)
class _FindCanonicalUrl:
    head: bytes

    def run(self) -> str | None:
        """Return the URL that the page names as its own."""
        root = dom.parse(self.head.decode("utf-8", "replace"))
        link, meta = dom.first(root, "link[rel=canonical][href]"), dom.first(root, 'meta[property="og:url"][content]')
        urls = (
            dom.attributes(link).get("href") if link else None,
            dom.attributes(meta).get("content") if meta else None,
        )
        return next((url.strip() for url in urls if url and url.strip().startswith(("http://", "https://"))), None)


@dataclass(frozen=True, slots=True)
class CountChapters:
    """Count the chapters of a book, in a worker process."""

    data: bytes

    def run(self) -> int:
        """Return how many there are; raise `UnsupportedContent` for a file that is not a book that can be read."""
        from pagekeep.capture.documents.epub import read_book
        from pagekeep.capture.documents.parsed import UnreadableFile

        file_type = detect(self.data)
        if file_type is None or file_type.module != "epub":
            raise UnsupportedContent("Only a book (EPUB) has chapters.", suggestions=("Read it as a whole.",))
        try:
            return len(read_book(self.data).chapters)
        except UnreadableFile:  # one page says why
            return 0


def chapter_urls(url: str, count: int) -> list[str]:
    """Return the addresses of the chapters of a book; of one without any, its own."""
    base = url.partition("#")[0]
    return [f"{base}#/{number}" for number in range(1, count + 1)] or [url]


async def split_book(book: Fetched, retrieval: Retrieval) -> list[Fetched]:
    """Return a book that was fetched or uploaded as its chapters."""
    count = await retrieval.run(CountChapters(book.body), DOCUMENT)
    return [replace(book, url=url, final_url=url) for url in chapter_urls(book.url, count)]

"""Items as publications, and lists of them as feeds, before they are written as Atom or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

from pagekeep import clock
from pagekeep.model import Item

EPUB: Final = "application/epub+zip"
MAX_SUMMARY_CHARS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Section:
    """A link to another feed."""

    title: str
    path: str
    about: str
    of_sections: bool = False
    """Whether that feed has sections, and not publications."""


@dataclass(frozen=True, slots=True)
class Publication:
    """Something to download."""

    id: str
    title: str
    updated: str
    path: str
    cover: str
    author: str = ""
    summary: str = ""
    language: str | None = None
    published: str | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Feed:
    """One page of a feed."""

    title: str
    path: str
    updated: str
    sections: tuple[Section, ...] = ()
    publications: tuple[Publication, ...] = ()
    next: str | None = None
    """Path of the next page."""
    number: int | None = field(default=None)
    """Publications in all, where that is known."""


def publication(item: Item) -> Publication:
    """Return an item as a publication."""
    about = item.metadata
    return Publication(
        id=f"urn:uuid:{item.id}",
        title=" ".join(item.title.split()) or item.url,
        updated=clock.to_the_second(item.updated_at),
        path=f"/opds/books/{item.id}.epub",
        cover=f"/opds/covers/{item.id}.jpg",
        author=item.author or about.site_name or item.domain,
        summary=(about.description or "")[:MAX_SUMMARY_CHARS],
        language=about.language,
        published=(item.published_at or "")[:10] or None,
        tags=tuple(tag for tag in about.tags if tag.strip()),
        source=item.url,
    )


def periodical(title: str, key: str, path: str, items: Sequence[Item]) -> Publication:
    """Return a list as one book."""
    return Publication(
        id=f"urn:pagekeep:{quote(key, safe='')}",
        title=title,
        updated=newest(items),
        path=path,
        cover=path.replace(".epub", ".jpg", 1),
        author="Pagekeep",
        summary="All pages of this list in one book.",
    )


def newest(items: Sequence[Item]) -> str:
    """Return when one of the items changed last."""
    return clock.to_the_second(max((item.updated_at for item in items), default="1970-01-01T00:00:00.000000Z"))

"""What the page says about itself, from the most to the least trustworthy place."""

from __future__ import annotations

from types import MappingProxyType

from pagekeep import dom
from pagekeep.extraction.input.structured import Structured
from pagekeep.extraction.metadata import about, author, clues, published, subjects, title
from pagekeep.model import Metadata

__all__ = ["read"]


def read(document: dom.Document, structured: Structured, url: str | None) -> Metadata:
    """All metadata of the untouched page but language and tags, with the origin of each field."""
    page = clues.gather(document, structured, url)
    site_name = about.site_name(page)
    name = site_name[0] if site_name else None
    categories, keywords = subjects.read(page, name)
    found: dict[str, tuple[str, str] | None] = {
        "title": title.read(page, name),
        "author": author.read(page, name),
        "published": published.published(page),
        "modified": published.modified(page),
        "description": about.description(page),
        "site_name": site_name,
        "canonical": about.canonical(page),
        "hero_image": about.hero_image(page),
        "favicon": about.favicon(page),
        "licence": about.licence(page),
    }
    values = {field: value[0] for field, value in found.items() if value}
    origins = {field: value[1] for field, value in found.items() if value}
    origins |= {
        field: terms.origin for field, terms in (("categories", categories), ("keywords", keywords)) if terms.terms
    }
    return Metadata(
        title=values.get("title"),
        author=values.get("author"),
        published=values.get("published"),
        modified=values.get("modified"),
        description=values.get("description"),
        site_name=values.get("site_name"),
        canonical=values.get("canonical"),
        hero_image=values.get("hero_image"),
        favicon=values.get("favicon"),
        licence=values.get("licence"),
        categories=categories.terms,
        keywords=keywords.terms,
        origins=MappingProxyType(origins),
    )

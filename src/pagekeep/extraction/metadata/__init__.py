"""Read the metadata of a page, from the most to the least trustworthy source."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import Structured
from pagekeep.extraction.metadata import about, author, clues, language, tags, title
from pagekeep.extraction.metadata import about as hero
from pagekeep.extraction.metadata import about as subjects
from pagekeep.extraction.metadata.dates import published
from pagekeep.model import Metadata
from pagekeep.rules.prefilter import Names

__all__ = ["add_language", "add_tags", "choose_hero_image", "read"]

choose_hero_image = hero.choose_hero


def read(document: dom.Document, structured: Structured, url: str | None, names: Names | None = None) -> Metadata:
    """Return all metadata of the original page except language and tags, with the origin of each field."""
    page = clues.collect(document, structured, url, names)
    site_name = about.find_site_name(page)
    name = site_name[0] if site_name else None
    categories, keywords = subjects.read_subjects(page, name)
    fields: dict[str, clues.FieldValue | None] = {
        "title": title.read(page, name),
        "author": author.read(page, name),
        "published": published.find_published(page),
        "modified": published.find_modified(page),
        "description": about.find_description(page),
        "site_name": site_name,
        "canonical": about.find_canonical(page),
        "hero_image": hero.find_declared_hero(page),
        "favicon": about.find_favicon(page),
        "licence": about.find_licence(page),
    }
    values = {field: value[0] for field, value in fields.items() if value}
    origins = {field: value[1] for field, value in fields.items() if value}
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


def add_language(known: Metadata, document: dom.Document, text: str) -> Metadata:
    """Return the metadata with the language that the document names or the text is written in."""
    origin = known.origins.get("language", "")
    code, origin = (known.language, origin) if origin else language.detect(document, text)
    origins = {**known.origins, **({"language": origin} if code else {})}
    return replace(known, language=code, origins=MappingProxyType(origins))


def add_tags(known: Metadata, text: str, url: str | None) -> Metadata:
    """Return the metadata with tags that a user may want."""
    return replace(known, suggested_tags=tags.choose(known, text, urls.domain(url), known.language))

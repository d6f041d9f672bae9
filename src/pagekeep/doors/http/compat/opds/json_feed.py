"""Feeds as OPDS 2.0: JSON."""

from __future__ import annotations

from typing import Any, Final

from pagekeep.doors.http.compat.opds.mapping import EPUB, Feed, Publication

TYPE: Final = "application/opds+json"


def write_feed(feed: Feed, base: str) -> dict[str, Any]:
    """Return a feed as JSON; `base` is the server's address without a slash at its end."""
    links: list[dict[str, Any]] = [
        {"rel": "self", "href": base + feed.path, "type": TYPE},
        {"rel": "start", "href": f"{base}/opds", "type": TYPE},
        {"rel": "search", "href": f"{base}/opds/search{{?query}}", "type": TYPE, "templated": True},
    ]
    if feed.next:
        links.append({"rel": "next", "href": base + feed.next, "type": TYPE})
    about: dict[str, Any] = {"title": feed.title, "modified": feed.updated}
    if feed.number is not None:
        about["numberOfItems"] = feed.number
    shown: dict[str, Any] = {"metadata": about, "links": links}
    navigation = [
        {"title": section.title, "href": base + section.path, "type": TYPE, "rel": "subsection"}
        for section in feed.sections
    ]
    if feed.publications:
        shown["publications"] = [_publication(one, base) for one in feed.publications]
    if navigation or not feed.publications:  # an empty list of publications is not allowed
        shown["navigation"] = navigation or [{"title": "Start", "href": f"{base}/opds", "type": TYPE, "rel": "start"}]
    return shown


def _publication(one: Publication, base: str) -> dict[str, Any]:
    about: dict[str, Any] = {
        "@type": "http://schema.org/Article",
        "identifier": one.id,
        "title": one.title,
        "modified": one.updated,
        "author": one.author or "Unknown",
        "description": one.summary or None,
        "language": one.language,
        "published": one.published if one.published and len(one.published) == 10 else None,
        "subject": list(one.tags) or None,
    }
    return {
        "metadata": {name: value for name, value in about.items() if value is not None},
        "links": [
            {"rel": "self", "href": base + one.path, "type": EPUB},
            {"rel": "http://opds-spec.org/acquisition", "href": base + one.path, "type": EPUB},
        ],
        "images": [{"href": base + one.cover, "type": "image/jpeg"}],
    }

"""`/linkding`: health, tags, profile and bundles."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from pagekeep.doors.http.caller import ReadCaller, ReadLibrary, WriteLibrary
from pagekeep.doors.http.compat.linkding import mapping
from pagekeep.doors.http.compat.linkding.bookmarks import MAX_PER_PAGE, PER_PAGE
from pagekeep.doors.http.compat.parameters import SentParameters
from pagekeep.doors.http.responses import Json
from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library import items
from pagekeep.model.tags import clean_tag

router = APIRouter()


@router.get("/health")
async def show_health() -> Response:
    """Return the version of linkding whose API this is; clients ask before they sign in."""
    return Json({"version": mapping.VERSION, "status": "healthy"})


@router.get("/api/tags/")
def list_tags(request: Request, library: ReadLibrary, sent: SentParameters) -> Response:
    """List the tags in use; in lower case and without accents, as they are compared."""
    limit = sent.number("limit", PER_PAGE, low=1, high=MAX_PER_PAGE)
    offset = sent.number("offset", 0, low=0, high=10_000_000)
    tags = [label for label, _ in items.count_tags(library)]
    shown = [mapping.tag(label) for label in tags[offset : offset + limit]]
    return Json(mapping.page(shown, len(tags), offset, limit, f"{request.url.replace(query='')}?"))


@router.post("/api/tags/")
def add_tag(_library: WriteLibrary, sent: SentParameters) -> Response:
    """Return the tag as if it was stored: a tag exists when a page has it. Some clients send its name as `example`."""
    name = clean_tag(sent.text("name", sent.text("example", max_chars=200), max_chars=200))
    if not name:
        raise InvalidQuery("`name` is required.", suggestions=())
    return Json(mapping.tag(name), 201)


@router.get("/api/tags/{number}/")
def read_tag(number: Annotated[int, Path(ge=0, le=2**62)], library: ReadLibrary) -> Response:
    """Return a tag in use."""
    labels = [label for label, _ in items.count_tags(library) if items.tag_number(label) == number]
    if not labels:
        raise NotFound("There is no such tag.")
    return Json(mapping.tag(labels[0]))


@router.get("/api/user/profile/")
async def show_profile(_caller: ReadCaller) -> Response:
    """Return preferences that clients may ask for."""
    return Json(
        {
            "theme": "auto",
            "bookmark_date_display": "relative",
            "bookmark_link_target": "_blank",
            "web_archive_integration": "disabled",
            "tag_search": "lax",
            "enable_sharing": False,
            "enable_public_sharing": False,
            "enable_favicons": False,
            "display_url": False,
            "permanent_notes": False,
            "search_preferences": {"sort": "added_desc", "shared": "off", "unread": "off"},
            "version": mapping.VERSION,
        }
    )


@router.get("/api/bundles/")
async def list_bundles(_caller: ReadCaller) -> Response:
    """Return an empty list."""
    return Json({"count": 0, "next": None, "previous": None, "results": []})

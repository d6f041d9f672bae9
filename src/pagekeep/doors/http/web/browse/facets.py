"""`/sites` and `/authors`, and what these pages share with `/tags`: what the library holds, with counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from pagekeep.doors.http.web.layout.page import Frame, ReadFrame
from pagekeep.library.browse.counts import PAGE_SIZE, BrowsedKind, list_counts
from pagekeep.model.browse import CountPage

router = APIRouter()

_MAX_PAGE: Final = 10_000
Text = Annotated[str, Query(max_length=200)]
Number = Annotated[int, Query(ge=1, le=_MAX_PAGE)]


@dataclass(frozen=True, slots=True)
class Shelf:
    """What is browsed, and the words of its page."""

    kind: BrowsedKind
    path: str
    title: str
    one: str
    """What a single one is called."""
    empty: str
    """What to do when there is none."""

    def pages_with(self, key: str) -> str:
        """Return the address of the list of pages with this key."""
        if self.kind == "author":
            search = 'author:"' + key.replace('"', " ") + '"'
            return f"/?{urlencode({'state': 'all', 'q': search})}"
        return f"/?{urlencode({'state': 'all', 'domain' if self.kind == 'site' else 'tag': key})}"


TAGS: Final = Shelf("tag", "/tags", "Tags", "tag", "Add tags to a page when you save it, or on the page itself.")
SITES: Final = Shelf("site", "/sites", "Sites", "site", "Sites appear here when you save pages.")
AUTHORS: Final = Shelf("author", "/authors", "Authors", "author", "Authors appear here when saved pages name them.")


@router.get("/sites")
def sites(frame: ReadFrame, q: Text = "", sort: str = "count", page: Number = 1) -> HTMLResponse:
    """Show the sites."""
    return show_shelf(frame, SITES, q, sort, page)


@router.get("/authors")
def authors(frame: ReadFrame, q: Text = "", sort: str = "count", page: Number = 1) -> HTMLResponse:
    """Show the authors."""
    return show_shelf(frame, AUTHORS, q, sort, page)


def show_shelf(
    frame: Frame, shelf: Shelf, q: str = "", sort: str = "count", page: int = 1, *, status: int = 200, **values: Any
) -> HTMLResponse:
    """Show one page of what is browsed."""
    by_name = sort == "name"
    found: CountPage = list_counts(frame.library, shelf.kind, text=q, by_name=by_name, page=page)

    def address(**changes: Any) -> str:
        parts = {"q": q, "sort": "name" if by_name else "", "page": 0, **changes}
        query = urlencode({name: value for name, value in parts.items() if value})
        return f"{shelf.path}?{query}" if query else shelf.path

    return frame.show(
        "facets.html",
        status=status,
        shelf=shelf,
        q=q.strip(),
        by_name=by_name,
        number=page,
        found=found,
        last=max(1, -(-found.total // PAGE_SIZE)),
        address=address,
        **{"toast": None, "problem": None, "max_tag_chars": 0, **values},
    )

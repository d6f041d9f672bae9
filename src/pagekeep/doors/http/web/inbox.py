"""`/`: the library as a list, with search and filters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Final, Literal, cast, get_args
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Depends, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.middleware.origins import own_path
from pagekeep.doors.http.web.bulk import acted_toast, describe_action, redirect_acted
from pagekeep.doors.http.web.layout import Frame, ReadFrame, WriteFrame, image_signer
from pagekeep.errors import PagekeepError
from pagekeep.library.feeds.inbox import INBOX_SOURCE as FEED_INBOX
from pagekeep.library.feeds.inbox import search_items
from pagekeep.library.items.browse import correct_query, suggest
from pagekeep.library.items.change import MOVES, Move, change_selected, describe, purge_items
from pagekeep.library.items.find import is_empty, open_item
from pagekeep.library.items.reading import find_neighbours, readings_of, started_items
from pagekeep.library.queue import count_jobs
from pagekeep.library.saving.failed_saves import count_failed
from pagekeep.model import Filter, Hit, Item, ItemQuery, Order, QualityLevel, item_filters
from pagekeep.model.reading import Neighbours, ReadingState

router = APIRouter()

State = Literal["inbox", "unread", "reading", "read", "pinned", "archive", "all", "trash"]
Quality = QualityLevel | Literal["fetch-again", "gone"]
"""The choices of the quality filter; `fetch-again` are bookmarks of pages that could not be fetched, `gone` are pages that have
gone from the web."""
_STATE_FILTERS: Final = ("fetch-again", "gone")
STATES: Final[dict[State, str]] = {
    "inbox": "Inbox",
    "unread": "Unread",
    "reading": "Reading",
    "read": "Read",
    "pinned": "Pinned",
    "archive": "Archive",
    "all": "All",
    "trash": "Trash",
}
_READ_STATES: Final = ("unread", "reading", "read")
_SEARCHED_STATES: Final[dict[State, str]] = {
    "unread": "unread",
    "reading": "reading",
    "read": "read",
    "pinned": "pinned",
    "archive": "archived",
    "trash": "deleted",
}
"""Lists that a search stays within; one from the inbox covers all pages outside the trash."""
ORDERS: Final[dict[Order, str]] = {
    "saved": "Date saved",
    "opened": "Last opened",
    "published": "Date published",
    "title": "Title",
}
_PAGE_SIZE: Final = 30
_MAX_LIST_CHARS: Final = 4_000
"""Of the query of a list in the address of an article."""
_MAX_IDS: Final = 500
"""Items changed by one form."""


@dataclass(frozen=True, slots=True)
class View:
    """The search, filters and order of the list, as in the URL."""

    q: str = ""
    state: State = "inbox"
    quality: Quality | None = None
    domain: str = ""
    tag: str = ""
    order: Order = "saved"
    after: str | None = None

    def address(self, **changes: Any) -> str:
        """Return the URL of this view with the given changes."""
        view, defaults = replace(self, **{"after": None, **changes}), View()
        parts = {name: getattr(view, name) for name in View.__slots__}
        query = urlencode({name: value for name, value in parts.items() if value and value != getattr(defaults, name)})
        return f"/?{query}" if query else "/"

    @property
    def is_narrowed(self) -> bool:
        """Whether a filter is set."""
        return bool(self.quality or self.domain or self.tag)

    @property
    def is_filtered(self) -> bool:
        """Whether there is a search or a filter."""
        return bool(self.q or self.is_narrowed)


@dataclass(frozen=True, slots=True)
class Row:
    """An item in the list."""

    item: Item
    picture: str | None
    snippet: str = ""
    listed: str = ""
    """The list's query, which goes along to the article; empty for the inbox."""
    reading: ReadingState | None = None

    @property
    def address(self) -> str:
        """Where it is read; an entry of the feed inbox is not in the library yet."""
        if self.item.source == FEED_INBOX:
            return f"/feeds/entries/{self.item.id}"
        return f"/items/{self.item.id}{list_parameter(self.listed)}"


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of the list."""

    rows: tuple[Row, ...] = ()
    next: str | None = None
    problem: str = ""
    meant: str | None = None
    """What the search may have meant, if it finds nothing."""
    is_empty_library: bool = False
    """Whether the whole library is empty, as on the first visit."""


def parse_view(
    q: Annotated[str, Query(max_length=1_000)] = "",
    state: str = "inbox",
    quality: str = "",
    domain: Annotated[str, Query(max_length=300)] = "",
    tag: Annotated[str, Query(max_length=300)] = "",
    order: str = "saved",
    after: Annotated[str | None, Query(max_length=2_000)] = None,
) -> View:
    """Return the view of a URL; unknown values, as in old bookmarks, become the defaults."""
    return View(
        q.strip(),
        state if state in STATES else "inbox",
        cast("Quality", quality) if quality in (*get_args(QualityLevel), *_STATE_FILTERS) else None,
        domain.strip(),
        tag.strip(),
        order if order in ORDERS else "saved",
        after,
    )


@router.get("/")
def inbox(
    frame: ReadFrame,
    view: Annotated[View, Depends(parse_view)],
    acted: Annotated[str, Query(max_length=100)] = "",
) -> HTMLResponse:
    """Show the list; only its rows for our script."""
    found_by = _query(view) if view.q or view.state != "inbox" else f"-is:archived {_query(view)}".strip()
    values: dict[str, Any] = {"view": view, "listing": list_rows(frame, view), "bulk_query": found_by}
    if frame.wants_part:
        return frame.show("_rows.html", **values)
    toast, jobs = acted_toast(frame, acted), count_jobs(frame.library)
    values["manual_lists"] = [one for one in frame.library.lists.list() if one.kind == "manual"]
    values["started"] = started_items(frame.library) if view == View() else ()
    values["known"] = partial(suggest, frame.library)
    values["failed"] = count_failed(frame.library)
    return frame.show("inbox.html", states=STATES, orders=ORDERS, toast=toast, jobs=jobs, **values)


def list_rows(frame: Frame, view: View) -> Listing:
    """Return the rows of the view. An invalid query becomes a message in the list, not an error page."""
    try:
        if view.q:
            page = search_items(frame.library, _query(view), limit=_PAGE_SIZE, after=view.after, order=view.order)
            meant = correct_query(frame.library, view.q) if not page.hits and view.after is None else None
            return Listing(_rows(frame, view, page.hits), page.next, meant=meant)
        page = frame.library.search.find(_list_query(view))
        empty = not page.hits and is_empty(frame.library)
        return Listing(_rows(frame, view, page.hits), page.next, is_empty_library=empty)
    except PagekeepError as error:
        return Listing(problem=" ".join((error.message, *error.suggestions)))


def _rows(frame: Frame, view: View, hits: tuple[Hit, ...]) -> tuple[Row, ...]:
    readings = readings_of(frame.library, [hit.item for hit in hits])
    signer, listed = image_signer(frame.service, frame.caller), view.address().partition("?")[2]
    heroes = [hit.item.metadata.hero_image for hit in hits]
    pictures = [f"{signer(hero)}&small=true" if hero else None for hero in heroes]
    return tuple(
        Row(hit.item, picture, hit.snippet or "", listed, readings.get(hit.item.id))
        for hit, picture in zip(hits, pictures, strict=True)
    )


def list_parameter(listed: str) -> str:
    """Return the query of an article's address that says which list it was opened from."""
    return f"?{urlencode({'list': listed})}" if listed else ""


def view_of_list(listed: str, item: Item) -> View:
    """Return the list that an article was opened from; without one, the list that the item is in."""
    names = set(View.__slots__) - {"after"}
    known = {name: value for name, value in parse_qsl(listed[:_MAX_LIST_CHARS]) if name in names}
    if known:
        return parse_view(**known)
    return View(state="trash" if item.deleted_at else "archive" if item.metadata.archived else "inbox")


def neighbours_in(frame: Frame, view: View, item: Item) -> Neighbours:
    """Return what is before and after an item in a list."""
    return find_neighbours(frame.library, item.id, _query(view) if view.q else _list_query(view))


def _list_query(view: View) -> ItemQuery:
    archived = {"inbox": False, "unread": False, "archive": True}.get(view.state)
    filters = item_filters(
        domain=view.domain or None,
        tags=(view.tag,) if view.tag else (),
        pinned=True if view.state == "pinned" else None,
        archived=archived,
        deleted=view.state == "trash",
        quality=None if view.quality == "fetch-again" or view.quality == "gone" else view.quality,
        fetch_again=True if view.quality == "fetch-again" else None,
        gone=True if view.quality == "gone" else None,
    )
    if view.state in _READ_STATES:
        filters += (Filter("is", view.state),)
    descending = view.order != "title"
    return ItemQuery(filters=filters, order=view.order, descending=descending, limit=_PAGE_SIZE, after=view.after)


def _query(view: View) -> str:
    """Return the search with the filters added. A search from the inbox covers all pages outside the trash."""
    parts = [_with_prefix_search(view.q)]
    parts += [f"is:{_SEARCHED_STATES[view.state]}"] if view.state in _SEARCHED_STATES else []
    named = (
        ("is" if view.quality in _STATE_FILTERS else "quality", view.quality),
        ("domain", view.domain),
        ("tag", view.tag),
    )
    parts += [f'{name}:"{value.replace(chr(34), " ")}"' for name, value in named if value]
    return " ".join(parts)


def _with_prefix_search(q: str) -> str:
    """Search the last word as a prefix, as it may be unfinished; not in scripts without spaces."""
    last = q.split()[-1] if q else ""
    return f"{q}*" if last.isalnum() and max(last) < "\u2e80" else q


@router.post("/items")
def run_action(
    frame: WriteFrame,
    action: Annotated[Move | Literal["opened"], Form()],
    ids: Annotated[list[str], Form(max_length=_MAX_IDS)],
    back: Annotated[str, Form()] = "/",
) -> Response:
    """Pin, archive, delete or restore one or more items, so that it can be undone; or note that they were opened."""
    if action == "opened":
        for key in ids:
            open_item(frame.library, key)
        return Response(status_code=204) if frame.wants_part else RedirectResponse(own_path(back), 303)
    done = change_selected(frame.library, ids, MOVES[action], describe(MOVES[action]))
    if frame.wants_part:
        toast = {"text": describe_action(done.action), "action": done.action.id, "quick": True}
        return frame.show("_toast.html", toast=toast)
    return redirect_acted(back, done)


@router.post("/trash")
def empty_trash(frame: WriteFrame) -> Response:
    """Delete all items in the trash permanently."""
    purge_items(frame.library)
    return RedirectResponse("/?state=trash", 303)

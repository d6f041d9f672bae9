"""`/`: the library as a list, with search and filters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal, cast, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.middleware.cross_site import own_path
from pagekeep.doors.http.web.layout.images import signer
from pagekeep.doors.http.web.layout.page import Changing, Frame, Looking
from pagekeep.errors import PagekeepError
from pagekeep.library import bulk_actions
from pagekeep.model import Hit, Item, ItemFilter, QualityLevel
from pagekeep.store import Order

router = APIRouter()

State = Literal["inbox", "pinned", "archive", "all", "trash"]
STATES: Final[dict[State, str]] = {
    "inbox": "Inbox",
    "pinned": "Pinned",
    "archive": "Archive",
    "all": "Everything",
    "trash": "Trash",
}
ORDERS: Final[dict[Order, str]] = {
    "saved": "Last saved",
    "opened": "Last opened",
    "published": "Last published",
    "title": "Title",
}
_LIMIT: Final = 30
_MOST_AT_ONCE: Final = 500
_MOST_UNDONE: Final = 50
"""Ids that fit into an address."""
_DONE: Final[dict[bulk_actions.Action, str]] = {
    "pin": "Pinned",
    "unpin": "No longer pinned",
    "archive": "Archived",
    "unarchive": "Back in the inbox",
    "delete": "Moved to the trash",
    "restore": "Restored",
    "opened": "Opened",
}


@dataclass(frozen=True, slots=True)
class View:
    """What the list shows, as the address says it."""

    q: str = ""
    state: State = "inbox"
    quality: QualityLevel | None = None
    domain: str = ""
    tag: str = ""
    order: Order = "saved"
    after: str | None = None

    def address(self, **changes: Any) -> str:
        """The address of this view, or of one that differs."""
        wanted, plain = replace(self, **{"after": None, **changes}), View()
        parts = {name: getattr(wanted, name) for name in View.__slots__}
        query = urlencode({name: value for name, value in parts.items() if value and value != getattr(plain, name)})
        return f"/?{query}" if query else "/"

    @property
    def is_narrowed(self) -> bool:
        """Whether a filter leaves anything out."""
        return bool(self.quality or self.domain or self.tag)

    @property
    def is_filtered(self) -> bool:
        """Whether anything is left out beyond the state."""
        return bool(self.q or self.is_narrowed)


@dataclass(frozen=True, slots=True)
class Row:
    """An item in the list."""

    item: Item
    picture: str | None
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Rows:
    """A page of the list."""

    rows: tuple[Row, ...] = ()
    next: str | None = None
    problem: str = ""
    untouched: bool = False
    """Whether there is nothing in the whole library: someone is here for the first time."""


def view_of(
    q: Annotated[str, Query(max_length=1_000)] = "",
    state: str = "inbox",
    quality: str = "",
    domain: Annotated[str, Query(max_length=300)] = "",
    tag: Annotated[str, Query(max_length=300)] = "",
    order: str = "saved",
    after: Annotated[str | None, Query(max_length=2_000)] = None,
) -> View:
    """From the address; a form sends empty fields, and an old address may name what is no more."""
    return View(
        q.strip(),
        state if state in STATES else "inbox",
        cast("QualityLevel", quality) if quality in get_args(QualityLevel) else None,
        domain.strip(),
        tag.strip(),
        order if order in ORDERS else "saved",
        after,
    )


@router.get("/")
def inbox(frame: Looking, view: Annotated[View, Depends(view_of)], did: str = "", ids: str = "") -> HTMLResponse:
    """The list; for our script only its rows."""
    values: dict[str, Any] = {"view": view, "found": rows(frame, view)}
    if frame.wants_part:
        return frame.show("_rows.html", **values)
    told, waits = _told(did, ids.split(",")), frame.library.job_counts()
    return frame.show("inbox.html", states=STATES, orders=ORDERS, told=told, waits=waits, **values)


def rows(frame: Frame, view: View) -> Rows:
    """What the view shows. A query that cannot be read is a problem to tell, not an error."""
    try:
        if view.q:
            hits = frame.library.search(_query(view), limit=_LIMIT, after=view.after)
            return Rows(tuple(_row(frame, hit) for hit in hits.hits), hits.next)
        listed = frame.library.list_items(
            _filter(view), order=view.order, descending=view.order != "title", limit=_LIMIT, after=view.after
        )
        untouched = not listed.items and not _holds_anything(frame)
        return Rows(tuple(_row(frame, item) for item in listed.items), listed.next, untouched=untouched)
    except PagekeepError as error:
        return Rows(problem=" ".join((error.message, *error.suggestions)))


def _holds_anything(frame: Frame) -> bool:
    every = (ItemFilter(archived=None), ItemFilter(archived=None, deleted=True))
    return any(frame.library.list_items(some, limit=1).items for some in every)


def _row(frame: Frame, found: Item | Hit) -> Row:
    item = found.item if isinstance(found, Hit) else found
    hero = item.metadata.hero_image
    snippet = found.snippet if isinstance(found, Hit) else ""
    return Row(item, signer(frame.service, frame.caller)(hero) if hero else None, snippet)


def _filter(view: View) -> ItemFilter:
    archived = {"inbox": False, "archive": True}.get(view.state)
    return ItemFilter(
        domain=view.domain or None,
        tags=(view.tag,) if view.tag else (),
        pinned=True if view.state == "pinned" else None,
        archived=archived,
        deleted=view.state == "trash",
        quality=view.quality,
    )


def _query(view: View) -> str:
    """The search with the filters in its own words. From the inbox it goes through everything but the trash."""
    parts = [_begun(view.q)]
    parts += {"pinned": ["is:pinned"], "archive": ["is:archived"], "trash": ["is:deleted"]}.get(view.state, [])
    named = (("quality", view.quality), ("domain", view.domain), ("tag", view.tag))
    parts += [f'{name}:"{value.replace(chr(34), " ")}"' for name, value in named if value]
    return " ".join(parts)


def _begun(q: str) -> str:
    """The last word may not be finished; in scripts without spaces every word is."""
    last = q.split()[-1] if q else ""
    return f"{q}*" if last.isalnum() and max(last) < "\u2e80" else q


@router.post("/items")
def do(
    frame: Changing,
    action: Annotated[bulk_actions.Action, Form()],
    ids: Annotated[list[str], Form(max_length=_MOST_AT_ONCE)],
    back: Annotated[str, Form()] = "/",
) -> Response:
    """Pin, archive, delete, restore: one item or many."""
    done = [item.id for item in bulk_actions.do(frame.library, action, ids)]
    if frame.wants_part:
        return frame.show("_told.html", told=_told(action, done))
    if action == "opened":
        return RedirectResponse(own_path(back), 303)
    where = own_path(back)
    told = urlencode({"did": action, "ids": ",".join(done[:_MOST_UNDONE])})
    return RedirectResponse(f"{where}{'&' if '?' in where else '?'}{told}", 303)


@router.post("/trash")
def empty_trash(frame: Changing) -> Response:
    """What is in the trash goes for good."""
    frame.library.purge()
    return RedirectResponse("/?state=trash", 303)


def _told(action: str, ids: list[str]) -> dict[str, Any] | None:
    """What is said of a action, and what takes it back."""
    if action not in _DONE or not any(ids):
        return None
    many = f" ({len(ids)} pages)" if len(ids) > 1 else ""
    return {"text": f"{_DONE[action]}{many}.", "undo": bulk_actions.UNDOING.get(action), "ids": ids[:_MOST_UNDONE]}

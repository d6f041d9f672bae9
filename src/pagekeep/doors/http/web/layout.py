"""Render the reader's pages: templates, the signed-in user, the sidebar, the appearance settings and image URLs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pagekeep.doors.http.caller import CSRF_FIELD, Caller, ReadCaller, ReadLibrary, WriteLibrary, require_write
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.image_proxy import signed_path
from pagekeep.doors.http.middleware.body_limits import MAX_PAGE_BYTES
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.doors.http.web import formatting
from pagekeep.doors.http.web.formatting import describe_failure, reason_words
from pagekeep.doors.http.web.static_files import static_url
from pagekeep.errors import PagekeepError
from pagekeep.library.feeds.subscriptions import count_unread
from pagekeep.library.items.browse import count_states
from pagekeep.library.open import Store
from pagekeep.library.watch import count_unseen

_TEMPLATES: Final = Path(__file__).parent / "templates"
_HEADERS: Final = {"Cache-Control": "private, no-cache", "Referrer-Policy": "same-origin"}
"""Without a referrer browsers send forms with `Origin: null`, which we reject; within our own site it reveals nothing."""


@cache
def templates() -> Environment:
    """Return the template environment; all values are escaped unless a template marks them as safe."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # otherwise each page asks the disk whether its templates have changed
    )
    environment.globals.update(file=static_url, csrf_field=CSRF_FIELD, max_body_bytes=MAX_PAGE_BYTES)
    environment.filters.update(
        day=formatting.day,
        direction=formatting.direction,
        excerpt=formatting.excerpt,
        failure=describe_failure,
        marked=formatting.marked,
        number=formatting.number,
        shelf_key=shelf_key,
        quality=formatting.quality,
        reason_words=reason_words,
        shade=formatting.shade,
        since=formatting.since,
        size=formatting.size,
        words=formatting.words,
    )
    return environment


def shelf_key(caller: Caller) -> str:
    """Return the name of the user's offline pages: another user of the same browser must not see them."""
    return hashlib.sha256(f"shelf:{caller.user_id}".encode("utf-8", "replace")).hexdigest()[:16]


def page(
    request: Request, template: str, *, status: int = 200, caller: Caller | None = None, **values: Any
) -> HTMLResponse:
    """Render a page of the reader."""
    html = (
        templates()
        .get_template(template)
        .render(
            nonce=getattr(request.state, "nonce", ""),
            appearance=read_appearance(request),
            caller=caller,
            path=request.url.path,
            **{"sidebar": None, **values},
        )
    )
    return HTMLResponse(html.encode("utf-8", "replace"), status, _HEADERS)


@dataclass(frozen=True, slots=True)
class Appearance:
    """The user's choices."""

    theme: str = "auto"
    size: str = "3"
    width: str = "medium"
    font: str = "serif"

    def to_cookie(self) -> str:
        """Return the cookie's value; `appearance.js` writes the same."""
        return ".".join(getattr(self, part.name) for part in fields(self))


@dataclass(frozen=True, slots=True)
class Frame:
    """A request by an authenticated user of the reader."""

    request: Request
    service: Service
    caller: Caller
    library: Store
    """The user's library."""

    @property
    def appearance(self) -> Appearance:
        """The user's appearance settings."""
        return read_appearance(self.request)

    @property
    def wants_part(self) -> bool:
        """Whether our script requests part of a page, to insert it into the open one."""
        return self.request.headers.get("x-part") == "1"

    def show(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """Render a page for this user; one that shows an error as `problem` has the status of that."""
        sidebar = partial(build_menu, self)
        status = status_of(values["problem"]) if isinstance(values.get("problem"), PagekeepError) else status
        return page(self.request, template, status=status, caller=self.caller, **{"sidebar": sidebar, **values})


async def _read_frame(
    request: Request,
    service: CurrentService,
    caller: ReadCaller,
    library: ReadLibrary,
) -> Frame:
    return Frame(request, service, caller, library)


async def _write_frame(
    request: Request,
    service: CurrentService,
    caller: Annotated[Caller, Depends(require_write)],
    library: WriteLibrary,
) -> Frame:
    return Frame(request, service, caller, library)


ReadFrame = Annotated[Frame, Depends(_read_frame)]
"""The parameter of a route that only shows something."""
WriteFrame = Annotated[Frame, Depends(_write_frame)]
"""The parameter of a route that changes something."""

Section = Literal["library", "browse", "more"]


class Line(NamedTuple):
    """A line of the sidebar."""

    section: Section
    address: str
    label: str
    icon: str
    amount: str = ""
    """Name of its count; empty for none."""
    below: str = ""
    """Path below which pages belong to this line, if that is not `address` itself."""
    only_with_count: bool = False
    """Whether the line is shown only while its count is not 0, or its page is open."""


LINES: Final = (
    Line("library", "/", "Inbox", "inbox", "inbox"),
    Line("library", "/?state=unread", "Unread", "unread", "unread"),
    Line("library", "/?state=reading", "Reading", "reading", "reading"),
    Line("library", "/?state=read", "Read", "read", "read"),
    Line("library", "/?state=pinned", "Pinned", "pinned", "pinned"),
    Line("library", "/?state=archive", "Archive", "archive", "archive"),
    Line("library", "/?state=all", "All", "all", "all"),
    Line("library", "/failed", "Could not be saved", "failed", "failed", only_with_count=True),
    Line("library", "/?state=trash", "Trash", "trash", "trash"),
    Line("browse", "/tags", "Tags", "tags"),
    Line("browse", "/sites", "Sites", "site"),
    Line("browse", "/authors", "Authors", "author"),
    Line("browse", "/highlights", "Highlights", "pen"),
    Line("browse", "/statistics", "Statistics", "statistics"),
    Line("browse", "/lists", "Lists", "list"),
    Line("browse", "/suggested-tags", "Suggested tags", "add"),
    Line("more", "/feeds/inbox", "Feeds", "feed", "feeds", below="/feeds"),
    Line("more", "/crawls", "Crawls", "site"),
    Line("more", "/changes", "Changes", "restore", "changes"),
    Line("more", "/sinks", "Send to", "external"),
    Line("more", "/import", "Import", "import"),
    Line("more", "/playground", "Rule playground", "rules"),
    Line("more", "/save-rules", "Save rules", "settings"),
    Line("more", "/actions", "Recent changes", "restore"),
    Line("more", "/help", "Help", "help"),
)
MAX_LISTS: Final = 12
"""Lists of the user in the sidebar; the others are on the page of lists."""
SECTIONS: Final[dict[Section, str]] = {"library": "Library", "browse": "Browse", "more": "More"}


class MenuLine(NamedTuple):
    """A line as it is shown."""

    address: str
    label: str
    icon: str
    amount: int | None
    is_current: bool
    unit: str
    """What the count counts, for screen readers."""


class Menu(NamedTuple):
    """The whole sidebar."""

    searching: bool
    sections: tuple[tuple[Section, str, tuple[MenuLine, ...]], ...]


_UNITS: Final = {"feeds": "unread", "changes": "new", "tags": "tags", "sites": "sites", "authors": "authors"}
"""Units of counts that are not pages."""


def build_menu(frame: Frame) -> Menu:
    """Return the sidebar of a page; while searching, no line but Search is the current one."""
    counts, url, asked = _count(frame), frame.request.url, frame.request.query_params
    searching = url.path == "/" and bool(asked.get("q", "").strip())
    states = [line.address for line in LINES if line.section == "library"]
    state = f"/?state={asked.get('state', '')}"
    here = url.path if url.path != "/" else state if state in states else "/"
    shown = [
        line
        for line in _with_lists(frame)
        if not line.only_with_count or counts.get(line.amount) or line.address == url.path
    ]
    lines = [(line.section, _show(line, counts, here=None if searching else here)) for line in shown]
    sections = [(name, title, tuple(line for own, line in lines if own == name)) for name, title in SECTIONS.items()]
    return Menu(searching, tuple(sections))


def _with_lists(frame: Frame) -> tuple[Line, ...]:
    """Return all lines; the first lists of the user follow the line of all lists."""
    own = [
        Line("browse", f"/lists/{one.id}", one.name, "search" if one.kind == "search" else "list")
        for one in frame.library.lists.list()[:MAX_LISTS]
    ]
    at = next(number for number, line in enumerate(LINES) if line.address == "/lists") + 1
    return (*LINES[:at], *own, *LINES[at:])


def _show(line: Line, counts: dict[str, int], here: str | None) -> MenuLine:
    top = line.below or line.address
    is_current = here is not None and (here == top or (top not in ("/", "/lists") and here.startswith(f"{top}/")))
    unit = _UNITS.get(line.amount, "pages")
    return MenuLine(line.address, line.label, line.icon, counts.get(line.amount) or None, is_current, unit)


def _count(frame: Frame) -> dict[str, int]:
    """Return the counts by name."""
    states = count_states(frame.library)
    return {**states, "feeds": count_unread(frame.library), "changes": count_unseen(frame.library)}


COOKIE: Final = "pagekeep_look"
CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "theme": ("auto", "light", "sepia", "dark"),
    "size": ("1", "2", "3", "4", "5"),
    "width": ("narrow", "medium", "wide"),
    "font": ("serif", "sans"),
}


def read_appearance(request: Request) -> Appearance:
    """Return the settings in the request's cookie; invalid values become the defaults."""
    chosen = dict(zip(CHOICES, request.cookies.get(COOKIE, "").split("."), strict=False))
    return Appearance(**{name: value for name, value in chosen.items() if value in CHOICES[name]})


@dataclass(frozen=True, slots=True)
class ImageSigner:
    """Returns proxy URLs of images for one user. Equal for the same user, so rendered pages can be cached."""

    secret: bytes
    user_id: str

    def __call__(self, url: str) -> str:
        """Return the proxy path for an image URL."""
        return signed_path(self.secret, self.user_id, url)


def image_signer(service: Service, caller: Caller) -> ImageSigner:
    """Return the signer for the caller."""
    return ImageSigner(service.secret, caller.user_id)

"""The sidebar of the library's pages: where they are, how much is there, and which one is open.

A new page adds one line to `LINES`; its count, if it has one, is a name in `_count`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pagekeep.library.browse.counts import count_states
from pagekeep.library.feeds.subscriptions import count_unread
from pagekeep.library.history.watch import count_unseen
from pagekeep.library.lists.lists import list_lists

if TYPE_CHECKING:
    from pagekeep.doors.http.web.layout.page import Frame

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
        for one in list_lists(frame.library)[:MAX_LISTS]
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

"""`/sites`, `/authors`, `/tags` and `/statistics`: what the library holds, with charts; `/suggestions`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from markupsafe import Markup, escape

from pagekeep.doors.http.web.layout import Frame, ReadFrame, WriteFrame
from pagekeep.errors import PagekeepError
from pagekeep.library.items.browse import PAGE_SIZE, BrowsedKind, list_counts, read_statistics, suggest
from pagekeep.library.items.tags import delete_tag, get_tag_change, rename_tag, undo_tags
from pagekeep.model.library import CountPage
from pagekeep.model.tags import MAX_TAG_CHARS

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
    frame: Frame, shelf: Shelf, q: str = "", sort: str = "count", page: int = 1, **values: Any
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
        shelf=shelf,
        q=q.strip(),
        by_name=by_name,
        number=page,
        found=found,
        last=max(1, -(-found.total // PAGE_SIZE)),
        address=address,
        **{"toast": None, "problem": None, "max_tag_chars": 0, **values},
    )


@router.get("/tags")
def tags(
    frame: ReadFrame, q: Text = "", sort: str = "count", page: Number = 1, did: str = "", more: str = ""
) -> HTMLResponse:
    """Show the tags."""
    return show_shelf(
        frame, TAGS, q, sort, page, toast=_make_toast(frame, did, bool(more)), max_tag_chars=MAX_TAG_CHARS
    )


@router.post("/tags")
def change_tag(
    frame: WriteFrame,
    action: Annotated[str, Form(pattern="^(rename|delete)$")],
    tag: Annotated[str, Form(max_length=1_000)],
    new: Annotated[str, Form(max_length=1_000)] = "",
) -> Response:
    """Rename a tag, merge it with another, or remove it from all pages."""
    try:
        done = rename_tag(frame.library, tag, new) if action == "rename" else delete_tag(frame.library, tag)
    except PagekeepError as error:
        return show_shelf(frame, TAGS, problem=error, max_tag_chars=MAX_TAG_CHARS)
    if done.job:
        frame.service.background.nudge()
    more = {"more": "1"} if done.job else {}
    return RedirectResponse(f"/tags?{urlencode({'did': done.action.id, **more})}", 303)


@router.post("/tags/undo")
def undo_tag(frame: WriteFrame, action: Annotated[str, Form(max_length=100)]) -> Response:
    """Undo a change of a tag."""
    if undo_tags(frame.library, action)[1]:
        frame.service.background.nudge()
    return RedirectResponse("/tags", 303)


def _make_toast(frame: Frame, did: str, more: bool) -> dict[str, Any] | None:
    """Return the message about a change of a tag, with which it can be undone."""
    action = get_tag_change(frame.library, did) if did else None
    return {"label": action.label, "count": action.changed, "id": action.id, "more": more} if action else None


_LANGUAGES: Final = dict(
    pair.split(":")
    for pair in (
        "ar:Arabic bg:Bulgarian bn:Bengali ca:Catalan cs:Czech da:Danish de:German el:Greek en:English es:Spanish "
        "et:Estonian fa:Persian fi:Finnish fr:French he:Hebrew hi:Hindi hr:Croatian hu:Hungarian id:Indonesian "
        "it:Italian ja:Japanese ko:Korean lt:Lithuanian lv:Latvian nb:Norwegian nl:Dutch no:Norwegian pl:Polish "
        "pt:Portuguese ro:Romanian ru:Russian sk:Slovak sl:Slovenian sr:Serbian sv:Swedish th:Thai tr:Turkish "
        "uk:Ukrainian ur:Urdu vi:Vietnamese zh:Chinese"
    ).split()
)
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@router.get("/statistics")
def statistics(frame: ReadFrame) -> HTMLResponse:
    """Show the statistics."""
    found = read_statistics(frame.library)
    names = [_month(month.month) for month in found.months]
    saved = Series("saved", [month.saved for month in found.months])
    read = Series("read", [month.read for month in found.months])
    minutes = Series("minutes", [month.minutes_read for month in found.months])
    languages = [(_LANGUAGES.get(one.key, one.key), one.count, one.key) for one in found.languages]
    return frame.show(
        "statistics.html",
        found=found,
        names=names,
        languages=languages,
        by_month=draw_columns("Pages saved and read by month", names, [saved, read]),
        by_time=draw_columns("Reading time by month in minutes", names, [minutes]),
        by_site=draw_rows("Pages by site", [(one.name, one.count) for one in found.sites]),
        by_language=draw_rows("Pages by language", [(name, count) for name, count, _ in languages]),
    )


def _month(month: str) -> str:
    """Return a month such as "Mar 2026"."""
    return f"{_MONTHS[int(month[5:]) - 1]} {month[:4]}"


@router.get("/suggestions")
def suggestions(frame: ReadFrame, kind: BrowsedKind, q: Annotated[str, Query(max_length=200)] = "") -> JSONResponse:
    """Return at most ten suggestions, the most used first."""
    found = suggest(frame.library, kind, q)
    return JSONResponse({"suggestions": [{"name": one.name, "count": one.count} for one in found]})


_WIDTH, _HEIGHT = 640, 190
_TOP, _BOTTOM = 18, 22
_ROW, _LABEL = 26, 190
_GAP: Final = 0.3
"""Part of the width of a month that is left free."""
_MAX_LABEL_CHARS: Final = 26
_MAX_DATES: Final = 8
"""Labels under the columns; on small screens every other one is hidden."""


@dataclass(frozen=True, slots=True)
class Series:
    """Values of one colour."""

    name: str
    values: Sequence[int]


def draw_columns(title: str, labels: Sequence[str], series: Sequence[Series]) -> Markup:
    """Return columns side by side for each label, such as a month; the largest value is written at its height."""
    top = max((value for one in series for value in one.values), default=0)
    width = _WIDTH / max(1, len(labels))
    each = width * (1 - _GAP) / max(1, len(series))
    room = _HEIGHT - _TOP - _BOTTOM
    parts = [_rule(_TOP), _rule(_HEIGHT - _BOTTOM)]
    parts.append(_text(0, _TOP - 5, f"{top:,}", "scale"))
    for number, label in enumerate(labels):
        for at, one in enumerate(series):
            height = room * one.values[number] / top if top else 0
            x = number * width + width * _GAP / 2 + at * each
            parts.append(
                _bar(x, _HEIGHT - _BOTTOM - height, each, height, at, f"{label}: {one.values[number]:,} {one.name}")
            )
        step = -(-len(labels) // _MAX_DATES)
        if number % step == 0:
            kind = "scale" if number // step % 2 == 0 else "scale second"
            parts.append(_text(number * width + width * _GAP / 2, _HEIGHT - 6, label, kind))
    return _svg(title, _HEIGHT, parts)


def draw_rows(title: str, rows: Sequence[tuple[str, int]]) -> Markup:
    """Return one bar per row, with its name before it and its value after it."""
    top = max((value for _, value in rows), default=0)
    room = _WIDTH - _LABEL - 70
    parts = []
    for number, (name, value) in enumerate(rows):
        y, length = number * _ROW, room * value / top if top else 0
        shown = name if len(name) <= _MAX_LABEL_CHARS else f"{name[: _MAX_LABEL_CHARS - 1]}…"
        parts.append(_text(0, y + 17, shown, "name"))
        parts.append(_bar(_LABEL, y + 5, length, _ROW - 10, 0, f"{name}: {value:,}"))
        parts.append(_text(_LABEL + length + 6, y + 17, f"{value:,}", "scale"))
    return _svg(title, _ROW * len(rows), parts)


def _svg(title: str, height: float, parts: Sequence[Markup]) -> Markup:
    return Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        _WIDTH, max(1, round(height)), title, Markup("").join(parts)
    )


def _bar(x: float, y: float, width: float, height: float, series: int, tip: str) -> Markup:
    return Markup(
        '<rect class="s{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>'
    ).format(series, x, y, width, height, tip)


def _rule(y: float) -> Markup:
    return Markup('<line x1="0" x2="{}" y1="{}" y2="{}"/>').format(_WIDTH, y, y)


def _text(x: float, y: float, text: str, kind: str) -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>').format(kind, x, y, escape(text))

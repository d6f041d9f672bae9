"""What every page of the reader has around its content: who reads, in which look, and the templates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pagekeep.doors.http.caller import CSRF_FIELD, Caller, Changes, Reads, may_read, may_write
from pagekeep.doors.http.middleware.body_limits import MOST_BYTES
from pagekeep.doors.http.service import Service, service_of
from pagekeep.doors.http.web.layout import formatting
from pagekeep.doors.http.web.layout.appearance import Look, look_of
from pagekeep.doors.http.web.layout.static_files import address_of
from pagekeep.store import Store

_TEMPLATES: Final = Path(__file__).parents[1] / "templates"
_HEADERS: Final = {"Cache-Control": "private, no-cache", "Referrer-Policy": "same-origin"}
"""Without a referrer browsers send forms as from nowhere (`Origin: null`); within our own site there is nothing to hide."""


@cache
def templates() -> Environment:
    """The templates; everything put into them is escaped unless it is HTML of ours."""
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(file=address_of, csrf_field=CSRF_FIELD, most_bytes=MOST_BYTES)
    made.filters.update(
        day=formatting.day,
        direction=formatting.direction,
        excerpt=formatting.excerpt,
        marked=formatting.marked,
        number=formatting.number,
        quality=formatting.quality,
        shade=formatting.shade,
        since=formatting.since,
    )
    return made


def page(
    request: Request, template: str, *, status: int = 200, caller: Caller | None = None, **values: Any
) -> HTMLResponse:
    """A page of the reader."""
    html = (
        templates()
        .get_template(template)
        .render(
            nonce=getattr(request.state, "nonce", ""),
            look=look_of(request),
            caller=caller,
            path=request.url.path,
            **values,
        )
    )
    return HTMLResponse(html.encode("utf-8", "replace"), status, _HEADERS)


@dataclass(frozen=True, slots=True)
class Frame:
    """A request of someone who may use the reader."""

    request: Request
    service: Service
    caller: Caller
    library: Store
    """The reader's own."""

    @property
    def look(self) -> Look:
        """How the reader wants pages to look."""
        return look_of(self.request)

    @property
    def wants_part(self) -> bool:
        """Whether our script asks, for a part of a page to put into the one that is open."""
        return self.request.headers.get("x-part") == "1"

    def show(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """The page."""
        return page(self.request, template, status=status, caller=self.caller, **values)


async def _looking(
    request: Request,
    service: Annotated[Service, Depends(service_of)],
    caller: Annotated[Caller, Depends(may_read)],
    library: Reads,
) -> Frame:
    return Frame(request, service, caller, library)


async def _changing(
    request: Request,
    service: Annotated[Service, Depends(service_of)],
    caller: Annotated[Caller, Depends(may_write)],
    library: Changes,
) -> Frame:
    return Frame(request, service, caller, library)


Looking = Annotated[Frame, Depends(_looking)]
Changing = Annotated[Frame, Depends(_changing)]
"""What a page that shows, and one that changes something, takes."""

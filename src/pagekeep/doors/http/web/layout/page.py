"""Render the reader's pages: templates, the signed-in user and the appearance settings."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pagekeep.doors.http.caller import CSRF_FIELD, Caller, ReadCaller, ReadLibrary, WriteLibrary, require_write
from pagekeep.doors.http.middleware.body_limits import MAX_PAGE_BYTES
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.doors.http.web.layout import formatting
from pagekeep.doors.http.web.layout.appearance import Appearance, read_appearance
from pagekeep.doors.http.web.layout.sidebar import build_menu
from pagekeep.doors.http.web.layout.static_files import static_url
from pagekeep.doors.http.web.setup.failure_words import describe_failure, reason_words
from pagekeep.library.open import Store

_TEMPLATES: Final = Path(__file__).parents[1] / "templates"
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
        """Render a page for this user."""
        sidebar = partial(build_menu, self)
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

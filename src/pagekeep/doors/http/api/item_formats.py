"""The forms in which an item can be read, and the tags that tell whether one has changed."""

from __future__ import annotations

import hashlib
from typing import Final, Literal

from fastapi import Request
from fastapi.responses import Response

from pagekeep.doors.http.responses import Json, holds, tagged
from pagekeep.errors import Outdated
from pagekeep.model import Item
from pagekeep.present.json_shapes import item_shape
from pagekeep.present.markdown_html import body_of
from pagekeep.present.render_worker import Renderer

Form = Literal["json", "markdown", "html"]
TYPES: Final[dict[Form, str]] = {
    "json": "application/json",
    "markdown": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
}
_ACCEPTED: Final[dict[str, Form]] = {
    "application/json": "json",
    "*/*": "json",
    "application/*": "json",
    "text/html": "html",
    "text/markdown": "markdown",
    "text/plain": "markdown",
    "text/*": "markdown",
}


def accepted(header: str | None) -> Form:
    """The form the client likes best; JSON when it does not say."""
    ranges = [_range(part) for part in (header or "*/*").split(",")[:50]]
    for kind, weight in sorted(ranges, key=lambda one: -one[1]):
        if weight > 0 and kind in _ACCEPTED:
            return _ACCEPTED[kind]
    return "json"


def _range(part: str) -> tuple[str, float]:
    kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return kind, float(parameter[2:])
            except ValueError:
                return kind, 0.0
    return kind, 1.0


def written(request: Request, item: Item, form: Form, renderer: Renderer) -> Response:
    """The item in that form, or 304 when the client has it."""
    if form == "json":
        return tagged(request, Json({"item": item_shape(item, content=True)}), tag(item, form))
    if form == "markdown":
        return tagged(request, _text(item.content, form), tag(item, form))
    # Without a page around it; pictures keep their addresses.
    rendered = renderer.render(body_of(item.content), base=item.url)
    answer = tagged(request, _text(rendered.html, form), tag(item, form))
    if rendered.is_temporary and answer.status_code == 200:
        del answer.headers["ETag"]
        answer.headers["Cache-Control"] = "no-store"
    return answer


def _text(text: str, form: Form) -> Response:
    return Response(text.encode("utf-8", "replace"), headers={"Content-Type": TYPES[form]})


def tag(item: Item, form: Form) -> str:
    """Stands for the item as it is now, in that form."""
    return f'"{_state(item)}-{form}"'


def still(item: Item, given: str) -> str:
    """The moment of the item's last change, if it is what one of these tags stands for; `Outdated` otherwise."""
    if not any(holds(given, tag(item, form)) for form in TYPES):
        raise Outdated("The item was changed meanwhile.")
    return item.updated_at


def _state(item: Item) -> str:
    told = f"{item.id} {item.updated_at} {item.last_opened_at}"
    return hashlib.sha256(told.encode()).hexdigest()[:24]

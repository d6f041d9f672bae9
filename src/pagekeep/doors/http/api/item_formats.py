"""The formats of an item (JSON, Markdown, HTML) and their ETags."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final, Literal

from fastapi.responses import Response

from pagekeep.doors.http.responses import has_etag
from pagekeep.errors import Outdated
from pagekeep.model import Item
from pagekeep.present.item_content import shown_content
from pagekeep.present.renderer import Renderer
from pagekeep.present.sections import body_of

ItemFormat = Literal["json", "markdown", "html"]
MEDIA_TYPES: Final[dict[ItemFormat, str]] = {
    "json": "application/json",
    "markdown": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
}
_PICTURES_PART: Final = re.compile(r'(-json)-[0-9a-f]{8}"')
_ACCEPTED: Final[dict[str, ItemFormat]] = {
    "application/json": "json",
    "*/*": "json",
    "application/*": "json",
    "text/html": "html",
    "text/markdown": "markdown",
    "text/plain": "markdown",
    "text/*": "markdown",
}


def parse_accept(header: str | None) -> ItemFormat:
    """Return the format the client prefers by its `Accept` header; JSON without one."""
    ranges = [_parse_range(part) for part in (header or "*/*").split(",")[:50]]
    for kind, weight in sorted(ranges, key=lambda one: -one[1]):
        if weight > 0 and kind in _ACCEPTED:
            return _ACCEPTED[kind]
    return "json"


def _parse_range(part: str) -> tuple[str, float]:
    kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return kind, float(parameter[2:])
            except ValueError:
                return kind, 0.0
    return kind, 1.0


async def text_response(item: Item, item_format: Literal["markdown", "html"], renderer: Renderer) -> Response:
    """Return the item as Markdown, or as HTML without a page around it and with the images' original URLs."""
    headers = {"Content-Type": MEDIA_TYPES[item_format], "ETag": etag_of(item, item_format)}
    if item_format == "markdown":
        text = shown_content(item)
    else:
        rendered = await renderer.render(body_of(item.content), base=item.url)
        text = rendered.html
        if rendered.is_temporary:
            headers["Cache-Control"] = "no-store"
    return Response(text.encode("utf-8", "replace"), headers=headers)


def etag_of(item: Item, item_format: ItemFormat) -> str:
    """Return the ETag of the item's current state in that format."""
    state = f"{item.id} {item.updated_at} {item.last_opened_at}"
    return f'"{hashlib.sha256(state.encode()).hexdigest()[:24]}-{item_format}"'


def etag_with(item: Item, pictures: Sequence[object]) -> str:
    """Return the ETag of an item as JSON with its pictures, which change without it."""
    digest = hashlib.sha256(repr(pictures).encode("utf-8", "replace")).hexdigest()[:8]
    return etag_of(item, "json").removesuffix('"') + f'-{digest}"' if pictures else etag_of(item, "json")


def check_if_match(item: Item, if_match: str) -> str:
    """Return the time of the item's last change if a tag of the `If-Match` header is current; raise `Outdated` otherwise."""
    if_match = _PICTURES_PART.sub(r'\1"', if_match)
    if not any(has_etag(if_match, etag_of(item, item_format)) for item_format in MEDIA_TYPES):
        raise Outdated("The item was changed in the meantime.", suggestions=("Read it again and repeat the change.",))
    return item.updated_at

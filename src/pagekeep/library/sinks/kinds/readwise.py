"""Readwise Reader: an item is saved there with our text, by its address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pagekeep import extras
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.library.sinks.api import Api, text_at
from pagekeep.library.sinks.kind import Field, ItemMessage, Kind
from pagekeep.model import Item
from pagekeep.present.renderer import RenderTask

_PLACES: Final = ("new", "later", "archive", "feed")


class Readwise(Kind):
    """Readwise Reader. It knows a document by its address, so the same one is never there twice."""

    name = "readwise"
    label = "Readwise Reader"
    help = "Saves every item in Readwise Reader, with the text as Pagekeep has it."
    address = "https://readwise.io"
    fixed_address = True
    secret = "Access token (readwise.io/access_token)"
    fields = (Field("location", "Place in Reader", f"Where new documents go: {', '.join(_PLACES)}.", "new"),)

    def accepts(self, item: Item) -> bool:
        return item.url_full.startswith(("http://", "https://"))

    async def send_item(self, api: Api, message: ItemMessage) -> str | None:
        known = message.earlier.remote_id if message.earlier else None
        if known is not None:  # Reader keeps the text that it has; one that was deleted there stays deleted
            url = f"{api.url('api', 'v3', 'update', known)}/"
            await api.call("PATCH", url, _describe(message.item), headers=_headers(api), accept=(404,))
            return known
        location = api.sink.settings.get("location", "")
        body = {
            "url": message.item.url_full,
            **await _render(api, message),
            **_describe(message.item),
            "location": location if location in _PLACES else _PLACES[0],
            "saved_using": "Pagekeep",
        }
        answer = await api.call("POST", f"{api.url('api', 'v3', 'save')}/", body, headers=_headers(api))
        return text_at(answer, "id")

    async def test(self, api: Api) -> str:
        await api.call("GET", f"{api.url('api', 'v2', 'auth')}/", headers=_headers(api))
        return "Readwise accepts the token."


def _headers(api: Api) -> dict[str, str]:
    return {"authorization": f"Token {api.secret}"}


def _describe(item: Item) -> dict[str, Any]:
    fields = {
        "title": item.title or None,
        "author": item.author,
        "published_date": item.published_at,
        "tags": list(item.metadata.tags) or None,
    }
    return {name: value for name, value in fields.items() if value}


async def _render(api: Api, message: ItemMessage) -> Mapping[str, Any]:
    """Return the text as HTML; without it, Reader fetches the page itself."""
    if not message.markdown.strip() or extras.find_missing("server"):
        return {}
    try:
        item = message.item
        rendered = await api.run(RenderTask(message.markdown, item.url_full, item.title, None))
    except NotFound:
        raise
    except PagekeepError:  # it took too long
        return {}
    return {"html": rendered.html, "should_clean_html": False}


KIND = Readwise()

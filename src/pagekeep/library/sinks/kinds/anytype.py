"""Anytype: an item becomes an object in a space, with its text, source, quality level and how the capture went.

Anytype's API is a server in its app, on this machine. It is paired with a code of 4 digits that the app shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pagekeep.errors import InvalidQuery
from pagekeep.library.sinks.api import Api, NotSent, text_at
from pagekeep.library.sinks.kind import Field, ItemMessage, Kind
from pagekeep.model import Item
from pagekeep.text import one_line

VERSION: Final = "2025-11-08"
APP_NAME: Final = "Pagekeep"
_PAGE: Final = 100
_MAX_PAGES: Final = 50
_MAX_NAME_CHARS: Final = 500
_ID, _QUALITY, _CAPTURE, _FAILED = (
    "pagekeep_id",
    "pagekeep_quality",
    "pagekeep_capture",
    "pagekeep_extraction_failed",
)
_PROPERTIES: Final = {
    _ID: ("Pagekeep id", "text"),
    _QUALITY: ("Quality", "text"),
    _CAPTURE: ("Capture", "text"),
    _FAILED: ("Extraction failed", "checkbox"),
}
"""Properties that we add to the space: key to name and format. `source` is Anytype's own."""


class Anytype(Kind):
    """Anytype on this machine."""

    name = "anytype"
    label = "Anytype"
    help = "Makes every item an object in Anytype, with its text, source and quality."
    address = "http://127.0.0.1:31009"
    local_port = 31009
    secret = "API key"
    pairs = True
    fields = (
        Field("space", "Space", "Name or id of the space. The first one if left empty.", found=True),
        Field("type", "Object type", "Key of the type of the objects, such as page or note.", "page"),
    )

    async def send_item(self, api: Api, message: ItemMessage) -> str | None:
        space = await self._prepare(api)
        known = message.earlier.remote_id if message.earlier else None
        # Also looked for before the first time: an answer may have been lost, or the library restored from a backup.
        known = known or await self._find(api, space, message.item)
        about = {"name": _name(message.item), "properties": _properties(message.item)}
        if known is not None:  # an object that was deleted there stays deleted
            body = {**about, "markdown": message.markdown}
            await api.call("PATCH", api.url("v1", "spaces", space, "objects", known), body, **_as(api, 404, 410))
            return known
        body = {**about, "body": message.markdown, "type_key": api.sink.settings.get("type") or "page"}
        answer = await api.call("POST", api.url("v1", "spaces", space, "objects"), body, **_as(api))
        return text_at(answer, "object", "id")

    async def test(self, api: Api) -> str:
        spaces = await self._list(api, "v1", "spaces")
        space = _choose(spaces, api.sink.settings.get("space", ""))
        return f"Anytype accepts the key. Items go to the space {one_line(str(space.get('name') or space['id']))}."

    async def start_pairing(self, api: Api) -> str:
        answer = await api.call(
            "POST", api.url("v1", "auth", "challenges"), {"app_name": APP_NAME}, headers=_version_header()
        )
        return text_at(answer, "challenge_id")

    async def finish_pairing(self, api: Api, attempt: str, code: str) -> str:
        digits = "".join(code.split())
        if not (digits.isascii() and digits.isdigit() and len(digits) == 4):
            raise InvalidQuery("The code has 4 digits.", suggestions=("Enter the code that Anytype shows.",))
        body = {"challenge_id": attempt, "code": digits}
        answer = await api.call(
            "POST", api.url("v1", "auth", "api_keys"), body, headers=_version_header(), accept=(400, 401, 403, 404)
        )
        if answer.status >= 400:
            raise InvalidQuery(
                "Anytype does not accept the code.", suggestions=("Start again, and enter the new code.",)
            )
        return text_at(answer, "api_key")

    async def _prepare(self, api: Api) -> str:
        """Return the id of the space, where all our properties exist; checked once per run of deliveries."""
        known: str | None = api.memory.get("space")
        if known is None:
            spaces = await self._list(api, "v1", "spaces")
            known = str(_choose(spaces, api.sink.settings.get("space", ""))["id"])
            keys = {entry.get("key") for entry in await self._list(api, "v1", "spaces", known, "properties")}
            for key, (name, format) in _PROPERTIES.items():
                if key not in keys:
                    body = {"key": key, "name": name, "format": format}
                    await api.call("POST", api.url("v1", "spaces", known, "properties"), body, **_as(api))
            api.memory["space"] = known
        return known

    async def _find(self, api: Api, space: str, item: Item) -> str | None:
        """Return the id of the object of an item, if there is one."""
        condition = {"property_key": _ID, "condition": "eq", "text": item.id}
        body = {"filters": {"operator": "and", "conditions": [condition]}}
        answer = await api.call("POST", f"{api.url('v1', 'spaces', space, 'search')}?limit=10", body, **_as(api))
        for entry in _entries(answer.body):
            own = [one.get("text") for one in entry.get("properties") or () if one.get("key") == _ID]
            if own == [item.id] and isinstance(entry.get("id"), str):  # a server that ignores the filter returns others
                return str(entry["id"])
        return None

    async def _list(self, api: Api, *path: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for number in range(_MAX_PAGES):
            url = f"{api.url(*path)}?offset={number * _PAGE}&limit={_PAGE}"
            answer = await api.call("GET", url, **_as(api))
            part = _entries(answer.body)
            found += part
            if len(part) < _PAGE:
                break
        return found


def _version_header() -> dict[str, str]:
    return {"anytype-version": VERSION}


def _as(api: Api, *accept: int) -> dict[str, Any]:
    return {"headers": {**_version_header(), "authorization": f"Bearer {api.secret}"}, "accept": accept}


def _entries(body: Any) -> list[dict[str, Any]]:
    data = body.get("data") if isinstance(body, dict) else None
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def _choose(spaces: list[dict[str, Any]], wanted: str) -> Mapping[str, Any]:
    usable = [space for space in spaces if isinstance(space.get("id"), str) and space.get("object", "space") == "space"]
    found = [space for space in usable if not wanted or wanted in (space["id"], space.get("name"))]
    if not found:
        names = ", ".join(one_line(str(space.get("name")))[:60] for space in usable[:10])
        raise NotSent(
            f"Anytype has no space {wanted:.100}." if wanted else "Anytype has no space.",
            suggestions=(f"Use one of: {names}." if names else "Make one in Anytype.",),
        )
    return found[0]


def _name(item: Item) -> str:
    return (one_line(item.title) or item.url_full)[:_MAX_NAME_CHARS]


def _properties(item: Item) -> list[dict[str, Any]]:
    quality = item.metadata.quality or "bookmark"
    return [
        {"key": "source", "url": item.url_full},
        {"key": _ID, "text": item.id},
        {"key": _QUALITY, "text": quality},
        {"key": _CAPTURE, "text": describe_capture(item)},
        {"key": _FAILED, "checkbox": quality in ("bookmark", "discarded")},
    ]


def describe_capture(item: Item) -> str:
    """Return how the capture went, as a notification says it."""
    words = item.metadata.word_count or 0
    if item.metadata.quality == "article":
        return f"Article captured ({words:,} {'word' if words == 1 else 'words'})"
    if item.metadata.quality == "simplified":
        return "Article captured (simplified)"
    return "Saved as bookmark - extraction failed"


KIND = Anytype()

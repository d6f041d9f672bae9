"""`/r`: a page as Markdown by its address alone, in the way of reader services."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from pagekeep.doors.http.api.models import FETCHING, failures
from pagekeep.doors.http.api.page_requests import Here, note
from pagekeep.doors.http.caller import Reads
from pagekeep.doors.http.compat.jina_options import Wishes, address_in_path, call_of
from pagekeep.doors.http.compat.jina_response import json_body, plain_body
from pagekeep.doors.http.compat.screenshots import HEADERS, address_of
from pagekeep.doors.http.responses import Json
from pagekeep.doors.http.service import Service
from pagekeep.errors import InvalidQuery, PagekeepError
from pagekeep.library.open import Store
from pagekeep.library.page_request import PageRequest, PageResponse, respond

router = APIRouter(tags=["reader"])
_TEXT: Final[dict[str, Any]] = {"schema": {"type": "string"}}
_ANSWERS: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "By `Accept`: plain text, Markdown with frontmatter, JSON or events; or a picture of the page.",
        "content": {
            "text/plain": _TEXT,
            "text/markdown": _TEXT,
            "application/json": {"schema": {"type": "object"}},
            "text/event-stream": {},
            "image/png": {},
        },
    },
    **failures(404, 409, 429, *FETCHING),
}
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "content": {
            kind: {
                "schema": {
                    "type": "object",
                    "properties": {"url": {"type": "string"}, "html": {"type": "string"}},
                    "example": {"url": "https://example.com/app#/page", "respondWith": "content"},
                }
            }
            for kind in ("application/json", "application/x-www-form-urlencoded")
        }
    }
}


@router.get("/r/{address:path}", response_class=PlainTextResponse, responses=_ANSWERS)
async def read_address(address: str, request: Request, library: Reads, service: Here) -> Response:
    """The page at an address that follows as it is, or percent-encoded: then the query may hold wishes.

    Wishes come as headers too: `X-Respond-With`, `X-Target-Selector`, `X-Timeout` and the others of docs/api.md.
    """
    raw = request.scope.get("raw_path", b"").decode("latin-1").partition("?")[0]
    url, whole = address_in_path(raw, request.url.query)
    query: Mapping[str, Any] = {} if whole else request.query_params
    return await _answer(url, None, Wishes.of(request, query, {}), request, library, service)


@router.post("/r", response_class=PlainTextResponse, responses=_ANSWERS, openapi_extra=_BODY)
async def read_posted(request: Request, library: Reads, service: Here) -> Response:
    """The page at `url`, which may have a `#` here, or the page in `html`; wishes in the body, the query or headers."""
    body = await _body(request)
    url, html = (_text(body, request, name) for name in ("url", "html"))
    return await _answer(url or "", html, Wishes.of(request, request.query_params, body), request, library, service)


async def _body(request: Request) -> Mapping[str, Any]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
        return {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    data = await request.body()
    if not data:
        return {}
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InvalidQuery("The body cannot be read.", suggestions=('Send JSON: {"url": "https://..."}',))
    return body


def _text(body: Mapping[str, Any], request: Request, name: str) -> str | None:
    value = body.get(name, request.query_params.get(name))
    if value is not None and not isinstance(value, str):
        raise InvalidQuery(f"`{name}` is no text.", suggestions=())
    return value


async def _answer(
    url: str, html: str | None, wishes: Wishes, request: Request, library: Store, service: Service
) -> Response:
    call = call_of(url, html, wishes)
    note(call.request.url)
    accept = request.headers.get("accept", "").lower()
    if "text/event-stream" in accept:
        return EventSourceResponse(
            _events(call, wishes, request, library, service), headers={"Cache-Control": "no-store"}
        )
    given = await respond(call, library, service.retrieval, service.extractor)
    if "application/json" in accept:
        return Json(await _for_programs(call, given, wishes, request, service), headers=_headers(given))
    return _written(call, given, wishes, accept)


async def _for_programs(
    call: PageRequest, given: PageResponse, wishes: Wishes, request: Request, service: Service
) -> dict[str, Any]:
    body = json_body(call, given, wishes)
    if given.picture is not None:
        body["data"][f"{call.form}Url"] = await address_of(given.picture, request, service)
    return body


def _headers(given: PageResponse) -> dict[str, str]:
    return {"Cache-Control": "private, no-cache", "X-Usage-Tokens": str(given.tokens)}


def _written(call: PageRequest, given: PageResponse, wishes: Wishes, accept: str) -> Response:
    headers = _headers(given)
    if given.picture is not None:
        return Response(given.picture, media_type="image/png", headers=HEADERS)
    if "text/markdown" in accept and call.form in ("content", "markdown"):
        return _plain(given.page.document, "text/markdown; charset=utf-8", headers)
    return _plain(plain_body(call, given, wishes), "text/plain; charset=utf-8", headers)


def _plain(text: str, kind: str, headers: dict[str, str]) -> Response:
    return Response(text.encode("utf-8", "replace"), headers={**headers, "Content-Type": kind})


async def _events(
    call: PageRequest, wishes: Wishes, request: Request, library: Store, service: Service
) -> AsyncIterator[ServerSentEvent]:
    """`stage` as it goes on, then one `data` that holds what JSON would, or one `error`."""
    stages: asyncio.Queue[str | None] = asyncio.Queue()
    task = asyncio.ensure_future(
        respond(call, library, service.retrieval, service.extractor, progress=stages.put_nowait)
    )
    task.add_done_callback(lambda _: stages.put_nowait(None))
    try:
        while (stage := await stages.get()) is not None:
            yield ServerSentEvent(json.dumps({"stage": stage}), event="stage")
        body = await _for_programs(call, task.result(), wishes, request, service)
        yield ServerSentEvent(_json(body["data"]), event="data")
    except PagekeepError as error:
        yield ServerSentEvent(_json(error.to_json()), event="error")
    finally:
        task.cancel()


def _json(value: dict[str, Any]) -> str:
    return bytes(Json(value).body).decode()

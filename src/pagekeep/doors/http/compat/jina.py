"""`/r`: the Jina-compatible endpoint, which returns a page as Markdown by its URL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from pagekeep.doors.http.base64_files import decode_file
from pagekeep.doors.http.caller import ReadLibrary
from pagekeep.doors.http.compat.jina_options import JinaOptions, make_call, url_in_path
from pagekeep.doors.http.compat.jina_response import json_body, plain_body
from pagekeep.doors.http.compat.screenshots import HEADERS, store_screenshot
from pagekeep.doors.http.connected import while_connected
from pagekeep.doors.http.errors import FETCH_STATUSES, error_responses
from pagekeep.doors.http.observability.logs import log_host
from pagekeep.doors.http.responses import Json
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.errors import InvalidQuery, PagekeepError
from pagekeep.library.open import Store
from pagekeep.library.page_request import PageRequest, PageResponse, respond

router = APIRouter(tags=["reader"])
_TEXT: Final[dict[str, Any]] = {"schema": {"type": "string"}}
_ANSWERS: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "By `Accept`: plain text, Markdown with frontmatter, JSON or events; or a screenshot.",
        "content": {
            "text/plain": _TEXT,
            "text/markdown": _TEXT,
            "application/json": {"schema": {"type": "object"}},
            "text/event-stream": {},
            "image/png": {},
        },
    },
    **error_responses(404, 409, 429, *FETCH_STATUSES),
}
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "content": {
            kind: {
                "schema": {
                    "type": "object",
                    "properties": {name: {"type": "string"} for name in ("url", "html", "pdf")},
                    "example": {"url": "https://example.com/app#/page", "respondWith": "content"},
                }
            }
            for kind in ("application/json", "application/x-www-form-urlencoded")
        }
    }
}


@router.get("/r/{address:path}", response_class=PlainTextResponse, responses=_ANSWERS)
async def read_address(address: str, request: Request, library: ReadLibrary, service: CurrentService) -> Response:
    """Return the page at the URL in the path. If the URL is percent-encoded, the query may contain options.

    Options may also be headers: `X-Respond-With`, `X-Target-Selector`, `X-Timeout` and others, see docs/api.md.
    """
    raw = request.scope.get("raw_path", b"").decode("latin-1").partition("?")[0]
    url, includes_query = url_in_path(raw, request.url.query)
    query: Mapping[str, Any] = {} if includes_query else request.query_params
    return await _respond(url, None, JinaOptions.parse(request, query, {}), request, library, service)


@router.post("/r", response_class=PlainTextResponse, responses=_ANSWERS, openapi_extra=_BODY)
async def read_posted(request: Request, library: ReadLibrary, service: CurrentService) -> Response:
    """Return the page at `url`, which may contain a `#`, in `html`, or in `pdf` (a file of a form, or Base64).

    Options may be in the body, the query or headers.
    """
    body = await _parse_body(request)
    url, html = (_text(body, request, name) for name in ("url", "html"))
    options = JinaOptions.parse(request, request.query_params, body)
    return await _respond(url or "", html, options, request, library, service, _file(body))


def _file(body: Mapping[str, Any]) -> bytes | None:
    """Return the document in the body, if there is one."""
    value = body.get("pdf", body.get("file"))
    if value is None or isinstance(value, bytes):
        return value
    try:
        return decode_file(value)
    except (ValueError, AttributeError, TypeError):
        raise InvalidQuery("`pdf` must be a file or its Base64.", suggestions=()) from None


async def _parse_body(request: Request) -> Mapping[str, Any]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
        async with request.form() as form:
            return {name: value if isinstance(value, str) else await value.read() for name, value in form.items()}
    data = await request.body()
    if not data:
        return {}
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InvalidQuery("The request body is invalid.", suggestions=('Send JSON: {"url": "https://..."}',))
    return body


def _text(body: Mapping[str, Any], request: Request, name: str) -> str | None:
    value = body.get(name, request.query_params.get(name))
    if value is not None and not isinstance(value, str):
        raise InvalidQuery(f"`{name}` must be a string.", suggestions=())
    return value


async def _respond(
    url: str,
    html: str | None,
    options: JinaOptions,
    request: Request,
    library: Store,
    service: Service,
    file: bytes | None = None,
) -> Response:
    call = make_call(url, html, options, file)
    log_host(call.request.url)
    accept = request.headers.get("accept", "").lower()
    if "text/event-stream" in accept:
        return EventSourceResponse(
            _events(call, options, request, library, service), headers={"Cache-Control": "no-store"}
        )
    result = await while_connected(request, respond(call, library, service.retrieval))
    if "application/json" in accept:
        return Json(await _json_content(call, result, options, request, service), headers=_headers(result))
    return _text_response(call, result, options, accept)


async def _json_content(
    call: PageRequest, result: PageResponse, options: JinaOptions, request: Request, service: Service
) -> dict[str, Any]:
    body = json_body(call, result, options)
    if result.picture is not None:
        body["data"][f"{call.form}Url"] = await store_screenshot(result.picture, request, service)
    return body


def _headers(result: PageResponse) -> dict[str, str]:
    return {"Cache-Control": "private, no-cache", "X-Usage-Tokens": str(result.tokens)}


def _text_response(call: PageRequest, result: PageResponse, options: JinaOptions, accept: str) -> Response:
    headers = _headers(result)
    if result.picture is not None:
        return Response(result.picture, media_type="image/png", headers=HEADERS)
    if "text/markdown" in accept and call.form in ("content", "markdown"):
        return _plain(result.page.document, "text/markdown; charset=utf-8", headers)
    return _plain(plain_body(call, result, options), "text/plain; charset=utf-8", headers)


def _plain(text: str, kind: str, headers: dict[str, str]) -> Response:
    return Response(text.encode("utf-8", "replace"), headers={**headers, "Content-Type": kind})


async def _events(
    call: PageRequest, options: JinaOptions, request: Request, library: Store, service: Service
) -> AsyncIterator[ServerSentEvent]:
    """Yield `stage` events while the page is processed, then one `data` event with the JSON, or one `error`."""
    stages: asyncio.Queue[str | None] = asyncio.Queue()
    task = asyncio.ensure_future(respond(call, library, service.retrieval, progress=stages.put_nowait))
    task.add_done_callback(lambda _: stages.put_nowait(None))
    try:
        while (stage := await stages.get()) is not None:
            yield ServerSentEvent(json.dumps({"stage": stage}), event="stage")
        body = await _json_content(call, task.result(), options, request, service)
        yield ServerSentEvent(_json(body["data"]), event="data")
    except PagekeepError as error:
        yield ServerSentEvent(_json(error.to_json()), event="error")
    finally:
        task.cancel()


def _json(value: dict[str, Any]) -> str:
    return bytes(Json(value).body).decode()

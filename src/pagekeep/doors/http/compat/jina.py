"""`/r` and `/s`: a page as Markdown by its URL, and searches of the library, as Jina Reader returns them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Annotated, Any, Final, get_args
from urllib.parse import unquote

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import PlainTextResponse, Response
from pydantic_core import from_json
from sse_starlette import EventSourceResponse, ServerSentEvent

from pagekeep.capture.extract import ViewOptions
from pagekeep.capture.from_url import RenderMode
from pagekeep.capture.from_url import Request as CaptureRequest
from pagekeep.doors.http.caller import ReadLibrary
from pagekeep.doors.http.compat.screenshots import HEADERS, store_screenshot
from pagekeep.doors.http.errors import FETCH_STATUSES, error_responses
from pagekeep.doors.http.observability import log_host
from pagekeep.doors.http.requests import decode_file, while_connected
from pagekeep.doors.http.responses import Json, LongText
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.errors import InvalidQuery, InvalidUrl, PagekeepError
from pagekeep.library.feeds.inbox import search_items
from pagekeep.library.open import Store
from pagekeep.library.saving.preview import FRESH_SECONDS, Form, PageRequest, PageResponse, Picture, answer_request
from pagekeep.markdown.frontmatter import split_block
from pagekeep.model import Hit, MadeField, Page, plain
from pagekeep.present.sections import count_tokens

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
    url, html, file = _text(body, request, "url"), _html(body, request), _file(body)
    options = JinaOptions.parse(request, request.query_params, body)
    return await _respond(url or "", html, options, request, library, service, file)


def _html(body: dict[str, Any], request: Request) -> bytes | None:
    """Take the page out of the body, so that it is not in memory as text too while it is worked on."""
    html = _text(body, request, "html")
    body.pop("html", None)
    return None if html is None else html.encode("utf-8", "replace")


def _file(body: dict[str, Any]) -> bytes | None:
    """Take the document out of the body, if there is one."""
    first, second = body.pop("pdf", None), body.pop("file", None)
    value = second if first is None else first
    if value is None or isinstance(value, bytes):
        return value
    try:
        return decode_file(value)
    except (ValueError, AttributeError, TypeError):
        raise InvalidQuery("`pdf` must be a file or its Base64.", suggestions=()) from None


async def _parse_body(request: Request) -> dict[str, Any]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
        async with request.form() as form:
            return {name: value if isinstance(value, str) else await value.read() for name, value in form.items()}
    data = bytearray()
    async for part in request.stream():  # `request.body()` would keep it until the end of the request
        data += part
    if not data:
        return {}
    body = _parse_json(data)
    if not isinstance(body, dict):
        raise InvalidQuery("The request body is invalid.", suggestions=('Send JSON: {"url": "https://..."}',))
    return body


def _parse_json(data: bytearray) -> Any:
    """Return the value; `None` for invalid JSON."""
    try:
        return from_json(data)  # it needs no copy of the text, but refuses lone surrogates
    except ValueError:
        pass
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _text(body: Mapping[str, Any], request: Request, name: str) -> str | None:
    value = body.get(name, request.query_params.get(name))
    if value is not None and not isinstance(value, str):
        raise InvalidQuery(f"`{name}` must be a string.", suggestions=())
    return value


async def _respond(
    url: str,
    html: bytes | None,
    options: JinaOptions,
    request: Request,
    library: Store,
    service: Service,
    file: bytes | None = None,
) -> Response:
    accept = request.headers.get("accept", "").lower()
    call = make_call(url, html, options, file, document="text/markdown" in accept)
    log_host(call.request.url)
    if "text/event-stream" in accept:
        return EventSourceResponse(
            _events(call, options, request, library, service), headers={"Cache-Control": "no-store"}
        )
    result = await while_connected(request, answer_request(call, library, service.retrieval))
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
        return LongText([result.page.document], headers={**headers, "Content-Type": "text/markdown; charset=utf-8"})
    return LongText(plain_body(call, result, options), headers={**headers, "Content-Type": "text/plain; charset=utf-8"})


async def _events(
    call: PageRequest, options: JinaOptions, request: Request, library: Store, service: Service
) -> AsyncIterator[ServerSentEvent]:
    """Yield `stage` events while the page is processed, then one `data` event with the JSON, or one `error`."""
    stages: asyncio.Queue[str | None] = asyncio.Queue()
    task = asyncio.ensure_future(answer_request(call, library, service.retrieval, progress=stages.put_nowait))
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


search_router = APIRouter(tags=["search"])
_DEFAULT_COUNT: Final = 5
_SEARCH_ANSWERS: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "By `Accept`: plain text or JSON.",
        "content": {
            "text/plain": {"schema": {"type": "string"}},
            "application/json": {"schema": {"type": "object"}},
        },
    },
    **error_responses(),
}


@search_router.get("/s", name="search_jina", response_class=PlainTextResponse, responses=_SEARCH_ANSWERS)
@search_router.get(
    "/s/{query:path}", name="search_jina_path", response_class=PlainTextResponse, responses=_SEARCH_ANSWERS
)
def search(
    request: Request,
    library: ReadLibrary,
    query: str = "",
    q: Annotated[str, Query(max_length=1000)] = "",
    num: Annotated[int, Query(ge=1, le=20)] = _DEFAULT_COUNT,
    site: Annotated[str, Query(max_length=300)] = "",
    x_site: Annotated[str, Header(max_length=300)] = "",
    x_respond_with: Annotated[str, Header(max_length=100)] = "",
) -> Response:
    """Return items that match the query in the path or in `q`, with their texts unless `no-content` is wanted."""
    words = (query or q).strip("/ ")
    if not words:
        raise InvalidQuery("Nothing to search for.", suggestions=("Write the words after `/s/`, or as `q`.",))
    host = (site or x_site).strip()
    asked = f'{words} domain:"{host}"' if host else words
    hits = search_items(library, asked, limit=num).hits
    with_text = "no-content" not in x_respond_with
    results = [_result(hit, with_text=with_text) for hit in hits]
    if "application/json" in request.headers.get("accept", ""):
        return Json({"code": 200, "status": 20000, "data": results})
    return PlainTextResponse("\n".join(_write(number, one) for number, one in enumerate(results, start=1)))


def _result(hit: Hit, *, with_text: bool) -> dict[str, Any]:
    item = hit.item
    snippet = (hit.snippet or "").replace("[[", "").replace("]]", "")
    content = split_block(item.content)[1] if with_text else ""
    result: dict[str, Any] = {
        "title": item.title,
        "url": item.url_full or item.url,
        "description": " ".join(snippet.split()),
        "content": content,
        "usage": {"tokens": count_tokens(content)},
    }
    return {**result, "publishedTime": item.published_at} if item.published_at else result


def _write(number: int, result: dict[str, Any]) -> str:
    lines = [("Title", result["title"]), ("URL Source", result["url"]), ("Description", result["description"])]
    if "publishedTime" in result:
        lines.append(("Published Time", result["publishedTime"]))
    head = "\n".join(f"[{number}] {name}: {' '.join(str(value).split())}" for name, value in lines)
    return f"{head}\n\n{result['content'].rstrip()}\n" if result["content"] else f"{head}\n"


MAX_TIMEOUT: Final = 180.0
"""Seconds."""
_OPTION_NAMES: Final = (
    *("respond-with", "return-format", "target-selector", "wait-for-selector", "remove-selector", "timeout", "engine"),
    *("no-cache", "cache-tolerance", "retain-images", "retain-links", "with-links-summary", "with-images-summary"),
    *("with-iframe", "remove-overlay", "token-budget", "max-tokens"),
)
_ENGINES: Final[dict[str, RenderMode | None]] = {"auto": None, "browser": "force", "direct": "never"}
_PICTURES: Final[dict[Form, Picture]] = {"screenshot": "window", "pageshot": "whole"}
_SUMMARIES: Final[dict[str, MadeField]] = {"with-images-summary": "media", "with-links-summary": "links"}
"""Options that list a field of the page below its text."""
_SCHEME: Final = re.compile(r"(?i)(https?):/{1,2}(?=[^/])")
_LIST: Final = re.compile(r",\s+")
_NO: Final = frozenset({"", "false", "0", "no", "off"})


class JinaOptions:
    """The options of one request, by names such as `respond-with`."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    @classmethod
    def parse(cls, request: Request, query: Mapping[str, Any], body: Mapping[str, Any]) -> JinaOptions:
        """Collect the options; the body overrides the query, and the query overrides headers."""
        values: dict[str, Any] = {}
        for name in _OPTION_NAMES:
            for value in (body.get(_camel(name)), query.get(_camel(name)), request.headers.get(f"x-{name}")):
                if value is not None:
                    values[name] = value
                    break
        return cls(values)

    def text(self, name: str) -> str:
        """Return an option as text; empty if not given."""
        value = self._values.get(name, "")
        return value.strip() if isinstance(value, str) else str(value).lower()

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return one of the choices, the first if not given."""
        value = self.text(name).lower() or choices[0]
        if value not in choices:
            raise _invalid(name, f"one of {', '.join(choices)}")
        return value

    def flag(self, name: str) -> bool:
        """Return whether the option is on."""
        return self.text(name).lower() not in _NO

    def number(self, name: str, maximum: float = 1e9) -> float | None:
        """Return a number from 0 to the maximum; `None` if not given."""
        text = self.text(name)
        if not text:
            return None
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not 0 <= number <= maximum:
            raise _invalid(name, f"a number from 0 to {maximum:g}")
        return number

    def selectors(self, name: str) -> tuple[str, ...]:
        """Return a list of selectors, given as a list or separated by a comma and a space."""
        value = self._values.get(name, "")
        parts = value if isinstance(value, list) else _LIST.split(str(value))
        return tuple(part.strip() for part in map(str, parts) if part.strip())


def _invalid(name: str, expected: str) -> InvalidQuery:
    return InvalidQuery(f"Invalid value of `X-{name.title()}`.", suggestions=(f"Use {expected}.",))


def _camel(name: str) -> str:
    first, *rest = name.split("-")
    return first + "".join(part.capitalize() for part in rest)


def make_call(
    url: str, html: bytes | None, options: JinaOptions, file: bytes | None = None, *, document: bool = False
) -> PageRequest:
    """Return the call of the use case for these options; `document` if the caller wants the page with its frontmatter."""
    if not url and html is None and file is None:
        raise InvalidUrl("No URL was given.")
    only = options.selectors("target-selector")
    wait_for = ", ".join(options.selectors("wait-for-selector") or only) or None
    seconds = options.number("timeout", MAX_TIMEOUT) or None
    name = "respond-with" if options.text("respond-with") else "return-format"
    form: Form = options.choice(name, get_args(Form))  # type: ignore[assignment]
    return PageRequest(
        request=CaptureRequest(
            complete_url(url) if url else "",
            render=_ENGINES[options.choice("engine", tuple(_ENGINES))],
            wait_for=wait_for,
            render_timeout=seconds,
            timeout=seconds,
        ),
        html=html,
        file=file,
        form=form,
        picture=_PICTURES.get(form),
        view=ViewOptions(
            only=only,
            without=options.selectors("remove-selector"),
            overlays=not options.flag("remove-overlay"),
            images=options.choice("retain-images", ("all", "none", "alt")),  # type: ignore[arg-type]
            links=options.choice("retain-links", ("all", "none", "text")),  # type: ignore[arg-type]
        ),
        needs=tuple(field for name, field in _SUMMARIES.items() if options.flag(name)),
        document=document,
        frames=options.flag("with-iframe"),
        tolerance=_tolerance(options),
        waits=bool(options.selectors("wait-for-selector")),
        budget=_to_int(options.number("token-budget")),
        max_tokens=_to_int(options.number("max-tokens")),
    )


def _tolerance(options: JinaOptions) -> float:
    if options.flag("no-cache"):
        return 0.0
    seconds = options.number("cache-tolerance")
    return FRESH_SECONDS if seconds is None else seconds


def _to_int(number: float | None) -> int | None:
    return None if number is None else int(number)


def url_in_path(raw_path: str, query: str) -> tuple[str, bool]:
    """Return the URL after `/r/`, and whether the query belongs to it, as for a URL that is not percent-encoded."""
    path = raw_path.removeprefix("/r/")
    if _SCHEME.match(path):
        return path + (f"?{query}" if query else ""), True
    return unquote(path), False


def complete_url(url: str) -> str:
    """Return a complete URL: proxies merge the two slashes, and people omit the scheme."""
    url = url.strip()
    if _SCHEME.match(url):
        return _SCHEME.sub(lambda match: f"{match[1]}://", url, count=1)
    return url if "://" in url else f"https://{url}"


_CONTENT_NAMES: Final[dict[Form, str]] = {"html": "html", "text": "text"}


def plain_body(call: PageRequest, result: PageResponse, options: JinaOptions) -> list[str]:
    """Return title, source, date and the Markdown, in pieces: it is not copied. Other formats have no header."""
    if call.form not in ("content", "markdown"):
        return [result.body]
    pieces = list(_pieces(result, options))
    while not (last := pieces.pop().rstrip("\n")):
        pass
    return [*pieces, last, "\n"]


def _pieces(result: PageResponse, options: JinaOptions) -> Iterator[str]:
    about = result.page.metadata
    yield f"Title: {' '.join((about.title or '').split())}\n\n"
    yield f"URL Source: {result.page.url or ''}\n\n"
    if about.published:
        yield f"Published Time: {about.published}\n\n"
    if result.warning:
        yield f"Warning: {' '.join(result.warning.split())}\n\n"
    yield "Markdown Content:\n"
    yield result.body.rstrip()
    if options.flag("with-images-summary"):
        yield "\n".join(["\n\nImages:", *(f"- ![{label}]({url})" for label, url in _images(result.page))])
    if options.flag("with-links-summary"):
        yield "\n".join(["\n\nLinks/Buttons:", *(f"- [{text}]({url})" for text, url in _links(result.page))])


def json_body(call: PageRequest, result: PageResponse, options: JinaOptions) -> dict[str, Any]:
    """Return the JSON response."""
    about = result.page.metadata
    data: dict[str, Any] = {
        "title": about.title or "",
        "description": about.description or "",
        "url": result.page.url or "",
        **({} if result.picture is not None else {_CONTENT_NAMES.get(call.form, "content"): result.body}),
        "publishedTime": about.published,
        "metadata": plain(about),
        "usage": {"tokens": result.tokens},
    }
    if result.warning:
        data["warning"] = result.warning
    if options.flag("with-images-summary"):
        data["images"] = _summary(options.text("with-images-summary"), _images(result.page))
    if options.flag("with-links-summary"):
        data["links"] = _summary(options.text("with-links-summary"), _links(result.page))
    return {"code": 200, "status": 20000, "data": data}


def _summary(mode: str, pairs: Iterator[tuple[str, str]]) -> dict[str, str] | list[list[str]]:
    """Return the links by name; with `all`, as a list that keeps those with the same name."""
    return [list(pair) for pair in pairs] if mode.lower() == "all" else dict(pairs)


def _links(page: Page) -> Iterator[tuple[str, str]]:
    for link in page.links:
        yield " ".join(link.text.split()), link.url


def _images(page: Page) -> Iterator[tuple[str, str]]:
    images = (medium for medium in page.media if medium.kind == "image")
    for number, image in enumerate(images, start=1):
        alt = " ".join(image.alt.split())
        yield f"Image {number}: {alt}" if alt else f"Image {number}", image.url

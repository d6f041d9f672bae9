"""`/s`: search the library, in the shape of Jina's search of the web."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import PlainTextResponse, Response

from pagekeep.doors.http.caller import ReadLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import Json
from pagekeep.errors import InvalidQuery
from pagekeep.library.items import search_items
from pagekeep.markdown.frontmatter import split_block
from pagekeep.model import Hit
from pagekeep.present.token_count import estimate

router = APIRouter(tags=["search"])
_DEFAULT_COUNT: Final = 5
_ANSWERS: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "By `Accept`: plain text or JSON.",
        "content": {
            "text/plain": {"schema": {"type": "string"}},
            "application/json": {"schema": {"type": "object"}},
        },
    },
    **error_responses(),
}


@router.get("/s", name="search_jina", response_class=PlainTextResponse, responses=_ANSWERS)
@router.get("/s/{query:path}", name="search_jina_path", response_class=PlainTextResponse, responses=_ANSWERS)
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
        "usage": {"tokens": estimate(content)},
    }
    return {**result, "publishedTime": item.published_at} if item.published_at else result


def _write(number: int, result: dict[str, Any]) -> str:
    lines = [("Title", result["title"]), ("URL Source", result["url"]), ("Description", result["description"])]
    if "publishedTime" in result:
        lines.append(("Published Time", result["publishedTime"]))
    head = "\n".join(f"[{number}] {name}: {' '.join(str(value).split())}" for name, value in lines)
    return f"{head}\n\n{result['content'].rstrip()}\n" if result["content"] else f"{head}\n"

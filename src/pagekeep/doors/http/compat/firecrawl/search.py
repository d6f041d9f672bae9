"""`POST /v2/search`: search the library, in the shape of Firecrawl's search of the web."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from pagekeep.doors.http.caller import ReadLibrary
from pagekeep.doors.http.compat.firecrawl.errors import failure_responses
from pagekeep.doors.http.compat.firecrawl.formats import ScrapeOptions, Wanted
from pagekeep.library.items import search_items
from pagekeep.markdown.frontmatter import split_block
from pagekeep.model import Hit

router = APIRouter(tags=["search"])
_MAX_LIMIT: Final = 100


class SearchRequest(BaseModel):
    """The request body. Sources, categories and places are ignored: there is one library."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)

    query: Annotated[str, Field(min_length=1, max_length=1000, examples=["lighthouse -storm"])]
    limit: Annotated[int, Field(ge=1, le=_MAX_LIMIT)] = 10
    scrape_options: ScrapeOptions | None = None


class Found(BaseModel):
    success: Literal[True]
    data: dict[str, list[dict[str, Any]]]


@router.post("/v2/search", name="search_v2", response_model=Found, responses=failure_responses())
def search(body: SearchRequest, library: ReadLibrary) -> dict[str, Any]:
    """Return items of the library that match; with the format `markdown`, each with its stored text."""
    with_text = body.scrape_options is not None and "markdown" in Wanted(body.scrape_options).names
    page = search_items(library, body.query, limit=body.limit)
    return {"success": True, "data": {"web": [_result(hit, with_text=with_text) for hit in page.hits]}}


def _result(hit: Hit, *, with_text: bool) -> dict[str, Any]:
    item = hit.item
    snippet = (hit.snippet or "").replace("[[", "").replace("]]", "")
    result: dict[str, Any] = {"url": item.url_full or item.url, "title": item.title or item.url, "description": snippet}
    if with_text:
        result["markdown"] = split_block(item.content)[1].lstrip("\n")
        result["metadata"] = {"title": item.title, "sourceURL": item.url, "url": item.url, "statusCode": 200}
    return result

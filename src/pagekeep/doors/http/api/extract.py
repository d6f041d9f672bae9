"""`/api/v1/extract` and `/api/v1/explain`: a page read and not stored."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from pagekeep.doors.http.api.models import FETCHING, Asked, Explanation, OnePage, failures
from pagekeep.doors.http.api.page_requests import Here, given_by, request_of
from pagekeep.doors.http.caller import Caller, may_read
from pagekeep.doors.http.responses import Json
from pagekeep.library.preview import preview_page
from pagekeep.present.explain import explain
from pagekeep.present.json_shapes import page_shape, trace_shape

router = APIRouter(prefix="/api/v1", tags=["extract"])
Reader = Annotated[Caller, Depends(may_read)]


@router.post("/extract", response_model=OnePage, responses=failures(*FETCHING))
async def extract_page(asked: Asked, caller: Reader, service: Here) -> Response:
    """The content of a page as Markdown, clean HTML and text, with what the page says about itself."""
    captured = await preview_page(request_of(asked), service.retrieval, uploaded=given_by(asked))
    return Json({"page": page_shape(captured.page)})


@router.post("/explain", response_model=Explanation, responses=failures(*FETCHING))
async def explain_page(asked: Asked, caller: Reader, service: Here) -> Response:
    """How the content of a page was found: levels, checks, rules, removals, origins."""
    page = (await preview_page(request_of(asked), service.retrieval, uploaded=given_by(asked))).page
    return Json({"explanation": explain(page), "trace": trace_shape(page), "page": page_shape(page)})

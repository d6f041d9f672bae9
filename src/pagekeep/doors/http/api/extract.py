"""`/api/v1/extract` and `/api/v1/explain`: extract a page without storing it."""

from __future__ import annotations

from fastapi import APIRouter, Request

from pagekeep.doors.http.api.request_models import ExtractRequest
from pagekeep.doors.http.api.response_models import Explanation, OnePage
from pagekeep.doors.http.caller import ReadCaller
from pagekeep.doors.http.connected import while_connected
from pagekeep.doors.http.errors import FETCH_STATUSES, error_responses
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.library.preview import preview_page
from pagekeep.model import MADE_FIELDS, Page
from pagekeep.present.json_shapes import page_shape, trace_shape
from pagekeep.present.tasks import ExplainTask
from pagekeep.workers import TEXT

router = APIRouter(prefix="/api/v1", tags=["extract"])


@router.post("/extract", responses=error_responses(*FETCH_STATUSES))
async def extract_page(body: ExtractRequest, request: Request, caller: ReadCaller, service: CurrentService) -> OnePage:
    """Extract a page as Markdown, clean HTML and text, with its metadata."""
    return {"page": page_shape(await while_connected(request, _preview(body, service)))}


@router.post("/explain", responses=error_responses(*FETCH_STATUSES))
async def explain_page(
    body: ExtractRequest, request: Request, caller: ReadCaller, service: CurrentService
) -> Explanation:
    """Explain how a page is extracted: strategies, checks, rules, removals and sources of the metadata."""
    page = await while_connected(request, _preview(body, service))
    explanation = await service.room.run(ExplainTask.of(page), TEXT)
    return {"explanation": explanation, "trace": trace_shape(page), "page": page_shape(page)}


async def _preview(body: ExtractRequest, service: Service) -> Page:
    uploaded = await body.uploaded_page(service.retrieval)
    return (await preview_page(body.capture_request(), service.retrieval, needs=MADE_FIELDS, uploaded=uploaded)).page

"""`/api/v1/extract`, `/explain` and `/rules`: extract a page without storing it; list, check and try rules."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from pagekeep.capture.active_rules import CheckTask
from pagekeep.doors.http.api.request_models import ExtractRequest, RuleFile, RuleTrialRequest
from pagekeep.doors.http.api.response_models import Checked, Explanation, OnePage, Rules, Tried
from pagekeep.doors.http.caller import ReadCaller, ReadLibrary
from pagekeep.doors.http.errors import FETCH_STATUSES, error_responses
from pagekeep.doors.http.requests import while_connected
from pagekeep.doors.http.responses import LongJson, TaggedRoute
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.library.saving.preview import preview_page
from pagekeep.library.saving.try_rules import try_rules
from pagekeep.model import MADE_FIELDS, Page
from pagekeep.present.explain import match_shape
from pagekeep.present.json_shapes import Fault, page_shape, rule_shape, to_json, trace_shape
from pagekeep.present.tasks import ExplainTask
from pagekeep.rules.schema import schema
from pagekeep.workers import TEXT

router = APIRouter(prefix="/api/v1", tags=["extract"])


@router.post("/extract", response_model=OnePage, responses=error_responses(*FETCH_STATUSES))
async def extract_page(body: ExtractRequest, request: Request, caller: ReadCaller, service: CurrentService) -> Response:
    """Extract a page as Markdown, clean HTML and text, with its metadata."""
    return LongJson({"page": page_shape(await while_connected(request, _preview(body, service)))})


@router.post("/explain", response_model=Explanation, responses=error_responses(*FETCH_STATUSES))
async def explain_page(body: ExtractRequest, request: Request, caller: ReadCaller, service: CurrentService) -> Response:
    """Explain how a page is extracted: strategies, checks, rules, removals and sources of the metadata."""
    page = await while_connected(request, _preview(body, service))
    explanation = await service.room.run(ExplainTask.of(page), TEXT)
    return LongJson({"explanation": explanation, "trace": trace_shape(page), "page": page_shape(page)})


async def _preview(body: ExtractRequest, service: Service) -> Page:
    uploaded = await body.uploaded_page(service.retrieval)
    return (await preview_page(body.capture_request(), service.retrieval, needs=MADE_FIELDS, uploaded=uploaded)).page


rules_router = APIRouter(prefix="/api/v1/rules", tags=["rules"], route_class=TaggedRoute)


@rules_router.get("", responses=error_responses())
def list_rules(caller: ReadCaller, service: CurrentService, own: bool = False) -> Rules:
    """List the active rules in the order they run, and the errors in invalid rules."""
    book = service.retrieval.rules
    rules = [rule for rule in book.rules if not (own and rule.source and rule.source.shipped)]
    faults = [to_json(Fault, fault) for fault in book.faults]
    return {"rules": [rule_shape(rule) for rule in rules], "faults": faults}


@rules_router.get("/schema", responses=error_responses())
def read_schema(caller: ReadCaller) -> dict[str, Any]:
    """Return the JSON Schema of rule files, for editors."""
    return schema()


@rules_router.post("/check", responses=error_responses())
async def check_rules(body: RuleFile, caller: ReadCaller, service: CurrentService) -> Checked:
    """Check a rule file; return every error with its line, key and a suggestion."""
    checked = await service.room.run(CheckTask(body.yaml), TEXT)
    faults = [to_json(Fault, fault) for fault in checked.faults]
    return {"good": not faults, "rules": [rule_shape(rule) for rule in checked.rules], "faults": faults}


@rules_router.post("/try", responses=error_responses(404, *FETCH_STATUSES))
async def try_on_page(body: RuleTrialRequest, request: Request, library: ReadLibrary, service: CurrentService) -> Tried:
    """Extract a page with and without the rules, next to the other active rules. Nothing is stored."""
    tried = await while_connected(
        request, try_rules(body.yaml, body.page, library, service.retrieval, needs=MADE_FIELDS)
    )
    return {
        "before": page_shape(tried.before),
        "after": page_shape(tried.after),
        "diff": list(tried.changes),
        "matches": [match_shape(match) for match in tried.matches],
        "idle": list(tried.idle),
        "faults": [to_json(Fault, fault) for fault in tried.faults],
    }

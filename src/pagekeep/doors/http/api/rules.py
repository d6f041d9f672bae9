"""`/api/v1/rules`: list, check and try rules."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from pagekeep.capture.active_rules import CheckTask
from pagekeep.doors.http.api.request_models import RuleFile, RuleTrialRequest
from pagekeep.doors.http.api.response_models import Checked, Rules, Tried
from pagekeep.doors.http.caller import ReadCaller, ReadLibrary
from pagekeep.doors.http.connected import while_connected
from pagekeep.doors.http.errors import FETCH_STATUSES, error_responses
from pagekeep.doors.http.responses import TaggedRoute
from pagekeep.doors.http.service import CurrentService
from pagekeep.library.try_rules import try_rules
from pagekeep.model import MADE_FIELDS
from pagekeep.present.explain_rules import match_shape
from pagekeep.present.json_shapes import fault_shape, page_shape, rule_shape
from pagekeep.rules.schema import schema
from pagekeep.workers import TEXT

router = APIRouter(prefix="/api/v1/rules", tags=["rules"], route_class=TaggedRoute)


@router.get("", responses=error_responses())
def list_rules(caller: ReadCaller, service: CurrentService, own: bool = False) -> Rules:
    """List the active rules in the order they run, and the errors in invalid rules."""
    book = service.retrieval.rules
    rules = [rule for rule in book.rules if not (own and rule.source and rule.source.shipped)]
    faults = [fault_shape(fault) for fault in book.faults]
    return {"rules": [rule_shape(rule) for rule in rules], "faults": faults}


@router.get("/schema", responses=error_responses())
def read_schema(caller: ReadCaller) -> dict[str, Any]:
    """Return the JSON Schema of rule files, for editors."""
    return schema()


@router.post("/check", responses=error_responses())
async def check_rules(body: RuleFile, caller: ReadCaller, service: CurrentService) -> Checked:
    """Check a rule file; return every error with its line, key and a suggestion."""
    checked = await service.room.run(CheckTask(body.yaml), TEXT)
    faults = [fault_shape(fault) for fault in checked.faults]
    return {"good": not faults, "rules": [rule_shape(rule) for rule in checked.rules], "faults": faults}


@router.post("/try", responses=error_responses(404, *FETCH_STATUSES))
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
        "faults": [fault_shape(fault) for fault in tried.faults],
    }

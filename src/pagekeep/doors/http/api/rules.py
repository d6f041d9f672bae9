"""`/api/v1/rules`: what is known about sites and platforms."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from pagekeep.doors.http.api import models
from pagekeep.doors.http.api.models import FETCHING, failures
from pagekeep.doors.http.api.page_requests import Here
from pagekeep.doors.http.caller import Caller, Reads, may_read
from pagekeep.doors.http.responses import Json, answer
from pagekeep.library.try_rules import try_rules
from pagekeep.present.explain_rules import match_shape
from pagekeep.present.json_shapes import fault_shape, page_shape, rule_shape
from pagekeep.rules.loading import check, read
from pagekeep.rules.schema import schema

router = APIRouter(prefix="/api/v1/rules", tags=["rules"])
Reader = Annotated[Caller, Depends(may_read)]


@router.get("", response_model=models.Rules, responses=failures())
def list_rules(request: Request, caller: Reader, service: Here, own: bool = False) -> Response:
    """The rules in force, in the order they run, and what is wrong with those that were left out."""
    book = service.retrieval.rules
    found = [rule for rule in book.rules if not (own and rule.source and rule.source.shipped)]
    faults = [fault_shape(fault) for fault in book.faults]
    return answer(request, {"rules": [rule_shape(rule) for rule in found], "faults": faults})


@router.get("/schema", response_model=None, responses=failures())
def read_schema(request: Request, caller: Reader) -> Response:
    """The JSON Schema of rule files, for editors."""
    return answer(request, schema())


@router.post("/check", response_model=models.Checked, responses=failures())
async def check_rules(asked: models.Yaml, caller: Reader) -> Response:
    """Every fault of a file of rules, with line, key and what to write instead."""
    checked = await to_thread(lambda: check(read(asked.yaml, "rules.yaml")))
    faults = [fault_shape(fault) for fault in checked.faults]
    return Json({"good": not faults, "rules": [rule_shape(rule) for rule in checked.rules], "faults": faults})


@router.post("/try", response_model=models.Tried, responses=failures(404, *FETCHING))
async def try_on_page(asked: models.AskedToTry, library: Reads, service: Here) -> Response:
    """What rules would make of a page, beside what the other rules in force make of it. Nothing is stored."""
    tried = await try_rules(asked.yaml, asked.page, library, service.retrieval, service.extractor)
    return Json(
        {
            "before": page_shape(tried.before),
            "after": page_shape(tried.after),
            "diff": list(tried.changes),
            "matches": [match_shape(match) for match in tried.matches],
            "idle": list(tried.idle),
            "faults": [fault_shape(fault) for fault in tried.faults],
        }
    )

"""`/api/v1/rules`: what is known about sites and platforms."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from pagekeep.app.shape import fault_shape, rule_shape
from pagekeep.doors.http.answers import Json, answer
from pagekeep.doors.http.api import shapes
from pagekeep.doors.http.api.pages import Here
from pagekeep.doors.http.api.shapes import failures
from pagekeep.doors.http.caller import Caller, may_read
from pagekeep.rules.checking import check
from pagekeep.rules.loading import read
from pagekeep.rules.schema import schema

router = APIRouter(prefix="/api/v1/rules", tags=["rules"])
Reader = Annotated[Caller, Depends(may_read)]


@router.get("", response_model=shapes.Rules, responses=failures())
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


@router.post("/check", response_model=shapes.Checked, responses=failures())
async def check_rules(asked: shapes.Yaml, caller: Reader) -> Response:
    """Every fault of a file of rules, with line, key and what to write instead."""
    checked = await to_thread(lambda: check(read(asked.yaml, "rules.yaml")))
    faults = [fault_shape(fault) for fault in checked.faults]
    return Json({"good": not faults, "rules": [rule_shape(rule) for rule in checked.rules], "faults": faults})

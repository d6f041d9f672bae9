"""Questions about the account that Firecrawl's SDKs ask: pages cost nothing here."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter

from pagekeep.doors.http.caller import ReadCaller
from pagekeep.doors.http.compat.firecrawl.errors import failure_responses

router = APIRouter(prefix="/v2", tags=["reader"])
_CREDITS: Final = 1_000_000_000
"""A number instead of "unlimited", which the SDKs do not know."""
_CONCURRENCY: Final = 2
"""Pages of one client that are read at the same time, on a server with two cores."""


@router.get("/team/credit-usage", responses=failure_responses())
def get_credit_usage(_caller: ReadCaller) -> dict[str, Any]:
    """Return that nothing is used up."""
    period = {"billingPeriodStart": None, "billingPeriodEnd": None}
    return {"success": True, "data": {"remainingCredits": _CREDITS, "planCredits": _CREDITS, **period}}


@router.get("/concurrency-check", responses=failure_responses())
def check_concurrency(_caller: ReadCaller) -> dict[str, Any]:
    """Return how many pages can be read at the same time."""
    return {"success": True, "concurrency": 0, "maxConcurrency": _CONCURRENCY}

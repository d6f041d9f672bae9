"""`/api/v1/saves`: pages into the library, at once or by the queue."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response

from pagekeep.doors.http.api.models import FETCHING, AskedToSave, OneJob, OneSavedItem, failures
from pagekeep.doors.http.api.page_requests import Here, given_by, request_of
from pagekeep.doors.http.caller import Changes
from pagekeep.doors.http.responses import Json
from pagekeep.doors.http.service import Service
from pagekeep.library.change import clean_tag
from pagekeep.library.idempotency import run_once
from pagekeep.library.open import Store
from pagekeep.library.queue.jobs import enqueue
from pagekeep.library.save import save
from pagekeep.present.json_shapes import job_shape, saved_shape

router = APIRouter(prefix="/api/v1", tags=["saves"])


@router.post(
    "/saves",
    status_code=201,
    response_model=OneSavedItem,
    responses={
        200: {"model": OneSavedItem, "description": "It was there: updated, or kept when the new reading is worse."},
        202: {"model": OneJob, "description": "It waits for its turn (`wait=false`)."},
        **failures(409, *FETCHING),
    },
)
async def save_page(
    asked: AskedToSave,
    library: Changes,
    service: Here,
    wait: Annotated[bool, Query(description="Answer when the page is saved; otherwise at once, with a job.")] = True,
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=200)] = None,
) -> Response:
    """Save a page by its address, or as the caller has it (`html`, saved at once in any case).

    A page that is there is updated, and what was set on it stays. The same `Idempotency-Key` gets the same answer for a day.
    """
    wish = {"wait": wait, **asked.model_dump(mode="json")}

    async def do() -> dict[str, Any]:
        return await _queued(asked, library, service) if _queues(asked, wait) else await _saved(asked, library, service)

    answer = await run_once(idempotency_key, wish, library, do)
    return Json(answer["body"], answer["status"], {"Location": answer["location"]})


def _queues(asked: AskedToSave, wait: bool) -> bool:
    return not wait and asked.html is None


async def _saved(asked: AskedToSave, library: Store, service: Service) -> dict[str, Any]:
    saved = await save(
        request_of(asked), library, service.retrieval, tags=_tags(asked), force=asked.force, uploaded=given_by(asked)
    )
    status = 201 if saved.outcome == "added" else 200
    return {"status": status, "location": f"/api/v1/items/{saved.item.id}", "body": {"item": saved_shape(saved)}}


async def _queued(asked: AskedToSave, library: Store, service: Service) -> dict[str, Any]:
    job = await to_thread(enqueue, request_of(asked), library, tags=_tags(asked), force=asked.force)
    service.background.nudge()
    return {"status": 202, "location": f"/api/v1/jobs/{job.id}", "body": {"job": job_shape(job)}}


def _tags(asked: AskedToSave) -> tuple[str, ...]:
    return tuple(filter(None, map(clean_tag, asked.tags)))

"""`/api/v1/saves`: save pages, at once or through the queue."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response

from pagekeep.doors.http.api.request_models import SaveRequest
from pagekeep.doors.http.api.response_models import OneJob, OneSavedItem
from pagekeep.doors.http.caller import WriteLibrary
from pagekeep.doors.http.errors import FETCH_STATUSES, error_responses
from pagekeep.doors.http.responses import Json
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.errors import PagekeepError
from pagekeep.library.open import Store
from pagekeep.library.queue import enqueue
from pagekeep.library.saving.failed_saves import keep_address
from pagekeep.library.saving.idempotency import run_once
from pagekeep.library.saving.save import save
from pagekeep.present.json_shapes import Job, saved_shape, to_json

router = APIRouter(prefix="/api/v1", tags=["saves"])


@router.post(
    "/saves",
    status_code=201,
    response_model=OneSavedItem,
    responses={
        200: {"model": OneSavedItem, "description": "The item existed: updated, or kept if the new version is worse."},
        202: {"model": OneJob, "description": "The page is in the queue (`wait=false`)."},
        **error_responses(409, *FETCH_STATUSES),
    },
)
async def save_page(
    body: SaveRequest,
    library: WriteLibrary,
    service: CurrentService,
    wait: Annotated[bool, Query(description="Respond when the page is saved; otherwise at once, with a job.")] = True,
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=200)] = None,
) -> Response:
    """Save a page by its URL, or as `html` or `file` (which are always saved at once).

    An existing item is updated, and the user's changes to it stay. The same `Idempotency-Key` gets the same response for a day.
    """
    fields = {"wait": wait, **body.model_dump(mode="json")}

    async def do() -> dict[str, Any]:
        save_later = not wait and body.html is None and body.file is None
        return await _queue(body, library, service) if save_later else await _save(body, library, service)

    answer = await run_once(idempotency_key, fields, library, do)
    # Not checked again: a repeated request gets its stored response, even one of an older version.
    return Json(answer["body"], answer["status"], {"Location": answer["location"]})


async def _save(body: SaveRequest, library: Store, service: Service) -> dict[str, Any]:
    request = body.save_request()
    try:
        request = body.save_request(await body.uploaded_page(service.retrieval))
    except PagekeepError as error:  # a file that cannot be read: its address is kept
        await to_thread(keep_address, library, request.page.url, error, tags=request.tags)
        raise
    saved = await save(request, library, service.retrieval)
    if saved.pictures_job is not None:
        service.background.nudge()
    status = 201 if saved.outcome == "added" else 200
    content: OneSavedItem = {"item": saved_shape(saved)}
    return {"status": status, "location": f"/api/v1/items/{saved.item.id}", "body": content}


async def _queue(body: SaveRequest, library: Store, service: Service) -> dict[str, Any]:
    job = await to_thread(enqueue, body.save_request(), library)
    service.background.nudge()
    content: OneJob = {"job": to_json(Job, job)}
    return {"status": 202, "location": f"/api/v1/jobs/{job.id}", "body": content}

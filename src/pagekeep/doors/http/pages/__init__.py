"""The reader: pages made on the server, that work without a script and are nicer with ours."""

from __future__ import annotations

from fastapi import APIRouter

from pagekeep.doors.http.pages import (
    add,
    explaining,
    files,
    importing,
    inbox,
    item,
    offline,
    passages,
    playground,
    settings,
    sign_in,
    waiting,
)

router = APIRouter(include_in_schema=False)
for part in (inbox, item, passages, explaining, add, playground, settings, importing, files, offline, waiting, sign_in):
    router.include_router(part.router)

"""The reader: pages made on the server, that work without a script and are nicer with ours."""

from __future__ import annotations

from fastapi import APIRouter

from pagekeep.doors.http.web import add, explain, imports, inbox, item, offline, playground, settings, sign_in, waiting
from pagekeep.doors.http.web import annotations as passages
from pagekeep.doors.http.web.layout import static_files

router = APIRouter(include_in_schema=False)
for part in (
    inbox,
    item,
    passages,
    explain,
    add,
    playground,
    settings,
    imports,
    static_files,
    offline,
    waiting,
    sign_in,
):
    router.include_router(part.router)

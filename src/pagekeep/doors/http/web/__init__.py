"""The reader, the web UI: pages rendered on the server that work without JavaScript and are better with it."""

from fastapi import APIRouter

from pagekeep.doors.http.web import (
    add,
    browse,
    bulk,
    crawls,
    feeds,
    history,
    inbox,
    item,
    lists,
    playground,
    reading,
    settings,
    shared,
    sign_in,
    sinks,
    static_files,
    tokens,
    transfers,
    waiting,
)
from pagekeep.doors.http.web import help as help_pages

router = APIRouter(include_in_schema=False)
for part in (
    inbox.router,
    browse.router,
    item.router,
    bulk.router,
    lists.router,
    reading.router,
    history.router,
    crawls.router,
    playground.router,
    add.router,
    settings.router,
    tokens.router,
    transfers.router,
    feeds.router,
    sinks.router,
    shared.router,
    help_pages.router,
    static_files.router,
    waiting.router,
    sign_in.router,
):
    router.include_router(part)

"""`/wallabag/api/version`, `info`, `config` and `user`: what clients ask before anything else."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from pagekeep.doors.http.caller import ReadCaller
from pagekeep.doors.http.compat.wallabag import mapping
from pagekeep.doors.http.responses import Json

router = APIRouter(prefix="/api")


@router.get("/version")
async def show_version() -> Response:
    """Return the version of wallabag whose API this is."""
    return Json(mapping.VERSION)


@router.get("/info")
async def show_info() -> Response:
    """Return the name and version."""
    return Json({"appname": "wallabag", "version": mapping.VERSION, "allowed_registration": False})


@router.get("/config")
async def show_config(_caller: ReadCaller) -> Response:
    """Return settings that some clients need to read an answer."""
    return Json(
        {
            "id": mapping.USER_ID,
            "items_per_page": 30,
            "language": "en",
            "feed_limit": 50,
            "reading_speed": 200,
            "action_mark_as_read": 1,
            "list_mode": 0,
        }
    )


@router.get("/user")
async def show_user(caller: ReadCaller) -> Response:
    """Return the user."""
    return Json({"id": mapping.USER_ID, "username": caller.name, "name": caller.name, "email": ""})

"""`/linkding`: the API of linkding, for its apps, extensions and command line, and for uploads of SingleFile.

`mapping.py` says how items become bookmarks; `docs/dialects.md` lists the routes, and what differs.
"""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from pagekeep.doors.http.compat.linkding import bookmarks, others, uploads

PREFIX: Final = "/linkding"
UPLOADS: Final = f"{PREFIX}{uploads.SINGLE_FILE}"
router = APIRouter(prefix=PREFIX, include_in_schema=False)
for _module in (others, uploads, bookmarks):
    router.include_router(_module.router)

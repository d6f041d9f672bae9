"""`/linkding`: the API of linkding, for its apps, extensions and command line, and for uploads of SingleFile.

`mapping.py` says how items become bookmarks; `docs/dialects.md` lists the routes, and what differs.
"""

from __future__ import annotations

from typing import Final

from pagekeep.doors.http.compat.linkding import bookmarks, others, uploads
from pagekeep.doors.http.path_router import PathRouter

PREFIX: Final = "/linkding"
UPLOADS: Final = f"{PREFIX}{uploads.SINGLE_FILE}"
router = PathRouter(f"{PREFIX}/", prefix=PREFIX, include_in_schema=False)
for _module in (others, uploads, bookmarks):
    router.include_router(_module.router)

"""`/wallabag`: the API of wallabag, version 2, for the apps and e-readers that use it.

`mapping.py` says how items become entries; `docs/dialects.md` lists the routes, and what differs.
"""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from pagekeep.doors.http.compat.wallabag import entries, sign_in
from pagekeep.doors.http.requests import PathRouter

PREFIX: Final = "/wallabag"
API: Final = f"{PREFIX}/api/"
_SUFFIX: Final = ".json"

router = PathRouter(f"{PREFIX}/", prefix=PREFIX, include_in_schema=False)
for _part in (sign_in.router, sign_in.about_router, entries.router, entries.annotations_router):
    router.include_router(_part)


class OptionalSuffix:
    """Serves every route of the API with `.json` at its end too, except exports, where it names a format."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        is_api = scope["type"] == "http" and path.startswith(API) and path.endswith(_SUFFIX)
        if is_api and not path.endswith(f"/export{_SUFFIX}"):
            scope["path"] = path.removesuffix(_SUFFIX)
        await self._app(scope, receive, send)

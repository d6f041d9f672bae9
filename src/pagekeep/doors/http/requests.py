"""What routes share about requests: clients that went away, files in Base64, and routers for the paths under one."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections.abc import Coroutine
from http import HTTPStatus
from typing import Any, TypeVar

from fastapi import APIRouter, HTTPException, Request
from starlette.routing import Match
from starlette.types import Scope

T = TypeVar("T")


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of the work; cancel it when the client closes the connection. The body must have been read."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_wait_until_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise HTTPException(HTTPStatus.REQUEST_TIMEOUT)  # the response cannot be sent any more
    finally:
        task.cancel()
        gone.cancel()
        del task, gone  # an error refers to this call: all that it has would stay until objects are collected


async def _wait_until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def decode_file(text: str) -> bytes:
    """Return the file; raise `ValueError` for what is not Base64. Line ends are allowed, as programs write them."""
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return b64decode(text.replace("\n", "").replace("\r", ""), validate=True)


class PathRouter(APIRouter):
    """A router for all paths that begin with one of some."""

    def __init__(self, *paths: str, **options: Any) -> None:
        super().__init__(**options)
        self._paths = paths

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a route of this router is meant."""
        if not scope["path"].startswith(self._paths):
            return Match.NONE, {}
        return super().matches(scope)

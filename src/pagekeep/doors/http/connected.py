"""End the work for a client that went away: no other client should wait for it. Only for work that changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from http import HTTPStatus
from typing import Any, TypeVar

from fastapi import HTTPException, Request

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


async def _wait_until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass

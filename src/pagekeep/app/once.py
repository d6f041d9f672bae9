"""Things that are done once however often they are asked for: a client that got no answer may simply ask again."""

from __future__ import annotations

import hashlib
import json
from asyncio import shield, to_thread
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from pagekeep.app import moments
from pagekeep.errors import Conflict
from pagekeep.store import Store

REMEMBERED: Final = 24 * 3600.0
"""Seconds for which an answer is kept."""
Answer = Mapping[str, Any]


def fingerprint(asked: Mapping[str, Any]) -> str:
    """Tells two requests apart."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


async def once(key: str | None, asked: Mapping[str, Any], store: Store, do: Callable[[], Awaitable[Answer]]) -> Answer:
    """The answer of `do`, or the one that was given to the same key before.

    `Conflict` when the key came with another request, or its first one is still under way. A request that failed may be
    made again with its key.
    """
    if key is None:
        return await do()
    request, now = fingerprint(asked), moments.now()
    claimed = await to_thread(store.claim, key, request, now, moments.after(now, -REMEMBERED))
    if claimed is not None:
        return _answered(*claimed, request)
    try:
        answer = await do()
    except BaseException:
        await shield(to_thread(store.keep_answer, key, None))
        raise
    await to_thread(store.keep_answer, key, answer)
    return answer


def _answered(before: str, answer: Answer | None, request: str) -> Answer:
    if before != request:
        raise Conflict("The idempotency key was used for another request.", suggestions=("Use a new key.",))
    if answer is None:
        raise Conflict("The same request is still under way.", suggestions=("Ask again in a moment.",))
    return answer
